/* SPDX-License-Identifier: MIT */
/* Writes JSON. Used by the commands that have --json. */
#ifndef JSON_H
#define JSON_H

#include "instances.h"

#include <stdio.h>

/* Writes a string in quotes; each byte that is not printable ASCII becomes a "?". */
void json_put_string(FILE *to, const char *text);

/* Writes a timer as an object that the caller ends, with } */
void json_put_timer(FILE *to, const struct hwtimer_timer *timer);

/* Writes a sample as an object on one line: its schema, its time, and its instances. */
void json_put_sample(FILE *to, const struct instances *instances);

#endif /* JSON_H */
