// SPDX-License-Identifier: GPL-2.0
/*
 * hwtimer as a system of timers: one timer per ioctl, and batches of SUBMIT and of BULK.
 *
 * The time of a call includes filling the requests in and taking the ids out, because
 * a program has to do both.
 */
#include <err.h>
#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "device.h"
#include "system_hwtimer.h"

#define BATCH_MAX 4096

/**
 * struct way - a way to use the device
 * @batch: timers in one SUBMIT, and events in one read(); 0: one ioctl per timer
 * @bulk: use BULK instead of SUBMIT
 */
struct way {
	__u32 batch;
	bool bulk;
};

static const char *const variants[] = {
	"bulks of 4096", "batches of 4096", "batches of 256", "batches of 16",
	"batches of 1",	 "one by one",	    "bulks of 256",   "bulks of 64",
	"bulks of 16",	 "bulks of 4",	    "bulks of 1",     NULL,
};

static const struct way ways[] = {
	{ .batch = 4096, .bulk = true },
	{ .batch = 4096 },
	{ .batch = 256 },
	{ .batch = 16 },
	{ .batch = 1 },
	{ .batch = 0 },
	{ .batch = 256, .bulk = true },
	{ .batch = 64, .bulk = true },
	{ .batch = 16, .bulk = true },
	{ .batch = 4, .bulk = true },
	{ .batch = 1, .bulk = true },
};

__u64 hwtimer_slack;

static struct workload *load;
static struct way way;
static int fd;
/* The ids of all timers; and the ids that hwtimer_aim() looked up, in random order */
static __u64 *ids, *aimed;
static struct hwtimer_request requests[BATCH_MAX];
static struct hwtimer_bulk_timer timers[BATCH_MAX];
static __u64 results[BATCH_MAX];
static struct hwtimer_event events[BATCH_MAX];

static __u32 smaller(__u32 a, __u32 b)
{
	return a < b ? a : b;
}

static const char *hwtimer_missing(void)
{
	return access("/dev/hwtimer", R_OK | W_OK) ?
		       "the module is not loaded" :
		       NULL;
}

static __u32 hwtimer_timers_max(void)
{
	struct hwtimer_info info;
	int probe = device_open();

	device_info(probe, &info);
	close(probe);
	return info.timers_max;
}

static __u32 hwtimer_batch(unsigned int variant)
{
	return ways[variant].batch ? ways[variant].batch : 1;
}

static double hwtimer_calls(unsigned int variant)
{
	return 2.0 / hwtimer_batch(variant);
}

static void set_up(void)
{
	struct hwtimer_setup setup = {
		.tick = load->tick,
		.clock = HWTIMER_CLOCK_MONOTONIC,
		.timers = load->timers,
	};

	if (ioctl(fd, HWTIMER_IOC_SETUP, &setup))
		err(1, "HWTIMER_IOC_SETUP");
}

static void hwtimer_setup(struct workload *new_load, unsigned int variant)
{
	load = new_load;
	way = ways[variant];
	ids = allocate_touched(load->timers, sizeof(*ids));
	aimed = allocate_touched(load->timers, sizeof(*aimed));
	memset(requests, 0, sizeof(requests));
	memset(events, 0, sizeof(events));
	fd = device_open();
	set_up();
	/* The first timer brings the worker. */
	device_cancel(fd, device_schedule(fd, HWTIMER_NEVER));
}

static void hwtimer_teardown(void)
{
	close(fd);
	free(ids);
	free(aimed);
}

/*
 * Returns whether an operation failed because the timer had expired: its deadline was
 * too near. CANCEL says 1 then.
 */
static bool expired_too_soon(int result)
{
	return (result == 1 || result == -EALREADY) && now_ns() >= load->base;
}

static void fail(__u32 op, int result)
{
	if (expired_too_soon(result))
		exit(SYSTEM_LATE);
	errx(1, "operation %u: %s", op,
	     result > 0 ? "the timer has expired" : strerror(-result));
}

/*
 * Ends the program if the @result of an operation, as the kernel writes it to a request, is not
 * 0. Inline: each result is checked.
 */
static inline void check(__u32 op, int result)
{
	if (result)
		fail(op, result);
}

/* Does one operation by its ioctl. */
static inline void run_one(__u32 op, unsigned long command,
			   struct hwtimer_request *request)
{
	int ret = ioctl(fd, command, request);

