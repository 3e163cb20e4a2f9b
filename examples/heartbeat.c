// SPDX-License-Identifier: MIT
/*
 * Heartbeats: some programs say regularly that they are alive, and one notices who
 * does not.
 *
 *	heartbeat beat NAME [--interval 1000] [--port 7173]
 *	heartbeat watch [--interval 1000] [--misses 3] [--port 7173]
 *
 * Who beats has a periodic timer, of a fixed rate, so that it does not drift. If it
 * was stopped for a while, the next event tells how many beats it has missed, and it
 * says so. Who watches has one timer for each that beats, and gives it another
 * deadline with each beat: if it expires, there were none for so many intervals.
 */
#include <poll.h>

#include "example.h"
#include "sockets.h"

#define PEERS_MAX 64

static unsigned long interval = 1000, misses = 3, port = 7173;

struct beat {
	char name[32];
	uint64_t number;
};

struct peer {
	struct beat last;
	uint64_t seen, timer;
	bool alive;
};

static struct hwt *hwt;
static struct peer peers[PEERS_MAX];

/* A beat that is lost, as nobody listens, is no reason to stop. */
static void beat(const char *name)
{
	struct sockaddr_in address = local_address(port);
	struct hwtimer_request timer = { .interval = interval * MS };
	struct hwtimer_event event;
	struct beat beat = { .number = 0 };
	int fd = new_socket(SOCK_DGRAM);

	snprintf(beat.name, sizeof(beat.name), "%s", name);
	must(hwt_schedule_request(hwt, &timer));
	while (must(hwt_next(hwt, &event))) {
		beat.number += event.expirations;
		if (event.expirations > 1)
			printf("%s: missed %u beats\n", name,
			       event.expirations - 1);
		sendto(fd, &beat, sizeof(beat), 0, (struct sockaddr *)&address,
		       sizeof(address));
	}
}

static struct peer *peer_named(const char *name)
{
	struct peer *peer;

	for (peer = peers; peer < peers + PEERS_MAX; peer++)
		if (!peer->last.name[0] || !strcmp(peer->last.name, name))
			return peer;
	errx(1, "there are more than %d names", PEERS_MAX);
}

/* An event that waits by now has been overtaken by the beat. */
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

	expect_next(peer);
	if (!peer->alive && !peer->last.number)
		printf("%s is here\n", beat->name);
	else if (!peer->alive)
		printf("%s is alive again, %llu beats are missing\n",
		       beat->name,
		       (unsigned long long)(beat->number - peer->last.number -
					    1));
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
		if (ready[1].revents &&
		    recv(ready[1].fd, &beat, sizeof(beat), 0) == sizeof(beat))
			on_beat(&beat);
		else if (ready[0].revents)
			hwt_dispatch(hwt, on_silence, NULL, PEERS_MAX);
	}
}

int main(int argc, char **argv)
{
	const struct option options[] = { { "--interval", &interval, 1 },
					  { "--misses", &misses, 1 },
					  { "--port", &port, 1 },
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
