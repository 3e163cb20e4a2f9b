/* SPDX-License-Identifier: MIT */
/*
 * Parses and formats times and numbers as people write them: 1.5s, 200ms, 1h30m, 64k, 1M.
 * Used by all commands of hwtimerctl.
 */
#ifndef UNITS_H
#define UNITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Size of the buffer for the units_format_...() functions */
#define UNITS_ROOM 32

const char *units_parse_time(const char *text, uint64_t *ns);
bool units_parse_number(const char *text, uint64_t *number);
const char *units_format_time(uint64_t ns, char room[UNITS_ROOM]);
const char *units_format_number(uint64_t number, char room[UNITS_ROOM]);
const char *units_format_bytes(uint64_t bytes, char room[UNITS_ROOM]);

#endif /* UNITS_H */
