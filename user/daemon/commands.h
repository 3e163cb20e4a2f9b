/* SPDX-License-Identifier: MIT */
/* The commands of hwtimerd; each returns the exit status. */
#ifndef COMMANDS_H
#define COMMANDS_H

#include "options.h"

int command_serve(const struct options *options);
int command_load(const struct options *options);
int command_status(const struct options *options);

#endif /* COMMANDS_H */