	check(op, ret < 0 ? -errno : ret);
}

/* ---- one by one ---- */

static void schedule_one(__u32 timer)
{
	struct hwtimer_request request = {
		.flags = HWTIMER_REQ_ABSTIME,
		.time = workload_deadline(load, timer),
		.user_data = timer,
	};

	run_one(HWTIMER_OP_SCHEDULE, HWTIMER_IOC_SCHEDULE, &request);
	ids[timer] = request.id;
}

static void cancel_one(__u32 place)
{
	struct hwtimer_request request = { .id = aimed[place] };

	run_one(HWTIMER_OP_CANCEL, HWTIMER_IOC_CANCEL, &request);
}

static void reschedule_one(__u32 place)
{
	struct hwtimer_request request = {
		.flags = HWTIMER_REQ_ABSTIME,
		.id = aimed[place],
		.time = workload_deadline(load, load->order[place]),
	};

	run_one(HWTIMER_OP_RESCHEDULE, HWTIMER_IOC_RESCHEDULE, &request);
}

/* ---- in batches ---- */

static void submit(__u32 count)
{
	__u32 i;

	device_submit(fd, requests, count);
	for (i = 0; i < count; i++)
		check(requests[i].op, requests[i].result);
}

static void schedule_batch(__u32 first, __u32 count)
{
	__u32 i;

	for (i = 0; i < count; i++)
		requests[i] = (struct hwtimer_request){
			.op = HWTIMER_OP_SCHEDULE,
			.flags = HWTIMER_REQ_ABSTIME,
			.time = workload_deadline(load, first + i),
			.user_data = first + i,
		};
	submit(count);
	for (i = 0; i < count; i++)
		ids[first + i] = requests[i].id;
}

static void cancel_batch(__u32 first, __u32 count)
{
	__u32 i;

	for (i = 0; i < count; i++)
		requests[i] = (struct hwtimer_request){
			.op = HWTIMER_OP_CANCEL,
			.id = aimed[first + i],
		};
	submit(count);
}

static void reschedule_batch(__u32 first, __u32 count)
{
	__u32 i;

	for (i = 0; i < count; i++)
		requests[i] = (struct hwtimer_request){
			.op = HWTIMER_OP_RESCHEDULE,
			.flags = HWTIMER_REQ_ABSTIME,
			.id = aimed[first + i],
			.time = workload_deadline(load, load->order[first + i]),
		};
	submit(count);
}

/* ---- in bulks ---- */

static void run_bulk(__u32 op, __u32 flags, const void *of, __u64 *to,
		     __u32 count)
{
	struct hwtimer_bulk bulk = {
		.op = op,
		.flags = flags,
		.count = count,
		.timers = (uintptr_t)of,
		.results = (uintptr_t)to,
		.slack = op == HWTIMER_OP_SCHEDULE ? hwtimer_slack : 0,
	};
	/* The least result that is a failure: SCHEDULE gives ids, and the others 0. */
	const __u64 failure = op == HWTIMER_OP_SCHEDULE ? -4095 : 1;
	int done;
	__u32 i;

	done = ioctl(fd, HWTIMER_IOC_BULK, &bulk);
	if (done < 0)
		err(1, "HWTIMER_IOC_BULK");
	if (done != (int)count)
		errx(1, "HWTIMER_IOC_BULK did %d of %u", done, count);
	for (i = 0; i < count; i++)
		if (to[i] >= failure)
			check(op, to[i]);
}

static void schedule_bulk(__u32 first, __u32 count)
{
	__u32 i;

	for (i = 0; i < count; i++)
		timers[i] = (struct hwtimer_bulk_timer){
			.user_data = first + i,
			.time = workload_deadline(load, first + i),
		};
	run_bulk(HWTIMER_OP_SCHEDULE, HWTIMER_REQ_ABSTIME, timers, &ids[first],
		 count);
}

static void cancel_bulk(__u32 first, __u32 count)
{
	run_bulk(HWTIMER_OP_CANCEL, 0, &aimed[first], results, count);
}

static void reschedule_bulk(__u32 first, __u32 count)
{
	__u32 i;

	for (i = 0; i < count; i++)
		timers[i] = (struct hwtimer_bulk_timer){
			.id = aimed[first + i],
			.time = workload_deadline(load, load->order[first + i]),
		};
	run_bulk(HWTIMER_OP_RESCHEDULE, HWTIMER_REQ_ABSTIME, timers, results,
		 count);
}

