// SPDX-License-Identifier: GPL-2.0
/*
 * POSIX timers, each of which sends a signal, and a signalfd that receives them.
 *
 * posix_setup() makes the timers, and the timed part only sets and unsets them: the
 * best case. The kernel reserves a signal for each timer, so that none is lost.
 */
#include <err.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "limit.h"
#include "system.h"

#define BATCH 1024
/*
 * More would take too long: the kernel searches one of 512 lists for each timer, or a
 * queue for the place of its signal.
 */
#define TIMERS_MAX 20000
/* RLIMIT_SIGPENDING counts the signals of all processes of a user. */
#define OTHER_SIGNALS 1000

static const char *const variants[] = { "timers kept", NULL };

static struct workload *load;
static int fd;
static timer_t *timers;
static struct signalfd_siginfo signals[BATCH];

static double posix_calls(unsigned int variant)
{
	(void)variant;
	return 2;
}

static __u32 posix_timers_max(void)
{
	return limit_raise(RLIMIT_SIGPENDING, TIMERS_MAX + OTHER_SIGNALS) -
	       OTHER_SIGNALS;
}

static void posix_setup(struct workload *new_load, unsigned int variant)
{
	struct sigevent event = {
		.sigev_notify = SIGEV_SIGNAL,
		.sigev_signo = SIGRTMIN,
	};
	sigset_t set;
	__u32 i;

	(void)variant;
	load = new_load;
	sigemptyset(&set);
	sigaddset(&set, SIGRTMIN);
	sigprocmask(SIG_BLOCK, &set, NULL);
	fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
	if (fd < 0)
		err(1, "signalfd");
	timers = allocate(load->timers, sizeof(*timers));
	for (i = 0; i < load->timers; i++) {
		event.sigev_value.sival_int = i;
		if (timer_create(CLOCK_MONOTONIC, &event, &timers[i]))
			err(1, "timer_create");
	}
}

static void posix_teardown(void)
{
	__u32 i;

	for (i = 0; i < load->timers; i++)
		timer_delete(timers[i]);
	free(timers);
	close(fd);
}

static void set(timer_t timer, __u64 time)
{
	struct itimerspec when = { .it_value = timespec_of(time) };

	if (timer_settime(timer, TIMER_ABSTIME, &when, NULL))
		err(1, "timer_settime");
}

static void posix_schedule(__u32 first, __u32 count)
{
	__u32 i;

	for (i = first; i < first + count; i++)
		set(timers[i], workload_deadline(load, i));
}

static void posix_cancel(__u32 first, __u32 count)
{
	__u32 i;

	for (i = first; i < first + count; i++)
		set(timers[load->order[i]], 0);
}

static void posix_reschedule(__u32 first, __u32 count)
{
	__u32 i, timer;

	for (i = first; i < first + count; i++) {
		timer = load->order[i];
		set(timers[timer], workload_deadline(load, timer));
	}
}

static void posix_deliver(void)
{
	ssize_t bytes;
	size_t i;

	for (;;) {
		bytes = read(fd, signals, sizeof(signals));
		if (bytes < 0 && errno == EAGAIN)
			return;
		if (bytes < 0)
			err(1, "read of a signalfd");
		for (i = 0; i < bytes / sizeof(*signals); i++)
			workload_deliver(load, signals[i].ssi_int);
	}
}

const struct system system_posix = {
	.name = "posix",
	.variants = variants,
	.expiry = EXPIRY_INTERRUPT,
	.tick = NSEC_PER_MSEC / 10,
	.timers_max = posix_timers_max,
	.calls = posix_calls,
	.setup = posix_setup,
	.teardown = posix_teardown,
	.schedule = posix_schedule,
	.cancel = posix_cancel,
	.reschedule = posix_reschedule,
	.deliver = posix_deliver,
};
