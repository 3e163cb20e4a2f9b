/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shared code of the selftests: a ring of io_uring, by its system calls. Entries of what is to
 * be done are filled by hwtimer_uring.h of the library.
 */
#ifndef URING_H
#define URING_H

#include "hwtimer_test.h"

#include <linux/io_uring.h>
#include <sys/syscall.h>
#include <sys/utsname.h>

#include <hwtimer_uring.h>

/**
 * struct ring - a ring of io_uring
 * @params: what the kernel said of it
 * @fd: its descriptor
 * @memory: heads, tails and completions
 * @sqes: the entries
 * @filled: number of entries that the kernel has not been told of
 * @sqe_flags: flags of each entry
 */
struct ring {
	struct io_uring_params params;
	int fd;
	char *memory;
	struct io_uring_sqe *sqes;
	unsigned int filled;
	__u8 sqe_flags;
};

/* A completion, as the kernel's, which has a tail of no fixed length */
struct completion {
	__u64 user_data;
	__s32 res;
	__u32 flags;
};

/* Whether this kernel is as new as @major.@minor */
static inline bool kernel_has(unsigned int major, unsigned int minor)
{
	struct utsname name;
	unsigned int ours[2];

	if (uname(&name) ||
	    sscanf(name.release, "%u.%u", &ours[0], &ours[1]) != 2)
		abort();
	return ours[0] > major || (ours[0] == major && ours[1] >= minor);
}

static inline void *ring_map(const struct ring *ring, size_t bytes,
			     __u64 offset)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_POPULATE, ring->fd, offset);

	if (memory == MAP_FAILED)
		abort();
	return memory;
}

static inline size_t ring_sqes_bytes(const struct ring *ring)
{
	return ring->params.sq_entries * sizeof(*ring->sqes) *
	       (ring->params.flags & IORING_SETUP_SQE128 ? 2 : 1);
}

/* Makes a ring with @entries; returns 0 or -errno. */
static inline int ring_begin(struct ring *ring, unsigned int entries,
			     unsigned int flags)
{
	memset(ring, 0, sizeof(*ring));
	ring->params.flags = flags;
	ring->params.sq_thread_idle = 1000;
	ring->fd =
		result_of(syscall(SYS_io_uring_setup, entries, &ring->params));
	if (ring->fd < 0)
		return ring->fd;
	/* The completions are behind the submissions. */
	ring->memory = ring_map(ring,
				ring->params.cq_off.cqes +
					ring->params.cq_entries *
						sizeof(struct io_uring_cqe),
				IORING_OFF_SQ_RING);
	ring->sqes = ring_map(ring, ring_sqes_bytes(ring), IORING_OFF_SQES);
	return 0;
}

static inline __u32 *ring_word(const struct ring *ring, __u32 offset)
{
	return (__u32 *)(ring->memory + offset);
}

/* The entry with an index that counts on and on */
static inline struct io_uring_sqe *ring_entry(const struct ring *ring,
					      __u32 index)
{
	index &= ring->params.sq_entries - 1;
	return &ring->sqes[ring->params.flags & IORING_SETUP_SQE128 ? 2 * index :
								      index];
}

/* The next entry, all zero. There must be one. */
static inline struct io_uring_sqe *ring_sqe(struct ring *ring)
{
	const struct io_sqring_offsets *offsets = &ring->params.sq_off;
	__u32 *tail = ring_word(ring, offsets->tail);
	__u32 index = (*tail + ring->filled) & (ring->params.sq_entries - 1);
	struct io_uring_sqe *sqe = ring_entry(ring, index);

	if (ring->filled == ring->params.sq_entries)
		abort();
	ring_word(ring, offsets->array)[index] = index;
	ring->filled++;
	memset(sqe, 0, sizeof(*sqe));
	return sqe;
}

static inline int ring_enter(const struct ring *ring, unsigned int submit,
			     unsigned int wait, unsigned int flags)
{
	return result_of(syscall(SYS_io_uring_enter, ring->fd, submit, wait,
				 flags, NULL, 0));
}

/*
 * Tells the kernel of all entries that were filled. Returns how many it has taken, or -errno.
 */
static inline int ring_submit(struct ring *ring)
{
	const struct io_sqring_offsets *offsets = &ring->params.sq_off;
	__u32 *tail = ring_word(ring, offsets->tail);
	unsigned int filled = ring->filled;

	for (unsigned int i = 0; i < filled; i++)
		ring_entry(ring, *tail + i)->flags |= ring->sqe_flags;
	ring->filled = 0;
	__atomic_store_n(tail, *tail + filled, __ATOMIC_SEQ_CST);
	if (!(ring->params.flags & IORING_SETUP_SQPOLL))
		return ring_enter(ring, filled, 0, 0);
	if (__atomic_load_n(ring_word(ring, offsets->flags), __ATOMIC_SEQ_CST) &
	    IORING_SQ_NEED_WAKEUP)
		ring_enter(ring, 0, 0, IORING_ENTER_SQ_WAKEUP);
	return filled;
}

/* Takes a completion, if there is one. */
static inline bool ring_peek(struct ring *ring, struct completion *cqe)
{
	const struct io_cqring_offsets *offsets = &ring->params.cq_off;
	const struct io_uring_cqe *cqes =
		(const void *)(ring->memory + offsets->cqes);
	__u32 *head = ring_word(ring, offsets->head);
	const struct io_uring_cqe *from;

	if (__atomic_load_n(ring_word(ring, offsets->tail), __ATOMIC_ACQUIRE) ==
	    *head)
		return false;
	from = &cqes[*head & (ring->params.cq_entries - 1)];
	*cqe = (struct completion){ from->user_data, from->res, from->flags };
	__atomic_store_n(head, *head + 1, __ATOMIC_RELEASE);
	return true;
}

/* Waits for a completion. */
static inline struct completion ring_wait(struct ring *ring)
{
	struct completion cqe;

	while (!ring_peek(ring, &cqe)) {
		int err = ring_enter(ring, 0, 1, IORING_ENTER_GETEVENTS);

		if (err < 0 && err != -EINTR)
			abort();
	}
	return cqe;
}

/* Has the kernel finish what it has done so far, and takes a completion, if there is one. */
static inline bool ring_look(struct ring *ring, struct completion *cqe)
{
	ring_enter(ring, 0, 0, IORING_ENTER_GETEVENTS);
	return ring_peek(ring, cqe);
}

/* Submits the one entry that was filled, and waits for its result. */
static inline int ring_result(struct ring *ring)
{
	int submitted = ring_submit(ring);

	return submitted == 1 ? ring_wait(ring).res : submitted;
}

/* Does one command by the ring; returns its result. */
static inline int ring_ioctl(struct ring *ring, int fd, __u32 command,
			     void *argument)
{
	hwt_prep_ioctl(ring_sqe(ring), fd, command, argument);
	return ring_result(ring);
}

static inline int ring_register(const struct ring *ring, unsigned int what,
				void *argument, unsigned int count)
{
	return result_of(syscall(SYS_io_uring_register, ring->fd, what,
				 argument, count));
}

static inline void ring_end(struct ring *ring)
{
	munmap(ring->memory,
	       ring->params.cq_off.cqes +
		       ring->params.cq_entries * sizeof(struct io_uring_cqe));
	munmap(ring->sqes, ring_sqes_bytes(ring));
	close(ring->fd);
}

#endif /* URING_H */
