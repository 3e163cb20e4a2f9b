/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A world is a process of the fuzzer with some threads, its actors. The actors share the
 * world's instances and epolls, and the worlds of a phase share instances by
 * passing their descriptors.
 */
#ifndef FUZZ_WORLD_H
#define FUZZ_WORLD_H

#include <pthread.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <sys/types.h>

#include "arena.h"
#include "tally.h"

/* The instances and epolls that a world has at most */
#define WORLD_SLOTS 8
#define WORLD_EPOLLS 4

/* The ids of timers that a world remembers for each instance */
#define WORLD_IDS 32

/**
 * struct slot - an instance
 * @fd: its descriptor, or -1. An actor that closes it takes it out first, so that no
 *	descriptor is closed twice
 * @ids: timers of it; some have ended
 */
struct slot {
	atomic_int fd;
	atomic_ullong ids[WORLD_IDS];
};

/**
 * struct plan - what a world does
 * @seed: the seed of the run
 * @phase: the number of the phase
 * @number: the number of the world in its phase
 * @actors: number of its threads
 * @steps: number of steps of each of them
 * @uid: the user; 0: root, who may set the clock and load modules
 * @cgroup: directory of a cgroup with little memory, or NULL
 */
struct plan {
	__u64 seed;
	unsigned int phase;
	unsigned int number;
	unsigned int actors;
	unsigned int steps;
	unsigned int uid;
	const char *cgroup;
};

/**
 * struct world - see above
 * @plan: what it does
 * @arena: memory for arguments
 * @slots: instances
 * @epolls: descriptors of epolls, or -1
 * @channel: a socket from which any world takes descriptors that any world has sent
 * @threads: the actors' threads
 * @running: number of actors that have not finished
 */
struct world {
	struct plan plan;
	struct arena arena;
	struct slot slots[WORLD_SLOTS];
	atomic_int epolls[WORLD_EPOLLS];
	int channel[2];
	pthread_t threads[ARENA_ACTORS];
	atomic_uint running;
};

/**
 * struct uring - an io_uring of an actor
 * @fd: its descriptor, or -1
 * @memory: the mapped rings
 * @bytes: their length
 * @sqes: the mapped entries
 * @sqes_bytes: their length
 * @offsets: of the fields in @memory: submission tail, mask and array; completion head
 *	and tail, mask and entries
 */
struct uring {
	int fd;
	char *memory;
	size_t bytes;
	struct io_uring_sqe *sqes;
	size_t sqes_bytes;
	struct {
		__u32 sq_tail, sq_mask, sq_array, cq_head, cq_tail, cq_mask,
			cqes;
	} offsets;
};

/**
 * struct actor - a thread of a world
 * @world: the world
 * @rng: the choices it makes
 * @number: its number in the world
 * @uring: its io_uring
 * @aio: its AIO context; 0: none
 * @is_child: the actor is alone in a process that it has forked
 * @rescue: where to go on if the program touches memory that is not there
 */
struct actor {
	struct world *world;
	struct rng rng;
	unsigned int number;
	struct uring uring;
	unsigned long aio;
	bool is_child;
	sigjmp_buf rescue;
};

pid_t world_start(const struct plan *plan, int arena, const int channel[2]);

#endif /* FUZZ_WORLD_H */
