// SPDX-License-Identifier: GPL-2.0
/*
 * hwtimer: one timer an ioctl, and batches of SUBMIT, with both kinds of wheel.
 *
 * Filling the requests in and taking the ids out is timed with the call, as a
 * program has to do it.
 */
#include <dirent.h>
#include <err.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "device.h"
#include "system_hwtimer.h"

#define BATCH_MAX 4096

/**
 * struct way - how a program may use the device
 * @kind: of wheel
 * @batch: timers in one SUBMIT, events in one read(); 0: one ioctl a timer
 */
struct way {
	__u32 kind;
	__u32 batch;
};

static const char *const variants[] = {
	"hierarchical, batches of 4096",
	"hierarchical, batches of 256",
	"hierarchical, batches of 16",
	"hierarchical, batches of 1",
	"hierarchical, one by one",
	"hashed, batches of 4096",
	"hashed, batches of 256",
	"hashed, batches of 16",
	"hashed, batches of 1",
	"hashed, one by one",
	NULL,
};

static const struct way ways[] = {
	{ HWTIMER_KIND_HIERARCHICAL, 4096 }, { HWTIMER_KIND_HIERARCHICAL, 256 },
	{ HWTIMER_KIND_HIERARCHICAL, 16 },   { HWTIMER_KIND_HIERARCHICAL, 1 },
	{ HWTIMER_KIND_HIERARCHICAL, 0 },    { HWTIMER_KIND_HASHED, 4096 },
	{ HWTIMER_KIND_HASHED, 256 },	     { HWTIMER_KIND_HASHED, 16 },
	{ HWTIMER_KIND_HASHED, 1 },	     { HWTIMER_KIND_HASHED, 0 },
};

__u32 hwtimer_buckets;

static struct workload *load;
static struct way way;
static int fd;
/* Of all timers; and of those that are aimed at, in the order of the cancels */
static __u64 *ids, *aimed;
static struct hwtimer_request requests[BATCH_MAX];
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

static void hwtimer_setup(struct workload *new_load, unsigned int variant)
{
	load = new_load;
	way = ways[variant];
	ids = malloc(load->timers * sizeof(*ids));
	aimed = malloc(load->timers * sizeof(*aimed));
	if (!ids || !aimed)
		err(1, "no memory for %u ids", load->timers);
	memset(ids, 0, load->timers * sizeof(*ids));
	memset(aimed, 0, load->timers * sizeof(*aimed));
	memset(requests, 0, sizeof(requests));
	memset(events, 0, sizeof(events));
	fd = device_open();
	device_setup(fd, way.kind, load->tick, hwtimer_buckets, load->timers);
}

static void hwtimer_teardown(void)
{
	close(fd);
	free(ids);
	free(aimed);
}

/* A timer that has expired already was set too near. */
static void check(__u32 op, int error)
{
	if (error == EALREADY)
		exit(SYSTEM_LATE);
	if (error)
		errx(1, "operation %u: %s", op, strerror(error));
}

/* ---- one by one ---- */

static void schedule_one(__u32 timer)
{
	struct hwtimer_request request = {
		.flags = HWTIMER_ABSOLUTE,
		.time = workload_deadline(load, timer),
		.user_data = timer,
	};

	if (ioctl(fd, HWTIMER_IOC_SCHEDULE, &request))
		check(HWTIMER_OP_SCHEDULE, errno);
	ids[timer] = request.id;
}

static void cancel_one(__u64 id)
{
	struct hwtimer_request request = { .id = id };

	if (ioctl(fd, HWTIMER_IOC_CANCEL, &request))
		check(HWTIMER_OP_CANCEL, errno);
}

static void reschedule_one(__u32 place)
{
	struct hwtimer_request request = {
		.flags = HWTIMER_ABSOLUTE,
		.id = aimed[place],
		.time = workload_deadline(load, load->order[place]),
	};

	if (ioctl(fd, HWTIMER_IOC_RESCHEDULE, &request))
		check(HWTIMER_OP_RESCHEDULE, errno);
}

/* ---- in batches ---- */

