// SPDX-License-Identifier: GPL-2.0
/*
 * Steps that read and poll by io_uring and AIO. Each actor has a ring and a context of its
 * own, and makes a new one at times, while requests of the old one wait. Chosen by step.c.
 */
#include <errno.h>
#include <linux/aio_abi.h>
#include <linux/io_uring.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <linux/hwtimer.h>

#include "steps.h"

#define ENTRIES 8

/* More completions than a ring has room for */
#define COMPLETIONS_MAX 64

/* Bytes that a request reads */
#define BYTES (4 * sizeof(struct hwtimer_event))

/* ---- io_uring ---- */

static void uring_end(struct uring *uring)
{
	if (uring->fd < 0)
		return;
	munmap(uring->memory, uring->bytes);
	munmap(uring->sqes, uring->sqes_bytes);
	close(uring->fd);
	uring->fd = -1;
}

static size_t larger(size_t a, size_t b)
{
	return a > b ? a : b;
}

static void *uring_map(int fd, size_t bytes, __u64 offset)
{
	return mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_POPULATE, fd, offset);
}

/* Keeps the offsets from the kernel; all rings are in one mapping since Linux 5.4. */
static bool uring_begin(struct uring *uring)
{
	struct io_uring_params params = { 0 };
	int fd = syscall(SYS_io_uring_setup, ENTRIES, &params);

	if (fd < 0)
		return false;
	uring->bytes =
		larger(params.sq_off.array + params.sq_entries * 4,
		       params.cq_off.cqes +
			       params.cq_entries * sizeof(struct io_uring_cqe));
	uring->sqes_bytes = params.sq_entries * sizeof(*uring->sqes);
	uring->memory = uring_map(fd, uring->bytes, IORING_OFF_SQ_RING);
	uring->sqes = uring_map(fd, uring->sqes_bytes, IORING_OFF_SQES);
	if (uring->memory == MAP_FAILED || (void *)uring->sqes == MAP_FAILED) {
		close(fd);
		return false;
	}
	uring->offsets.sq_tail = params.sq_off.tail;
	uring->offsets.sq_mask = params.sq_off.ring_mask;
	uring->offsets.sq_array = params.sq_off.array;
	uring->offsets.cq_head = params.cq_off.head;
	uring->offsets.cq_tail = params.cq_off.tail;
	uring->offsets.cq_mask = params.cq_off.ring_mask;
	uring->offsets.cqes = params.cq_off.cqes;
	uring->fd = fd;
	return true;
}

static atomic_uint *uring_word(struct uring *uring, __u32 offset)
{
	return (atomic_uint *)(uring->memory + offset);
}

/* Counts and forgets what has completed. user_data is the call. */
static void uring_reap(struct actor *actor)
{
	struct uring *uring = &actor->uring;
	const struct io_uring_cqe *cqes =
		(void *)(uring->memory + uring->offsets.cqes);
	__u32 mask = *uring_word(uring, uring->offsets.cq_mask);
	__u32 tail = *uring_word(uring, uring->offsets.cq_tail);
	__u32 head = *uring_word(uring, uring->offsets.cq_head);

	/* A hostile address may have been here, and the kernel may have written to it. */
	if (tail - head > COMPLETIONS_MAX)
		head = tail;
	for (; head != tail; head++) {
		const struct io_uring_cqe *cqe = &cqes[head & mask];

		if (cqe->user_data == CALL_URING_READ ||
		    cqe->user_data == CALL_URING_POLL)
			step_count(cqe->user_data, cqe->res);
	}
	*uring_word(uring, uring->offsets.cq_head) = head;
}

static void uring_submit(struct actor *actor, const struct io_uring_sqe *sqe)
{
	struct uring *uring = &actor->uring;
	__u32 mask = *uring_word(uring, uring->offsets.sq_mask);
	__u32 tail = *uring_word(uring, uring->offsets.sq_tail);
	__u32 *array = (void *)(uring->memory + uring->offsets.sq_array);

	uring->sqes[tail & mask] = *sqe;
	array[tail & mask] = tail & mask;
	*uring_word(uring, uring->offsets.sq_tail) = tail + 1;
	syscall(SYS_io_uring_enter, uring->fd, 1, 0, IORING_ENTER_GETEVENTS,
		NULL, 0);
}

