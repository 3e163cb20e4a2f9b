// SPDX-License-Identifier: MIT
/*
 * Timers that outlive their process. The service manager keeps the descriptor of the
 * instance while the service is down. What comes due meanwhile is there for the next
 * process.
 *
 *	survive FILE [--timers 100000] [--span 60000] (ms) [--die 0]
 *
 * It needs a service manager: systemd with survive.service, or keeper. It ends when all
 * timers have expired; FILE is its journal. Three rules make each timer count once,
 * wherever a process is killed:
 *
 * - The instance is kept before the first timer is scheduled.
 * - An event is acted on before the next one is read. So a kill takes one event at most: one
 *   that was read, and not acted on.
 * - user_data is a number that means the same to every process, here the timer's number.
 *   A process schedules those that are nowhere: neither acted on, as the journal says, nor
 *   in the kernel. The timer of an event that a kill took is one of them.
 */
#include "survive.h"
#include "fdstore.h"

#include <poll.h>

/* Number of timers for a call */
#define BATCH 100

#define NAME "timers" /* of the descriptor */

static unsigned long timers = 100000, span = 60000, left;
static struct hwt *hwt;
static uint64_t begin;
static bool *acted, *known;

/* Returns a number from the journal or the instance, if it is that of a timer. */
static uint64_t checked(uint64_t number)
{
	if (number >= timers)
		errx(1, "something is of a run with more timers");
	return number;
}

static void note_acted(uint64_t number)
{
	left -= !acted[checked(number)];
	acted[number] = true;
	known[number] = true;
}

/* Descriptors, not memory, connect a process with the one before it. */
static void open_or_adopt(void)
{
	const struct hwtimer_event nothing = { .id = 0 };
	int fd = fdstore_take(NAME);

	if (fd >= 0) {
		must(hwt_from_fd(&hwt, fd, HWT_NONBLOCK));
	} else {
		hwt = open_wheel(HWT_NONBLOCK, CLOCK_MONOTONIC);
		journal_write("opened", &nothing);
		step();
		fdstore_put(hwt_fd(hwt), NAME);
	}
	step();
}

/*
 * Notes all timers that former processes have scheduled and whose events were not read. No
 * other process reads events now.
 */
static void find_known(void)
{
	struct hwtimer_listed some[BATCH], *timer;
	uint64_t cursor = 0;
	int count;

	while ((count = must(hwt_list(hwt, &cursor, some, BATCH))))
		for (timer = some; timer < some + count; timer++)
			known[checked(timer->user_data)] = true;
}

static void schedule(const struct hwtimer_bulk_timer *some, unsigned int count)
{
	const struct hwtimer_event number = { .user_data = count };
	uint64_t results[BATCH];
	unsigned int i;

	must(hwt_schedule_many(hwt, HWTIMER_ABSOLUTE, some, results, count));
	for (i = 0; i < count; i++)
		must(hwt_error(results[i]));
	journal_write("sched", &number);
	step();
}

/* Deadlines count from when the first process began. */
static void schedule_unknown(void)
{
	struct hwtimer_bulk_timer some[BATCH];
	unsigned int count = 0;
	unsigned long i;

	for (i = 0; i < timers; i++) {
		if (known[i])
			continue;
		some[count++] = (struct hwtimer_bulk_timer){
			.user_data = i,
			.time = begin + span * MS / timers * (i + 1),
		};
		if (count == BATCH) {
			schedule(some, count);
			count = 0;
		}
	}
	if (count)
		schedule(some, count);
}

/* The line in the journal is the action. It exists or not, whenever we are killed. */
static void act(const struct hwtimer_event *event)
{
	if (acted[checked(event->user_data)]) {
		journal_write("again", event);
		return;
	}
	journal_write("acted", event);
	note_acted(event->user_data);
	step();
}

/*
 * Reads an event. Not with hwt_next() or hwt_dispatch(), which read many events ahead: a kill
 * would take them all.
 *
 * Return: whether there was one.
 */
static bool read_event(struct hwtimer_event *event)
{
	ssize_t bytes = read(hwt_fd(hwt), event, sizeof(*event));

	if (!bytes)
		errx(1, "the instance is stopped");
	if (bytes < 0 && errno != EAGAIN)
		err(1, "the instance");
	return bytes > 0;
}

static void serve(void)
{
	struct pollfd wheel = { .fd = hwt_fd(hwt), .events = POLLIN };
	struct hwtimer_event event;

	while (left) {
		if (read_event(&event)) {
			step();
			act(&event);
		} else if (poll(&wheel, 1, -1) < 0) {
			err(1, "poll");
		}
	}
}

int main(int argc, char **argv)
{
	const struct option options[] = { { "--timers", &timers, 1 },
					  { "--span", &span, 1, DAYS_MAX },
					  { "--die", &die, 0 },
					  { NULL, NULL, 0 } };

	if (argc < 2)
		errx(2, "usage: survive FILE [OPTION NUMBER...]");
	take_options(options, argc - 1, argv + 1);
	left = timers;
	acted = allocate(timers, sizeof(*acted));
	known = allocate(timers, sizeof(*known));
	begin = journal_open(argv[1], note_acted);
	open_or_adopt();
	find_known();
	schedule_unknown();
	notify("READY=1", -1);
	serve();
	return 0;
}