static void submit(__u32 count)
{
	__u32 i;

	device_submit(fd, requests, count);
	for (i = 0; i < count; i++)
		check(requests[i].op, -requests[i].result);
}

static void schedule_batch(__u32 first, __u32 count)
{
	__u32 i;

	for (i = 0; i < count; i++)
		requests[i] = (struct hwtimer_request){
			.op = HWTIMER_OP_SCHEDULE,
			.flags = HWTIMER_ABSOLUTE,
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
			.flags = HWTIMER_ABSOLUTE,
			.id = aimed[first + i],
			.time = workload_deadline(load, load->order[first + i]),
		};
	submit(count);
}

/* ---- either ---- */

static void hwtimer_schedule(__u32 first, __u32 count)
{
	__u32 i, done;

	if (!way.batch) {
		for (i = 0; i < count; i++)
			schedule_one(first + i);
		return;
	}
	for (i = 0; i < count; i += done) {
		done = smaller(count - i, way.batch);
		schedule_batch(first + i, done);
	}
}

static void hwtimer_aim(__u32 first, __u32 count)
{
	__u32 i;

	for (i = first; i < first + count; i++)
		aimed[i] = ids[load->order[i]];
}

static void hwtimer_cancel(__u32 first, __u32 count)
{
	__u32 i, done;

	if (!way.batch) {
		for (i = 0; i < count; i++)
			cancel_one(aimed[first + i]);
		return;
	}
	for (i = 0; i < count; i += done) {
		done = smaller(count - i, way.batch);
		cancel_batch(first + i, done);
	}
}

static void hwtimer_reschedule(__u32 first, __u32 count)
{
	__u32 i, done;

	if (!way.batch) {
		for (i = 0; i < count; i++)
			reschedule_one(first + i);
		return;
	}
	for (i = 0; i < count; i += done) {
		done = smaller(count - i, way.batch);
		reschedule_batch(first + i, done);
	}
}

/* Lets poll() be ready when @count events wait, and not before. */
static void hwtimer_watch(__u32 count)
{
	struct hwtimer_notify notify = {
		.size = sizeof(notify),
		.events = count,
		.eventfd = -1,
		.delay = count > 1 ? HWTIMER_NEVER : 0,
	};

	if (ioctl(fd, HWTIMER_IOC_NOTIFY, &notify))
		err(1, "HWTIMER_IOC_NOTIFY");
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

void hwtimer_stats(struct hwtimer_stats *stats)
{
	device_stats(fd, stats);
}

static __u64 hwtimer_bytes(void)
{
	struct hwtimer_stats stats;

	device_stats(fd, &stats);
	return stats.bytes_peak;
}

static __u64 hwtimer_wakeups(void)
{
	struct hwtimer_stats stats;

	device_stats(fd, &stats);
	return stats.wakeups;
}

static double hwtimer_lateness(void)
{
	struct hwtimer_stats stats;

	device_stats(fd, &stats);
	return stats.lateness_max;
}

static bool is_worker(const char *pid)
{
	char path[64], name[32] = "";
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%.20s/comm", pid);
	file = fopen(path, "r");
	if (!file)
		return false;
	if (!fgets(name, sizeof(name), file))
		name[0] = '\0';
	fclose(file);
	return !strncmp(name, "hwtimer/", 8);
}

int hwtimer_worker_pid(void)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	int pid = 0;

	if (!proc)
		err(1, "/proc");
	while ((entry = readdir(proc)))
		if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9' &&
		    is_worker(entry->d_name)) {
			if (pid)
				errx(1, "load the module with workers=1");
			pid = atoi(entry->d_name);
		}
	closedir(proc);
	if (!pid)
		errx(1, "there is no kthread hwtimer/0");
	return pid;
}

const struct system system_hwtimer = {
	.name = "hwtimer",
	.variants = variants,
	.expiry = EXPIRY_HELD,
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
	.watch = hwtimer_watch,
	.expire = hwtimer_expire,
	.deliver = hwtimer_deliver,
	.bytes = hwtimer_bytes,
	.wakeups = hwtimer_wakeups,
	.lateness = hwtimer_lateness,
	.worker_pid = hwtimer_worker_pid,
};
