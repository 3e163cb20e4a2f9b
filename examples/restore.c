// SPDX-License-Identifier: MIT
/*
 * Timers that outlive the module. hwt_stop() hands back the timers that have not expired; the
 * program saves them in a file, and schedules them again after the module was reloaded.
 *
 *	restore save FILE [--timers 1000] [--span 10000] [--after 3000]	(ms)
 *	restore load FILE [--paused 0]
 *
 * save schedules timers, the last one --span from now and every tenth for three times,
 * and stops --after. load waits for the rest. Deadlines stay the same, so that the time
 * between save and load counts. With --paused 1 each timer keeps the time that was left
 * to it; so it does after a reboot, which starts another clock.
 *
 * Both fail if a timer came early, too often, or not at all.
 */
#include "restore.h"

static unsigned long timers = 1000, span = 10000, after = 3000, paused;

/* Programs with the same boot id and time namespace have the same clock. */
static void read_boot_id(char id[40])
{
	FILE *file = fopen("/proc/sys/kernel/random/boot_id", "r");

	if (!file || fscanf(file, "%39s", id) != 1)
		err(1, "boot_id");
	fclose(file);
}

/* Each timer handed back must have as many expiries left as we have counted. */
static void save_timers(FILE *file)
{
	struct hwtimer_timer some[100], *timer;
	unsigned long saved = 0;
	uint64_t cursor = 0;
	int count;

	while ((count = must(hwt_stop(hwt, &cursor, some, 100)))) {
		for (timer = some; timer < some + count; timer++) {
			fprintf(file, "%llu %llu %llu %llu %llu %u %u\n",
				timer->user_data, timer->deadline,
				timer->remaining, timer->interval, timer->slack,
				timer->expirations_left, timer->flags);
			wrong +=
				all[timer->user_data].left !=
				(timer->interval ? timer->expirations_left : 1);
			to_come -= all[timer->user_data].left;
		}
		saved += count;
	}
	printf("restore: expired=%lu saved=%lu\n", expired, saved);
}

/* Events that wait are read as well: they never come again. */
static void save(FILE *file)
{
	struct hwtimer_event event = { .user_data = 0 };
	char boot_id[40];
	unsigned long i;

	all = allocate(timers, sizeof(*all));
	for (i = 0; i < timers; i++) {
		struct hwtimer_request timer = { .user_data = i };

		timer.time = span * MS / timers * (i + 1);
		timer.interval = i % 10 ? 0 : span * MS / 10;
		timer.expirations_max = i % 10 ? 0 : 3;
		schedule(&timer, i % 10 ? 1 : 3, now_ns(CLOCK_MONOTONIC),
			 timer.time);
	}
	must(hwt_schedule(hwt, after * MS, timers, NULL));
	while (must(hwt_next(hwt, &event)) > 0 && event.user_data != timers)
		on_event(&event);
	must(hwt_stop(hwt, NULL, NULL, 0));
	while (hwt_next(hwt, &event) > 0)
		on_event(&event);
	read_boot_id(boot_id);
	fprintf(file, "%s %lu\n", boot_id, timers);
	save_timers(file);
	wrong += to_come;
}

static void load(FILE *file)
{
	char boot_id[40], boot_id_then[40];
	struct hwtimer_timer then;
	struct hwtimer_event event;
	struct hwtimer_stats stats;
	unsigned long count = 0;

	read_boot_id(boot_id);
	if (fscanf(file, "%39s %lu", boot_id_then, &timers) != 2)
		errx(1, "this file was not written by `restore save`");
	paused |= strcmp(boot_id, boot_id_then);
	all = allocate(timers, sizeof(*all));
	for (; fscanf(file, "%llu %llu %llu %llu %llu %u %u", &then.user_data,
		      &then.deadline, &then.remaining, &then.interval,
		      &then.slack, &then.expirations_left, &then.flags) == 7;
	     count++) {
		struct hwtimer_request timer = {
			.flags = then.flags |
				 (paused ? 0 : HWTIMER_REQ_ABSTIME),
			.time = paused ? then.remaining : then.deadline,
			.interval = then.interval,
			.slack = then.slack,
			.user_data = then.user_data,
			.expirations_max = then.expirations_left,
		};

		if (then.user_data >= timers)
			errx(1, "the file is damaged");
		schedule(&timer, then.interval ? then.expirations_left : 1,
			 paused ? now_ns(CLOCK_MONOTONIC) : 0,
			 paused ? then.remaining : then.deadline);
	}
	while (to_come && must(hwt_next(hwt, &event)) > 0)
		on_event(&event);
	must(hwt_stats(hwt, &stats));
	wrong += stats.pending + stats.ready;
	printf("restore: expired=%lu loaded=%lu\n", expired, count);
}

int main(int argc, char **argv)
{
	const struct option options[] = { { "--timers", &timers, 1 },
					  { "--span", &span, 1, DAYS_MAX },
					  { "--after", &after, 1, DAYS_MAX },
					  { "--paused", &paused, 0 },
					  { NULL, NULL, 0 } };
	bool saving = argc > 2 && !strcmp(argv[1], "save");
	FILE *file;

	if (!saving && (argc < 3 || strcmp(argv[1], "load")))
		errx(2, "usage: restore save FILE | restore load FILE");
	take_options(options, argc - 2, argv + 2);
	hwt = open_wheel(0, CLOCK_MONOTONIC);
	file = fopen(argv[2], saving ? "w" : "r");
	if (!file)
		err(1, "%s", argv[2]);
	(saving ? save : load)(file);
	if (ferror(file) || fclose(file))
		err(1, "%s", argv[2]);
	return wrong > 0;
}