/* ---- in the chosen way ---- */

/**
 * struct calls - one operation in each of the ways
 * @one: by one ioctl
 * @batch: by SUBMIT
 * @bulk: by BULK
 */
struct calls {
	void (*one)(__u32 which);
	void (*batch)(__u32 first, __u32 count);
	void (*bulk)(__u32 first, __u32 count);
};

/* Does an operation on @count timers in the chosen way. */
static void in_batches(__u32 first, __u32 count, const struct calls *calls)
{
	__u32 i, done;

	for (i = 0; i < count; i += done) {
		done = way.batch ? smaller(count - i, way.batch) : 1;
		if (way.bulk)
			calls->bulk(first + i, done);
		else if (way.batch)
			calls->batch(first + i, done);
		else
			calls->one(first + i);
	}
}

static void hwtimer_schedule(__u32 first, __u32 count)
{
	static const struct calls calls = {
		.one = schedule_one,
		.batch = schedule_batch,
		.bulk = schedule_bulk,
	};

	in_batches(first, count, &calls);
}

static void hwtimer_aim(__u32 first, __u32 count)
{
	__u32 i;

	for (i = first; i < first + count; i++)
		aimed[i] = ids[load->order[i]];
}

static void hwtimer_cancel(__u32 first, __u32 count)
{
	static const struct calls calls = {
		.one = cancel_one,
		.batch = cancel_batch,
		.bulk = cancel_bulk,
	};

	in_batches(first, count, &calls);
}

static void hwtimer_reschedule(__u32 first, __u32 count)
{
	static const struct calls calls = {
		.one = reschedule_one,
		.batch = reschedule_batch,
		.bulk = reschedule_bulk,
	};

	in_batches(first, count, &calls);
}

static void hwtimer_expire(__u32 count)
{
	struct pollfd wheel = { .fd = fd, .events = POLLIN };

	if (poll(&wheel, 1, 60000) != 1)
		errx(1, "hwtimer: %u timers did not expire in a minute", count);
}

static void hwtimer_deliver(void)
{
	__u32 i, count;

	do {
		count = device_read(fd, events, way.batch ? way.batch : 1);
		for (i = 0; i < count; i++)
			workload_deliver(load, events[i].user_data);
	} while (count);
}

static __u64 hwtimer_bytes(void)
{
	struct hwtimer_stats stats;

	device_stats(fd, &stats);
	return stats.bytes_peak;
}

__u64 hwtimer_fdinfo(int instance, const char *name)
{
	char path[64], format[64], line[256];
	unsigned long long value;
	FILE *info;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", instance);
	info = fopen(path, "r");
	if (!info)
		err(1, "%s", path);
	snprintf(format, sizeof(format), "hwtimer-%s: %%llu", name);
	do {
		if (!fgets(line, sizeof(line), info))
			errx(1, "%s has no hwtimer-%s", path, name);
	} while (sscanf(line, format, &value) != 1);
	fclose(info);
	return value;
}

__u64 hwtimer_counter(const char *name)
{
	return hwtimer_fdinfo(fd, name);
}

/* The process id of the worker that turns the wheel, which has started */
static int hwtimer_worker_pid(void)
{
	int pid = hwtimer_fdinfo(fd, "worker");

	if (!pid)
		errx(1, "the instance has no worker");
	return pid;
}

const struct system system_hwtimer = {
	.name = "hwtimer",
	.variants = variants,
	.expiry = EXPIRY_WORKER,
	.tick = NSEC_PER_MSEC / 10,
	.timers_max = hwtimer_timers_max,
	.calls = hwtimer_calls,
	.batch = hwtimer_batch,
	.missing = hwtimer_missing,
	.setup = hwtimer_setup,
	.teardown = hwtimer_teardown,
	.schedule = hwtimer_schedule,
	.aim = hwtimer_aim,
	.cancel = hwtimer_cancel,
	.reschedule = hwtimer_reschedule,
	.expire = hwtimer_expire,
	.deliver = hwtimer_deliver,
	.bytes = hwtimer_bytes,
	.worker_pid = hwtimer_worker_pid,
};
