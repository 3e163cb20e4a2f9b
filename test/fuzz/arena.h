/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The memory in which the fuzzer passes arguments: good pages, pages that may not be
 * written or read, pages that other threads and processes change, remove or garble in the
 * middle of a call, pages whose faults block for a while, and addresses of nothing.
 *
 * The good pages are a process's own. A memfd, which all processes share, holds most of the
 * others. Each process maps it twice. Through @back all of it
 * can always be written. @front is what the kernel gets; there the pages have the
 * protections that their kind demands.
 *
 * A call whose count was mutated also finds what earlier calls have left behind its argument. So no
 * memory ever has arguments of two alignments: bytes of two numbers, taken for one, could look like
 * an address in the kernel, and come back (see output.h).
 */
#ifndef FUZZ_ARENA_H
#define FUZZ_ARENA_H

#include <stdint.h>

#include "hostile.h"

/* The threads of a process that have memory of their own */
#define ARENA_ACTORS 8

/* The arguments of an actor: a structure, an array, and what is read asynchronously */
#define ARENA_ARGUMENTS 3

/* Room for each of them */
#define ARENA_ROOM (64UL << 10)

#define ARENA_PAGE 4096UL

/* Pages that are garbled, and pages that are removed and protected, of all processes */
#define ARENA_RACY_PAGES 16
#define ARENA_SHAKY_PAGES 16

/* Pages of a process whose faults block for a while */
#define ARENA_LAZY_PAGES 8

/**
 * struct arena - the memory of one process
 * @fd: the memfd
 * @back: all of the memfd; can be written
 * @front: all of the memfd, with protections
 * @rooms: good pages
 * @lazy: anonymous pages whose faults block, if @lazy_fd is not -1
 * @lazy_source: what the kernel finds in them
 * @lazy_fd: the userfaultfd, or -1
 */
struct arena {
	int fd;
	char *back;
	char *front;
	char *rooms;
	char *lazy;
	char *lazy_source;
	int lazy_fd;
};

/**
 * struct place - where an argument is
 * @address: what the kernel gets
 * @memory: where the program finds the argument afterwards; NULL: nowhere. Others do not
 *	change it
 */
struct place {
	uintptr_t address;
	char *memory;
};

int arena_create(void);
int arena_map(struct arena *arena, int fd);
bool arena_lazy_start(struct arena *arena);
void arena_lazy_serve(struct arena *arena, struct rng *rng);
struct place arena_put(struct arena *arena, struct rng *rng, unsigned int actor,
		       unsigned int argument, const void *data, size_t size);
void arena_shake(struct arena *arena, struct rng *rng);
void arena_garble(struct arena *arena, struct rng *rng);

#endif /* FUZZ_ARENA_H */
