// SPDX-License-Identifier: MIT
/*
 * Timers that outlive their process. The service manager keeps the descriptor of the
 * instance while the service is down. What comes due meanwhile is there for the next
 * process.
 *
 *	survive FILE [--timers 100000] [--span 60000] (ms) [--die 0]
 *
 * It needs a service manager: systemd with survive.service, or keeper. It ends when all
 * timers have expired; FILE is its journal. Three rules make each timer count, wherever a
 * process is killed:
 *
 * - The instance is kept before the first timer is scheduled.
 * - The instance has HWTIMER_SETUP_AT_LEAST_ONCE, and an event is acknowledged after it was acted
 *   on. A new process rewinds: events that were not acknowledged come again. So a kill makes one
 *   timer at most count twice: it comes between the action and hwt_ack().
 * - user_data is a number that means the same to every process, here the timer's number.
 */
#include "survive.h"
#include "fdstore.h"

#include <poll.h>

/* Number of timers for a call */
#define BATCH 100

#define NAME "timers" /* of the descriptor */

static unsigned long timers = 100000, span = 60000;
static struct hwt *hwt;

/* Descriptors, not memory, connect a process with the one before it. */
static void open_or_adopt(void)
{
	const struct hwtimer_setup setup = {
		.flags = HWTIMER_SETUP_AT_LEAST_ONCE,
	};
	const struct hwtimer_event nothing = { .id = 0 };
	int fd = fdstore_take(NAME);

	if (fd >= 0) {
		must(hwt_from_fd(&hwt, fd, HWT_NONBLOCK));
		must(hwt_rewind(hwt));
	} else {
		hwt = open_wheel(HWT_NONBLOCK, CLOCK_MONOTONIC);
		must(hwt_setup(hwt, &setup));
		journal_write("opened", &nothing);
		step();
		fdstore_put(hwt_fd(hwt), NAME);
	}
	step();
}

/*
 * Returns how many timers former processes have scheduled, in the order of their numbers: as
 * many as the journal says, or more, if a process was killed before it could write so. All of
 * those are still in the instance.
 */
static unsigned long find_scheduled(unsigned long scheduled)
{
	struct hwtimer_timer some[BATCH], *timer;
	uint64_t cursor = 0;
	int count;

	while ((count = must(hwt_list(hwt, &cursor, some, BATCH))))
		for (timer = some; timer < some + count; timer++)
			if (timer->user_data >= scheduled)
				scheduled = timer->user_data + 1;
	if (scheduled > timers)
		errx(1, "something is of a run with more timers");
	return scheduled;
}

/* Deadlines count from when the first process began. */
static void schedule_rest(unsigned long scheduled, uint64_t begin)
{
	struct hwtimer_bulk_timer some[BATCH];
	struct hwtimer_event number = { .id = 0 };
	uint64_t results[BATCH];
	unsigned int i, count;

	for (; scheduled < timers; scheduled += count) {
		for (count = 0; count < BATCH && scheduled + count < timers;
		     count++)
			some[count] = (struct hwtimer_bulk_timer){
				.user_data = scheduled + count,
				.time = begin + span * MS / timers *
							(scheduled + count + 1),
			};
		must(hwt_schedule_many(hwt, HWTIMER_REQ_ABSTIME, some, results,
				       count));
		for (i = 0; i < count; i++)
			must(hwt_error(results[i]));
		number.user_data = scheduled + count;
		step();
		journal_write("sched", &number);
		step();
	}
}

/* The line in the journal is the action. It exists or not, whenever we are killed. */
static void act(const struct hwtimer_event *event)
{
	step();
	journal_write("acted", event);
	step();
	must(hwt_ack(hwt, 1));
	step();
}

/* Returns whether timers are left, or events that are not acknowledged. */
static bool any_left(void)
{
	struct hwtimer_stats stats;

	must(hwt_stats(hwt, &stats));
	return stats.pending || stats.ready;
}

static void serve(void)
{
	struct pollfd wheel = { .fd = hwt_fd(hwt), .events = POLLIN };
	struct hwtimer_event event;
	int ret;

	do {
		while ((ret = hwt_next(hwt, &event)) > 0)
			act(&event);
		if (ret == -ENOTCONN)
			errx(1, "the instance is stopped");
		if (ret != -EAGAIN)
			must(ret);
		if (any_left() && poll(&wheel, 1, -1) < 0)
			err(1, "poll");
	} while (any_left());
}

int main(int argc, char **argv)
{
	const struct option options[] = { { "--timers", &timers, 1 },
					  { "--span", &span, 1, DAYS_MAX },
					  { "--die", &die, 0 },
					  { NULL, NULL, 0 } };
	unsigned long scheduled;
	uint64_t begin;

	if (argc < 2)
		errx(2, "usage: survive FILE [OPTION NUMBER...]");
	take_options(options, argc - 1, argv + 1);
	begin = journal_open(argv[1], &scheduled);
	open_or_adopt();
	schedule_rest(find_scheduled(scheduled), begin);
	notify("READY=1", -1);
	serve();
	return 0;
}
