// SPDX-License-Identifier: MIT
/*
 * Heartbeats: peers send beats at regular intervals, and a watcher notices when a peer
 * stops.
 *
 *	heartbeat beat NAME [--interval 1000] [--port 7173]
 *	heartbeat watch [--interval 1000] [--misses 3] [--port 7173]
 *
 * A peer has a periodic timer with a fixed rate, so that the beats do not drift. If the
 * peer was stopped for a while, the next event tells the number of missed beats, and the
 * peer prints it. The watcher has one timer per peer and reschedules it with each beat.
 * If the timer expires, no beat has come for --misses intervals.
 */
#include <poll.h>

#include "heartbeat.h"

#define PEERS_MAX 64

static unsigned long interval = 1000, misses = 3, port = 7173;

struct peer {
	struct beat last;
	uint64_t seen, timer;
	bool alive;
};

static struct hwt *hwt;
static struct peer peers[PEERS_MAX];

/* Sends beats for ever, even if no watcher receives them. */
static void beat(const char *name)
{
	struct sockaddr_in address = local_address(port);
	struct hwtimer_request timer = { .interval = interval * MS };
	struct hwtimer_event event;
	struct beat beat = first_beat(name);
	int fd = new_socket(SOCK_DGRAM);

	must(hwt_schedule_request(hwt, &timer));
	while (must(hwt_next(hwt, &event)) > 0) {
		beat.number += event.expirations;
		if (event.expirations > 1)
			printf("%s: missed %u beats\n", name,
			       event.expirations - 1);
		sendto(fd, &beat, sizeof(beat), 0, (struct sockaddr *)&address,
		       sizeof(address));
	}
}

/* Returns the peer, which may be a new one; NULL: the table is full. */
static struct peer *peer_named(const char *name)
{
	static int ignored;
	struct peer *peer;

	for (peer = peers; peer < peers + PEERS_MAX; peer++)
		if (!peer->last.name[0] || !strcmp(peer->last.name, name))
			return peer;
	if (!ignored++)
		warnx("only the first %d names are watched", PEERS_MAX);
	return NULL;
}

/* A beat overtakes an event of its timer that is still unread: discard that event. */
static void expect_next(struct peer *peer)
{
	int64_t silence = misses * interval * MS;

	peer->seen = now_ns(CLOCK_MONOTONIC);
	if (peer->alive && !hwt_reschedule(hwt, peer->timer, silence))
		return;
	if (peer->alive)
		hwt_discard(hwt, peer->timer);
	must(hwt_schedule(hwt, silence, peer - peers, &peer->timer));
}

static void on_beat(const struct beat *beat)
{
	struct peer *peer = peer_named(beat->name);
	uint64_t missing;

	if (!peer)
		return;
	expect_next(peer);
	missing = beat->number - peer->last.number - 1;
	if (!peer->last.number || beat->number <= peer->last.number)
		printf("%s is here, at beat %" PRIu64 "\n", beat->name,
		       beat->number);
	else if (!peer->alive)
		printf("%s is alive again, %" PRIu64 " beats are missing\n",
		       beat->name, missing);
	else if (missing)
		printf("%s: %" PRIu64 " beats are missing\n", beat->name,
		       missing);
	peer->alive = true;
	peer->last = *beat;
}

static void on_silence(void *unused, const struct hwtimer_event *event)
{
	struct peer *peer = &peers[event->user_data];
	uint64_t silence = now_ns(CLOCK_MONOTONIC) - peer->seen;

	if (silence < misses * interval * MS)
		errx(1, "%s is taken for dead too early", peer->last.name);
	printf("%s is dead: no beat for %llu ms\n", peer->last.name,
	       silence / MS);
	peer->alive = false;
}

static void watch(void)
{
	struct pollfd ready[2] = { { hwt_fd(hwt), POLLIN, 0 },
				   { socket_at(port, SOCK_DGRAM), POLLIN, 0 } };
	struct beat beat;

	while (poll(ready, 2, -1) > 0) {
		if (ready[0].revents && !ready[1].revents)
			dispatch(hwt, on_silence, NULL, PEERS_MAX);
		else if (receive_beat(ready[1].fd, &beat))
			on_beat(&beat);
	}
}

int main(int argc, char **argv)
{
	const struct option options[] = { { "--interval", &interval, 1,
					    HOUR_MAX },
					  { "--misses", &misses, 1, 1000 },
					  { "--port", &port, 1, PORT_MAX },
					  { NULL, NULL, 0 } };

	if (argc >= 3 && !strcmp(argv[1], "beat")) {
		take_options(options, argc - 2, argv + 2);
		hwt = open_wheel(0, CLOCK_MONOTONIC);
		beat(argv[2]);
	} else if (argc >= 2 && !strcmp(argv[1], "watch")) {
		take_options(options, argc - 1, argv + 1);
		hwt = open_wheel(HWT_NONBLOCK, CLOCK_MONOTONIC);
		watch();
	}
	errx(2, "usage: heartbeat beat NAME | heartbeat watch");
}
