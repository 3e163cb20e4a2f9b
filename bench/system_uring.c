// SPDX-License-Identifier: GPL-2.0
/*
 * io_uring's timeouts, submitted and harvested in batches by liburing.
 *
 * To cancel one timeout, the kernel searches a list of all. So more than some thousands
 * would take too long.
 */
#include <err.h>
#include <errno.h>
#include <liburing.h>
#include <stdio.h>
#include <string.h>

#include "system.h"

#define BATCH 4096
/* Entries of the completion ring */
#define COMPLETIONS 32768
#define TIMERS_MAX 15000
/* Marks the user_data of a request that removes or updates a timer. */
#define ABOUT 0x8000000000000000ULL

static const char *const variants[] = { "batches of 4096", NULL };

static struct workload *load;
static struct io_uring ring;
static struct __kernel_timespec times[BATCH];

static const char *uring_missing(void)
{
	struct io_uring probe;
	int error = io_uring_queue_init(8, &probe, 0);

	if (error)
		return "io_uring is missing or not allowed";
	io_uring_queue_exit(&probe);
	return NULL;
}

static __u32 uring_timers_max(void)
{
	return TIMERS_MAX;
}

static __u32 uring_batch(unsigned int variant)
{
	(void)variant;
	return BATCH;
}

static void uring_setup(struct workload *new_load, unsigned int variant)
{
	struct io_uring_params params = {
		.flags = IORING_SETUP_CQSIZE,
		.cq_entries = COMPLETIONS,
	};
	int error;

	(void)variant;
	load = new_load;
	memset(times, 0, sizeof(times));
	error = io_uring_queue_init_params(BATCH, &ring, &params);
	if (error)
		errx(1, "io_uring: %s", strerror(-error));
}

static void uring_teardown(void)
{
	io_uring_queue_exit(&ring);
}

static void submit(__u32 count)
{
	int done = io_uring_submit(&ring);

	if (done != (int)count)
		errx(1, "io_uring: submitted %d of %u", done, count);
}

static struct __kernel_timespec *time_of(__u32 timer, __u32 place)
{
	__u64 deadline = workload_deadline(load, timer);

	times[place].tv_sec = deadline / NSEC_PER_SEC;
	times[place].tv_nsec = deadline % NSEC_PER_SEC;
	return &times[place];
}

static void schedule_batch(__u32 first, __u32 count)
{
	struct io_uring_sqe *sqe;
	__u32 i;

	for (i = 0; i < count; i++) {
		sqe = io_uring_get_sqe(&ring);
		io_uring_prep_timeout(sqe, time_of(first + i, i), 0,
				      IORING_TIMEOUT_ABS);
		io_uring_sqe_set_data64(sqe, first + i);
	}
	submit(count);
}

/* A removal or update that finds no timer came too late: the timer has expired. */
static void take(const struct io_uring_cqe *cqe)
{
	bool about = cqe->user_data & ABOUT;

	if (!about && cqe->res == -ETIME)
		workload_deliver(load, cqe->user_data);
	else if (about && (cqe->res == -ENOENT || cqe->res == -EALREADY) &&
		 now_ns() >= load->base)
		exit(SYSTEM_LATE);
	else if (cqe->res != -ECANCELED)
		errx(1, "io_uring: %s", strerror(-cqe->res));
}

/* Delivers the timers that expired; returns the number of all completions taken. */
static __u32 harvest(void)
{
	struct io_uring_cqe *cqe;
	__u32 count;

	for (count = 0; !io_uring_peek_cqe(&ring, &cqe); count++) {
		take(cqe);
		io_uring_cqe_seen(&ring, cqe);
	}
	return count;
}

/* A removal that succeeds has no completion; the removed timer has one. */
static void cancel_batch(__u32 first, __u32 count)
{
	struct io_uring_sqe *sqe;
	__u32 i, timer, seen;

	for (i = 0; i < count; i++) {
		timer = load->order[first + i];
		sqe = io_uring_get_sqe(&ring);
		io_uring_prep_timeout_remove(sqe, timer, 0);
		io_uring_sqe_set_data64(sqe, timer | ABOUT);
		sqe->flags |= IOSQE_CQE_SKIP_SUCCESS;
	}
	submit(count);
	for (seen = 0; seen < count; seen += harvest())
		io_uring_get_events(&ring);
}

static void reschedule_batch(__u32 first, __u32 count)
{
	struct io_uring_sqe *sqe;
	__u32 i, timer;

	for (i = 0; i < count; i++) {
		timer = load->order[first + i];
		sqe = io_uring_get_sqe(&ring);
		io_uring_prep_timeout_update(sqe, time_of(timer, i), timer,
					     IORING_TIMEOUT_ABS);
		io_uring_sqe_set_data64(sqe, timer | ABOUT);
		sqe->flags |= IOSQE_CQE_SKIP_SUCCESS;
	}
	submit(count);
	harvest();
}

static void in_batches(void (*batch)(__u32 first, __u32 count), __u32 first,
		       __u32 count)
{
	__u32 i, done;

	for (i = 0; i < count; i += done) {
		done = count - i < BATCH ? count - i : BATCH;
		batch(first + i, done);
	}
}

static void uring_schedule(__u32 first, __u32 count)
{
	in_batches(schedule_batch, first, count);
}

static void uring_cancel(__u32 first, __u32 count)
{
	in_batches(cancel_batch, first, count);
}

static void uring_reschedule(__u32 first, __u32 count)
{
	in_batches(reschedule_batch, first, count);
}

static void uring_deliver(void)
{
	do {
		io_uring_get_events(&ring);
	} while (harvest());
}

const struct system system_uring = {
	.name = "io_uring",
	.variants = variants,
	.expiry = EXPIRY_INTERRUPT,
	.tick = NSEC_PER_MSEC / 10,
	.timers_max = uring_timers_max,
	.batch = uring_batch,
	.missing = uring_missing,
	.setup = uring_setup,
	.teardown = uring_teardown,
	.schedule = uring_schedule,
	.cancel = uring_cancel,
	.reschedule = uring_reschedule,
	.deliver = uring_deliver,
};
