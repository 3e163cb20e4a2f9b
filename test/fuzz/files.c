// SPDX-License-Identifier: GPL-2.0
/*
 * Steps with descriptors of instances: open, close, read, pass on. Chosen by step.c.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <linux/hwtimer.h>

#include "output.h"
#include "steps.h"

#define DEVICE "/dev/hwtimer"
#define INSTANCES "/sys/kernel/debug/hwtimer/instances"

/* Events that a read asks for at most: more than the kernel copies at a time */
#define EVENTS 300

/*
 * Instances have numbers from here on, and other files, of which a process has a few dozen at most,
 * have lower ones.
 */
#define INSTANCE_FD 128

/**
 * step_raise - give an instance a number that only instances have
 * @fd: its descriptor, or -1; is closed
 *
 * An actor may close an instance that another is about to read, and the number is given to another
 * file. That is an instance, too: otherwise read() would return the text of a file in /proc.
 *
 * Return: the new descriptor, or -1.
 */
int step_raise(int fd)
{
	int raised = fcntl(fd, F_DUPFD_CLOEXEC, INSTANCE_FD);

	close(fd);
	return raised;
}

/* Puts a descriptor into a slot, and closes the one that was there. */
static void replace(struct slot *slot, int fd)
{
	int old = atomic_exchange(&slot->fd, fd);

	if (old >= 0)
		close(old);
}

/* ACK and REWIND would hardly ever meet an instance with events, if it was left to SETUP. */
static void keep_events(int fd)
{
	struct hwtimer_setup setup = {
		.flags = HWTIMER_SETUP_AT_LEAST_ONCE,
	};

	ioctl(fd, HWTIMER_IOC_SETUP, &setup);
}

void step_open(struct actor *actor)
{
	struct slot *slot = &rng_pick(&actor->rng, actor->world->slots);
	int flags = rng_one_in(&actor->rng, 6) ? 0 : O_NONBLOCK;
	int mode = rng_one_in(&actor->rng, 16) ?
			   (int)rng_below(&actor->rng, O_ACCMODE + 1) :
			   O_RDWR;
	int fd;

	/* A stopped or strange instance is replaced, others are left alone mostly. */
	if (slot->fd >= 0 && !rng_one_in(&actor->rng, 4))
		return;
	fd = open(DEVICE, mode | O_CLOEXEC | flags);
	step_count(CALL_OPEN, step_result(fd));
	fd = step_raise(fd);
	if (fd >= 0 && rng_one_in(&actor->rng, 3))
		keep_events(fd);
	if (fd >= 0)
		replace(slot, fd);
}

void step_close(struct actor *actor)
{
	replace(&rng_pick(&actor->rng, actor->world->slots), -1);
}

void step_dup(struct actor *actor)
{
	struct slot *to = &rng_pick(&actor->rng, actor->world->slots);
	struct slot *from;
	int fd;

	from = step_slot(actor, &fd);
	if (!from || from == to)
		return;
	fd = fcntl(fd, F_DUPFD_CLOEXEC, INSTANCE_FD);
	if (fd >= 0)
		replace(to, fd);
}

void step_nonblock(struct actor *actor)
{
	static const int flags[] = { 0, O_NONBLOCK, O_NONBLOCK, O_ASYNC,
				     O_APPEND | O_NONBLOCK };
	int fd;

	if (step_slot(actor, &fd))
		fcntl(fd, F_SETFL, rng_pick(&actor->rng, flags));
}

static size_t some_size(struct rng *rng)
{
	switch (rng_below(rng, 8)) {
	case 0:
		return rng_hostile(rng);
	case 1:
		return EVENTS * sizeof(struct hwtimer_event);
	case 2:
		return rng_below(rng, 200);
	default:
		return sizeof(struct hwtimer_event) * rng_between(rng, 1, 8);
	}
}

void step_read(struct actor *actor)
{
	static const char empty[EVENTS * sizeof(struct hwtimer_event)];
	size_t size = some_size(&actor->rng);
	struct place place;
	struct iovec iov;
	long ret;
	int fd;

	if (!step_slot(actor, &fd))
		return;
	place = arena_put(&actor->world->arena, &actor->rng, actor->number, 1,
			  empty, sizeof(empty));
	iov.iov_base = (void *)place.address;
	iov.iov_len = size;
	ret = step_result(rng_one_in(&actor->rng, 8) ?
				  readv(fd, &iov, 1) :
				  read(fd, iov.iov_base, size));
	step_count(CALL_READ, ret);
	if (ret <= 0 || !place.memory || (size_t)ret > sizeof(empty))
		return;
	output_events((void *)place.memory, ret);
	output_search(CALL_READ, place.memory, ret);
}

/* Reads a file that describes instances, or a part of it. */
static long read_text(struct actor *actor, const char *path)
{
	char text[2000];
	long ret;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	do {
		size_t size = 1 + rng_below(&actor->rng, sizeof(text));

		ret = step_result(read(fd, text, size));
	} while (ret > 0 && !rng_one_in(&actor->rng, 8));
	close(fd);
	return ret;
}

void step_fdinfo(struct actor *actor)
{
	char path[64];
	int fd;

	if (!step_slot(actor, &fd))
		return;
	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	read_text(actor, path);
}

void step_debugfs(struct actor *actor)
{
	if (!actor->world->plan.uid)
		step_count(CALL_DEBUGFS, read_text(actor, INSTANCES));
}

/* A message with one descriptor */
union control {
	char room[CMSG_SPACE(sizeof(int))];
	struct cmsghdr header;
};

void step_send(struct actor *actor)
{
	union control control = { .header = {
					  .cmsg_level = SOL_SOCKET,
					  .cmsg_type = SCM_RIGHTS,
					  .cmsg_len = CMSG_LEN(sizeof(int)),
				  } };
	struct iovec iov = { .iov_base = "", .iov_len = 1 };
	struct msghdr message = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control.room,
		.msg_controllen = sizeof(control.room),
	};
	int fd;

	if (!step_slot(actor, &fd))
		return;
	memcpy(CMSG_DATA(&control.header), &fd, sizeof(fd));
	step_count(CALL_SENDMSG,
		   step_result(sendmsg(actor->world->channel[0], &message,
				       MSG_DONTWAIT | MSG_NOSIGNAL)));
}

void step_receive(struct actor *actor)
{
	union control control = { 0 };
	char byte;
	struct iovec iov = { .iov_base = &byte, .iov_len = 1 };
	struct msghdr message = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control.room,
		.msg_controllen = sizeof(control.room),
	};
	long ret = step_result(recvmsg(actor->world->channel[1], &message,
				       MSG_DONTWAIT | MSG_CMSG_CLOEXEC));
	int fd;

	step_count(CALL_RECVMSG, ret);
	if (ret != 1 || message.msg_controllen != CMSG_LEN(sizeof(int)))
		return;
	memcpy(&fd, CMSG_DATA(&control.header), sizeof(fd));
	fd = step_raise(fd);
	if (fd >= 0)
		replace(&rng_pick(&actor->rng, actor->world->slots), fd);
}
