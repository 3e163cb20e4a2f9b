/* SPDX-License-Identifier: MIT */
/* The library of Redis Functions, functions/hwtimer.lua, as the Makefile embeds it */
#ifndef FUNCTIONS_H
#define FUNCTIONS_H

extern const char functions_source[];
extern const char functions_version[];

#endif /* FUNCTIONS_H */
