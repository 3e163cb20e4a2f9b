// SPDX-License-Identifier: GPL-2.0
/*
 * Prints results; see emit.h. No name or reason contains a character that JSON
 * would have to quote.
 */
#include <stdio.h>

#include "emit.h"

static const char *where;
static __u32 rep, turn;
static const char *system_name, *variant;
static __u32 timers;

void emit_place(const char *new_where, __u32 new_rep, __u32 new_turn)
{
	where = new_where;
	rep = new_rep;
	turn = new_turn;
}

void emit_subject(const char *new_system, const char *new_variant,
		  __u32 new_timers)
{
	system_name = new_system;
	variant = new_variant;
	timers = new_timers;
}

static void emit_head(void)
{
	printf("{\"system\": \"%s\", \"variant\": \"%s\", ", system_name,
	       variant);
	printf("\"where\": \"%s\", \"timers\": %u, ", where, timers);
	printf("\"rep\": %u, \"turn\": %u, ", rep, turn);
}

void emit(const char *phase, double value, const char *unit)
{
	emit_head();
	printf("\"phase\": \"%s\", \"value\": %.3f, \"unit\": \"%s\"}\n", phase,
	       value, unit);
	fflush(stdout);
}

void emit_skipped(const char *reason)
{
	emit_head();
	printf("\"skipped\": \"%s\"}\n", reason);
	fflush(stdout);
}
