/* SPDX-License-Identifier: MIT */
/* The library of Redis Functions, functions/hwtimer.lua; the Makefile makes functions.c. */
#ifndef FUNCTIONS_H
#define FUNCTIONS_H

extern const char functions_source[];
extern const char functions_version[];

#endif /* FUNCTIONS_H */