static void uring_poll(struct actor *actor, int fd)
{
	struct io_uring_sqe sqe = {
		.opcode = IORING_OP_POLL_ADD,
		.fd = fd,
		.user_data = CALL_URING_POLL,
		.poll32_events = POLLIN,
	};

	if (rng_one_in(&actor->rng, 3))
		sqe.len = IORING_POLL_ADD_MULTI;
	uring_submit(actor, &sqe);
}

static void uring_read(struct actor *actor, int fd)
{
	static const char empty[BYTES];
	struct place place = arena_put(&actor->world->arena, &actor->rng,
				       actor->number, 2, empty, sizeof(empty));
	struct io_uring_sqe sqe = {
		.opcode = IORING_OP_READ,
		.flags = rng_one_in(&actor->rng, 4) ? IOSQE_ASYNC : 0,
		.fd = fd,
		.off = -1,
		.addr = place.address,
		.len = sizeof(empty),
		.user_data = CALL_URING_READ,
	};

	uring_submit(actor, &sqe);
}

static void uring_cancel(struct actor *actor)
{
	static const __u8 opcodes[] = { IORING_OP_ASYNC_CANCEL,
					IORING_OP_POLL_REMOVE };
	struct io_uring_sqe sqe = {
		.opcode = rng_pick(&actor->rng, opcodes),
		.addr = rng_one_in(&actor->rng, 2) ? CALL_URING_READ :
						     CALL_URING_POLL,
	};

	uring_submit(actor, &sqe);
}

void step_uring(struct actor *actor)
{
	int fd;

	if (!step_slot(actor, &fd) ||
	    (actor->uring.fd < 0 && !uring_begin(&actor->uring)))
		return;
	switch (rng_below(&actor->rng, 6)) {
	case 0 ... 1:
		uring_poll(actor, fd);
		break;
	case 2 ... 4:
		uring_read(actor, fd);
		break;
	default:
		uring_cancel(actor);
	}
	if (actor->uring.fd >= 0)
		uring_reap(actor);
}

void step_uring_renew(struct actor *actor)
{
	uring_end(&actor->uring);
}

/* ---- AIO ---- */

static void aio_reap(struct actor *actor)
{
	struct timespec timeout = { 0 };
	struct io_event events[ENTRIES];
	long ret = syscall(SYS_io_getevents, actor->aio, 0, ENTRIES, events,
			   &timeout);

	for (long i = 0; i < ret; i++)
		if (events[i].data == CALL_AIO_POLL)
			step_count(CALL_AIO_POLL, events[i].res);
}

/* Without RWF_NOWAIT, io_submit() itself waits for events, until the interval timer's signal. */
void step_aio(struct actor *actor)
{
	static const char empty[BYTES];
	bool poll = !rng_one_in(&actor->rng, 4);
	struct iocb iocb = { .aio_data = poll ? CALL_AIO_POLL :
						CALL_AIO_PREAD };
	struct iocb *list = &iocb;
	int fd;
	long ret;

	if (!step_slot(actor, &fd) ||
	    (!actor->aio && syscall(SYS_io_setup, ENTRIES, &actor->aio)))
		return;
	iocb.aio_fildes = fd;
	iocb.aio_lio_opcode = poll ? IOCB_CMD_POLL : IOCB_CMD_PREAD;
	if (poll) {
		iocb.aio_buf = POLLIN;
	} else {
		iocb.aio_buf = arena_put(&actor->world->arena, &actor->rng,
					 actor->number, 2, empty, sizeof(empty))
				       .address;
		iocb.aio_nbytes = sizeof(empty);
		iocb.aio_rw_flags = rng_one_in(&actor->rng, 2) ? RWF_NOWAIT : 0;
	}
	ret = step_result(syscall(SYS_io_submit, actor->aio, 1, &list));
	if (!poll || ret < 0)
		step_count(iocb.aio_data, ret);
	aio_reap(actor);
}

void step_aio_renew(struct actor *actor)
{
	if (actor->aio)
		syscall(SYS_io_destroy, actor->aio);
	actor->aio = 0;
}
