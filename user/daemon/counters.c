// SPDX-License-Identifier: MIT
/* Counts; see counters.h. */
#include "counters.h"

const char *const command_names[NR_COMMANDS] = {
	[COMMAND_CONNECT] = "connect", [COMMAND_TIME] = "time",
	[COMMAND_JOIN] = "join",       [COMMAND_LEAVE] = "leave",
	[COMMAND_CHANGES] = "changes", [COMMAND_LEASE] = "lease",
	[COMMAND_RELEASE] = "release", [COMMAND_SETUP] = "setup",
	[COMMAND_TURN] = "turn",       [COMMAND_TRIM] = "trim",
	[COMMAND_LISTEN] = "listen",   [COMMAND_METRICS] = "metrics",
};

/* @lateness: ms */
void count_fired(struct counters *counters, int64_t lateness)
{
	unsigned int bucket = 0;

	if (lateness < 0)
		lateness = 0;
	while (bucket < LATENESS_BUCKETS - 1 && lateness > 1LL << bucket)
		bucket++;
	counters->lateness[bucket]++;
	counters->lateness_sum += lateness;
	counters->fired++;
}
