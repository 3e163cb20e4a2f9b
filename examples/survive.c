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
 * - An event leaves the completion ring after it was acted on. So it may come again to
 *   the next process, which finds in the journal that it was acted on.
 * - user_data is a number that means the same to every process, here the timer's number.
 *   A process schedules those that are nowhere: neither acted on, nor in the kernel, nor
 *   in the ring.
 */
#include "survive.h"
#include "fdstore.h"

#include <hwtimer_ring.h>

/* Numbers of timers for a call, and of events between two stores to the ring */
#define BATCH 100
#define ROUND 64

#define NAME "timers" /* of the descriptor */

static unsigned long timers = 100000, span = 60000, left;
static struct hwt *hwt;
static struct hwtimer_ring ring;
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
	struct hwtimer_setup setup = { .completions = timers };
	const struct hwtimer_event nothing = { .id = 0 };
	int fd = fdstore_take(NAME);

	if (fd >= 0) {
		must(hwt_from_fd(&hwt, fd, HWT_NONBLOCK));
	} else {
		hwt = open_wheel(HWT_NONBLOCK, CLOCK_MONOTONIC);
		must(hwt_setup(hwt, &setup));
		journal_write("opened", &nothing);
		step();
		fdstore_put(hwt_fd(hwt), NAME);
	}
	step();
	if (hwtimer_ring_map(&ring, hwt_fd(hwt)))
		err(1, "mmap");
}

/*
 * Notes all timers that former processes have scheduled. One that expires meanwhile may
 * be missing in the list, but is in the ring then, so the ring comes second. The events
 * stay in it: another view does not take them out.
 */
static void find_known(void)
{
	struct hwtimer_listed some[BATCH], *timer;
	const struct hwtimer_event *event;
	struct hwtimer_ring view;
	uint64_t cursor = 0;
	int count;

	while ((count = must(hwt_list(hwt, &cursor, some, BATCH))))
		for (timer = some; timer < some + count; timer++)
			known[checked(timer->user_data)] = true;
	if (hwtimer_ring_map(&view, hwt_fd(hwt)))
		err(1, "mmap");
	while ((event = hwtimer_ring_next_event(&view)))
		known[checked(event->user_data)] = true;
	hwtimer_ring_unmap(&view);
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
 * The ring is empty. If poll() has said that there is an event, it waits in the kernel:
 * the kick puts it into the ring, or tells why that fails. Otherwise this would spin.
 */
static void await_events(struct pollfd *wheel)
{
	if (wheel->revents & ~POLLIN)
		errx(1, "the instance is stopped");
	if ((wheel->revents & POLLIN && hwtimer_ring_kick(&ring) < 0) ||
	    poll(wheel, 1, -1) < 0)
		err(1, "the instance");
}

static void serve(void)
{
	struct pollfd wheel = { .fd = hwt_fd(hwt), .events = POLLIN };
	const struct hwtimer_event *event;
	unsigned int i;

	while (left) {
		for (i = 0; i < ROUND; i++) {
			event = hwtimer_ring_next_event(&ring);
			if (!event)
				break;
			act(event);
			wheel.revents = 0;
		}
		if (hwtimer_ring_consume(&ring))
			err(1, "consume");
		if (!i)
			await_events(&wheel);
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
