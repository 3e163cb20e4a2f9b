// SPDX-License-Identifier: GPL-2.0
/*
 * Harvests the events. The harvester waits by epoll, reads events into a large buffer,
 * and notes the fields of each, until every timer has ended.
 */
#include <err.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "demo.h"

#define BUFFER_EVENTS 16384
#define WAIT_MS 100

/*
 * The harvester gives up when it has waited in vain for this time plus the time over which the
 * deadlines are spread. Only its own waits count, so a machine that stands still does not
 * make it give up.
 */
#define STALL_MS 60000ULL

/**
 * struct harvester - the harvesting thread
 * @demo: the run
 * @epoll: descriptor of the epoll that watches the instance
 * @events: the buffer
 * @progress: sum of the timers scheduled, cancelled and delivered
 * @waited: for how long it has waited in vain since the last change of @progress, ms
 */
struct harvester {
	struct demo *demo;
	int epoll;
	struct hwtimer_event *events;
	__u64 progress;
	__u64 waited;
};

static void note_event(struct demo *demo, const struct hwtimer_event *event,
		       __u64 now)
{
	struct sighting *sighting;

	if (event->expirations != 1)
		demo->harvested.miscounted++;
	if (event->user_data >= demo->options.timers) {
		demo->harvested.foreign++;
		return;
	}
	sighting = &demo->sightings[event->user_data];
	if (sighting->times++)
		return;
	sighting->id = event->id;
	sighting->deadline = event->deadline;
	sighting->seen = now;
	sighting->lateness = event->lateness;
	atomic_fetch_add(&demo->delivered, 1);
}

/* Returns whether any event was read. */
static bool read_events(struct harvester *h)
{
	__u32 count = device_read(h->demo->fd, h->events, BUFFER_EVENTS);
	__u64 now = now_ns();
	__u32 i;

	h->demo->harvested.reads += count > 0;
	for (i = 0; i < count; i++)
		note_event(h->demo, &h->events[i], now);
	return count > 0;
}

/* Returns whether an event is readable. */
static bool wait_events(struct harvester *h)
{
	struct epoll_event ready;
	int count = epoll_wait(h->epoll, &ready, 1, WAIT_MS);

	if (count < 0 && errno != EINTR)
		err(1, "epoll_wait");
	if (count > 0 && !(ready.events & EPOLLIN))
		errx(1, "epoll_wait: events 0x%x", ready.events);
	return count > 0;
}

static bool all_ended(const struct demo *demo)
{
	return atomic_load(&demo->submitter_done) &&
	       atomic_load(&demo->cancelled) + atomic_load(&demo->delivered) >=
		       atomic_load(&demo->scheduled);
}

static bool has_stalled(struct harvester *h)
{
	struct demo *demo = h->demo;
	__u64 patience = STALL_MS + demo->options.seconds * 1000;
	__u64 progress = (__u64)atomic_load(&demo->scheduled) +
			 atomic_load(&demo->cancelled) +
			 atomic_load(&demo->delivered);

	if (progress != h->progress) {
		h->progress = progress;
		h->waited = 0;
	}
	return h->waited > patience;
}

static void harvester_init(struct harvester *h, struct demo *demo)
{
	struct epoll_event interest = { .events = EPOLLIN };

	*h = (struct harvester){ .demo = demo };
	h->events = allocate(BUFFER_EVENTS, sizeof(*h->events));
	h->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (h->epoll < 0)
		err(1, "epoll_create1");
	if (epoll_ctl(h->epoll, EPOLL_CTL_ADD, demo->fd, &interest))
		err(1, "epoll_ctl");
}

void harvester_run(struct demo *demo)
{
	struct harvester h;

	harvester_init(&h, demo);
	progress_start(demo);
	while (!all_ended(demo) && !demo->harvested.stalled) {
		if (wait_events(&h))
			read_events(&h);
		else
			h.waited += WAIT_MS;
		progress_show(demo);
		demo->harvested.stalled = has_stalled(&h);
	}
	/* Every timer has ended: each further event is a duplicate. */
	while (wait_events(&h) && read_events(&h))
		;
	progress_end(demo);
	close(h.epoll);
	free(h.events);
}
