/* SPDX-License-Identifier: MIT */
/*
 * Fills entries of io_uring with the commands of an instance; see libhwtimer(3).
 *
 *	struct hwtimer_request request = { .time = ... };
 *
 *	sqe = io_uring_get_sqe(&ring);
 *	hwt_prep_schedule(sqe, hwt_fd(hwt), &request);
 *	io_uring_sqe_set_data(sqe, ...);
 *	io_uring_submit(&ring);
 *
 * A function sets all fields of an entry but user_data. A result is what the ioctl returns, or
 * a negative errno. @request, or whatever a function is given, belongs to the kernel until the
 * completion comes. Reads wait for events, also if the instance was opened with HWT_NONBLOCK.
 *
 * If files are registered: `sqe->fd = index; sqe->flags |= IOSQE_FIXED_FILE;` after that.
 *
 * Needs liburing only for its entries. A program with rings of its own includes
 * <linux/io_uring.h> before.
 */
#ifndef HWTIMER_URING_H
#define HWTIMER_URING_H

#include <poll.h>
#include <stdint.h>

#ifndef LINUX_IO_URING_H
#include <liburing.h>
#endif
#include <linux/hwtimer.h>

#ifdef __cplusplus
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wold-style-cast"
#endif

/* IORING_OP_READ_MULTISHOT, which Debian 12's headers lack; of kernel 6.7 and later */
#define HWT_OP_READ_MULTISHOT 49

static inline void hwt_prep(struct io_uring_sqe *sqe, uint8_t opcode, int fd)
{
	sqe->opcode = opcode;
	sqe->flags = 0;
	sqe->ioprio = 0;
	sqe->fd = fd;
	sqe->off = 0;
	sqe->addr = 0;
	sqe->len = 0;
	sqe->rw_flags = 0;
	sqe->buf_index = 0;
	sqe->personality = 0;
	sqe->file_index = 0;
	sqe->addr3 = 0;
	sqe->__pad2[0] = 0;
}

/* hwt_prep_ioctl - any of the commands, HWTIMER_IOC_*, with its @argument */
static inline void hwt_prep_ioctl(struct io_uring_sqe *sqe, int fd,
				  uint32_t command, void *argument)
{
	hwt_prep(sqe, IORING_OP_URING_CMD, fd);
	sqe->cmd_op = command;
	/* That is where struct hwtimer_uring begins; the rest of it stays 0. */
	sqe->addr3 = (uintptr_t)argument;
}

static inline void hwt_prep_schedule(struct io_uring_sqe *sqe, int fd,
				     struct hwtimer_request *request)
{
	hwt_prep_ioctl(sqe, fd, HWTIMER_IOC_SCHEDULE, request);
}

static inline void hwt_prep_cancel(struct io_uring_sqe *sqe, int fd,
				   struct hwtimer_request *request)
{
	hwt_prep_ioctl(sqe, fd, HWTIMER_IOC_CANCEL, request);
}

static inline void hwt_prep_reschedule(struct io_uring_sqe *sqe, int fd,
				       struct hwtimer_request *request)
{
	hwt_prep_ioctl(sqe, fd, HWTIMER_IOC_RESCHEDULE, request);
}

/* The array that @submit names belongs to the kernel, too; so with the next one. */
static inline void hwt_prep_submit(struct io_uring_sqe *sqe, int fd,
				   struct hwtimer_submit *submit)
{
	hwt_prep_ioctl(sqe, fd, HWTIMER_IOC_SUBMIT, submit);
}

static inline void hwt_prep_bulk(struct io_uring_sqe *sqe, int fd,
				 struct hwtimer_bulk *bulk)
{
	hwt_prep_ioctl(sqe, fd, HWTIMER_IOC_BULK, bulk);
}

static inline void hwt_prep_cancel_all(struct io_uring_sqe *sqe, int fd,
				       struct hwtimer_list *list)
{
	hwt_prep_ioctl(sqe, fd, HWTIMER_IOC_CANCEL_ALL, list);
}

/* hwt_prep_read - the result is the number of bytes, of whole events */
static inline void hwt_prep_read(struct io_uring_sqe *sqe, int fd,
				 struct hwtimer_event *events,
				 unsigned int count)
{
	hwt_prep(sqe, IORING_OP_READ, fd);
	sqe->addr = (uintptr_t)events;
	sqe->len = (uint32_t)(count * sizeof(*events));
	sqe->off = (uint64_t)-1;
}

/*
 * hwt_prep_read_multishot - events come as completions, each in a buffer of @group, until one
 * lacks IORING_CQE_F_MORE. With -ENOBUFS as its result, nothing is lost: provide buffers, and
 * begin again
 */
static inline void hwt_prep_read_multishot(struct io_uring_sqe *sqe, int fd,
					   uint16_t group)
{
	hwt_prep(sqe, HWT_OP_READ_MULTISHOT, fd);
	sqe->flags = IOSQE_BUFFER_SELECT;
	sqe->buf_group = group;
	sqe->off = (uint64_t)-1;
}

/*
 * hwt_prep_poll_multishot - a completion each time that events have come, until one lacks
 * IORING_CQE_F_MORE. Read all that wait then, as with edge-triggered epoll
 */
static inline void hwt_prep_poll_multishot(struct io_uring_sqe *sqe, int fd)
{
	const uint32_t events = POLLIN;

	hwt_prep(sqe, IORING_OP_POLL_ADD, fd);
	sqe->len = IORING_POLL_ADD_MULTI;
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	sqe->poll32_events = events << 16;
#else
	sqe->poll32_events = events;
#endif
}

#ifdef __cplusplus
#pragma GCC diagnostic pop
#endif

#endif /* HWTIMER_URING_H */
