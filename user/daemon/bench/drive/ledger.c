// SPDX-License-Identifier: GPL-2.0
/*
 * Accounts of timers; see ledger.h.
 */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ledger.h"

__u64 now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return now.tv_sec * 1000000ULL + now.tv_nsec / 1000;
}

/* Swaps each deadline with a random one before it. The order is the same in each run. */
static void shuffle(struct ledger *ledger)
{
	__u32 i, other;
	__u64 due;

	srandom(1);
	for (i = 1; i < ledger->count; i++) {
		other = random() % (i + 1);
		due = ledger->timers[i].due;
		ledger->timers[i].due = ledger->timers[other].due;
		ledger->timers[other].due = due;
	}
}

void ledger_make(struct ledger *ledger, __u32 count, __u64 start, __u64 spread)
{
	struct timer *timer;
	__u32 i;

	memset(ledger, 0, sizeof(*ledger));
	ledger->timers = calloc(count, sizeof(*ledger->timers));
	ledger->lateness = calloc(count, sizeof(*ledger->lateness));
	if (!ledger->timers || !ledger->lateness)
		err(1, "%u timers", count);
	ledger->count = count;
	for (i = 0; i < count; i++)
		ledger->timers[i].due = start + spread * i / count;
	shuffle(ledger);
	for (i = 0; i < count; i++) {
		timer = &ledger->timers[i];
		snprintf(timer->id, sizeof(timer->id), "t%09u", i % 1000000000);
		snprintf(timer->deadline, sizeof(timer->deadline), "%.0f",
			 (double)timer->due);
		snprintf(timer->payload, sizeof(timer->payload), "%032u", i);
	}
}

void ledger_free(struct ledger *ledger)
{
	free(ledger->timers);
	free(ledger->lateness);
}

/* Returns NULL if it is none of ours. */
static struct timer *find(const struct ledger *ledger, const char *id,
			  const char *payload)
{
	struct timer *timer;
	__u32 number;

	if (!id || !payload || *id != 't')
		return NULL;
	number = strtoul(id + 1, NULL, 10);
	if (number >= ledger->count)
		return NULL;
	timer = &ledger->timers[number];
	if (strcmp(timer->id, id) || strcmp(timer->payload, payload))
		return NULL;
	return timer;
}

void ledger_fired(struct ledger *ledger, const char *id, const char *payload)
{
	struct timer *timer = find(ledger, id, payload);

	if (!timer) {
		ledger->strange++;
		return;
	}
	if (!timer->fired)
		ledger->lateness[ledger->fired++] =
			ledger->now / 1000. - timer->due;
	ledger->early += ledger->now < timer->due * 1000;
	timer->fired++;
}

_Bool ledger_balanced(const struct ledger *ledger)
{
	__u32 i, ends, lost = 0, twice = 0;

	for (i = 0; i < ledger->count; i++) {
		ends = ledger->timers[i].fired + ledger->timers[i].cancelled;
		lost += !ends;
		twice += ends > 1;
	}
	if (!lost && !twice && !ledger->early && !ledger->strange)
		return 1;
	printf("of %u timers: lost %u, more than one end %u, early %u, unknown %u\n",
	       ledger->count, lost, twice, ledger->early, ledger->strange);
	return 0;
}
