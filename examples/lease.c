// SPDX-License-Identifier: MIT
/*
 * Locks in Redis that live as long as their owner, as with Redisson's watchdog. A lock
 * is a hash that expires and has its owner as a field. While the owner lives, a timer
 * per lock renews it every third of its time to live. When the owner is killed, its locks
 * expire.
 *
 *	lease [--locks 1000] [--ttl 30000] [--port 6379]	(ms)
 *
 * SIGTERM releases the locks. The program fails if it lost a lock.
 */
#include <inttypes.h>
#include <poll.h>
#include <hiredis/hiredis.h>

#include "example.h"

static unsigned long locks = 1000, ttl = 30000, port = 6379;

/* Scripts for a key, an owner and a TTL; each returns whether it did anything. */
#define EXPIRE "return redis.call('pexpire', KEYS[1], ARGV[2])"
#define TAKE "redis.call('hset', KEYS[1], ARGV[1], 1) "
#define IF_FREE "if redis.call('exists', KEYS[1]) == 1 then return 0 end "
#define IF_OURS \
	"if redis.call('hexists', KEYS[1], ARGV[1]) == 0 then return 0 end "

static const char acquire[] = IF_FREE TAKE EXPIRE;
static const char renew[] = IF_OURS EXPIRE;
static const char release[] = IF_OURS "return redis.call('del', KEYS[1])";

static struct hwt *hwt;
static redisContext *redis;
static char owner[17];
static uint64_t *timers; /* for each lock, its timer; 0: it is not ours */
static unsigned long *asked, nr_asked; /* locks, in the order of the answers */
static unsigned long held, lost;

static void ask(unsigned long lock, const char *script)
{
	redisAppendCommand(redis, "EVAL %s 1 lock:%lu %s %lu", script, lock,
			   owner, ttl);
	asked[nr_asked++] = lock;
}

static void take_answers(void (*on_answer)(unsigned long lock, bool yes))
{
	unsigned long i;
	redisReply *reply;

	for (i = 0; i < nr_asked; i++) {
		if (redisGetReply(redis, (void **)&reply))
			errx(1, "Redis: %s", redis->errstr);
		if (reply->type != REDIS_REPLY_INTEGER)
			errx(1, "Redis: %s", reply->str);
		on_answer(asked[i], reply->integer);
		freeReplyObject(reply);
	}
	nr_asked = 0;
}

/* With slack, locks share wake-ups and round trips to Redis. */
static void on_acquired(unsigned long lock, bool yes)
{
	struct hwtimer_request timer = { .flags = HWTIMER_REQ_FIXED_DELAY,
					 .time = ttl * MS / 3,
					 .interval = ttl * MS / 3,
					 .slack = ttl * MS / 30,
					 .user_data = lock };

	if (yes)
		must(hwt_schedule_request(hwt, &timer));
	timers[lock] = timer.id;
	held += yes;
}

/* Takes the answer to renew or release; both are sent for our locks only. */
static void on_renewed(unsigned long lock, bool yes)
{
	if (yes)
		return;
	printf("lease: lost lock:%lu\n", lock);
	held--;
	lost++;
	must(hwt_discard(hwt, timers[lock]));
	timers[lock] = 0;
}

static void on_timer(void *unused, const struct hwtimer_event *event)
{
	ask(event->user_data, renew);
}

static void connect_to_redis(void)
{
	snprintf(owner, sizeof(owner), "%016" PRIx64, random_below(UINT64_MAX));
	redis = redisConnect("127.0.0.1", port);
	while (redis && redis->err && another_try("Redis"))
		redisReconnect(redis);
	if (!redis || redis->err)
		errx(1,
		     "no Redis at port %lu: start redis-server, or choose another --port",
		     port);
}

static void apply(const char *script, void (*on_answer)(unsigned long, bool))
{
	unsigned long lock;

	for (lock = 0; lock < locks; lock++)
		if (script == acquire || timers[lock])
			ask(lock, script);
	take_answers(on_answer);
}

/* Renews the locks until @end is readable. */
static void renew_until(int end)
{
	struct pollfd ready[2] = { { hwt_fd(hwt), POLLIN, 0 },
				   { end, POLLIN, 0 } };

	while (poll(ready, 2, -1) > 0 && !ready[1].revents) {
		dispatch(hwt, on_timer, NULL, locks);
		take_answers(on_renewed);
	}
}

int main(int argc, char **argv)
{
	const struct option options[] = { { "--locks", &locks, 1 },
					  { "--ttl", &ttl, 100, DAYS_MAX },
					  { "--port", &port, 1, PORT_MAX },
					  { NULL, NULL, 0 } };
	int end;

	take_options(options, argc, argv);
	timers = allocate(locks, sizeof(*timers));
	asked = allocate(locks, sizeof(*asked));
	/* This clock counts while the machine is suspended, as Redis' does. */
	hwt = open_wheel(HWT_NONBLOCK, CLOCK_BOOTTIME);
	connect_to_redis();
	/* Before the first lock is taken, so that SIGTERM releases every lock. */
	end = signal_fd(SIGTERM);
	apply(acquire, on_acquired);
	printf("lease: held=%lu of=%lu\n", held, locks);
	renew_until(end);
	apply(release, on_renewed);
	printf("lease: released=%lu lost=%lu\n", held, lost);
	return lost > 0;
}
