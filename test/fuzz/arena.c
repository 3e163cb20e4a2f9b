// SPDX-License-Identifier: GPL-2.0
/*
 * Memory for arguments; see arena.h. Called by the actors in step.c and by world.c.
 */
#include "arena.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "board.h"

/*
 * The kernel writes as much as a call's count says, which may be mutated. So a page that
 * cannot be written follows each room: otherwise a call would overwrite the results of others.
 */
#define ROOM_STRIDE (ARENA_ROOM + ARENA_PAGE)
/* One room for arguments that are aligned, and one for those that are not */
#define ROOMS (2 * ARENA_ARGUMENTS * ARENA_ACTORS * ROOM_STRIDE)

/* The memfd: racy pages, shaky pages, a read-only page, and edges */
#define RACY 0UL
#define SHAKY (RACY + ARENA_RACY_PAGES * ARENA_PAGE)
#define READ_ONLY (SHAKY + ARENA_SHAKY_PAGES * ARENA_PAGE)
/* Each edge is pages that are good, then one that is not there; one edge for each alignment. */
#define EDGES 8
#define EDGE_PAGES 3
#define EDGE (READ_ONLY + ARENA_PAGE)
#define ARENA_BYTES (EDGE + EDGES * EDGE_PAGES * ARENA_PAGE)

#define LAZY_BYTES (ARENA_LAZY_PAGES * ARENA_PAGE)

/**
 * arena_create - make the memory that all processes share
 *
 * Return: a descriptor, or -1 with errno.
 */
int arena_create(void)
{
	int fd = syscall(SYS_memfd_create, "fuzz", MFD_CLOEXEC);

	if (fd >= 0 && ftruncate(fd, ARENA_BYTES))
		return -1;
	return fd;
}

static char *map_all(int fd)
{
	char *memory = mmap(NULL, ARENA_BYTES, PROT_READ | PROT_WRITE,
			    MAP_SHARED, fd, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

static char *map_rooms(void)
{
	char *memory = mmap(NULL, ROOMS, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		return NULL;
	for (size_t end = ARENA_ROOM; end < ROOMS; end += ROOM_STRIDE)
		if (mprotect(memory + end, ARENA_PAGE, PROT_NONE))
			return NULL;
	return memory;
}

/**
 * arena_map - map the memory into this process
 * @arena: out: the arena
 * @fd: the descriptor from arena_create()
 *
 * Return: 0, or -1 with errno.
 */
int arena_map(struct arena *arena, int fd)
{
	*arena = (struct arena){
		.fd = fd,
		.back = map_all(fd),
		.front = map_all(fd),
		.rooms = map_rooms(),
		.lazy_fd = -1,
	};
	if (!arena->back || !arena->front || !arena->rooms ||
	    mprotect(arena->front + READ_ONLY, ARENA_PAGE, PROT_READ))
		return -1;
	for (unsigned int i = 1; i <= EDGES; i++)
		if (munmap(arena->front + EDGE +
				   (i * EDGE_PAGES - 1) * ARENA_PAGE,
			   ARENA_PAGE))
			return -1;
	return 0;
}

/* ---- pages whose faults block ---- */

static int uffd_open(void)
{
	struct uffdio_api api = { .api = UFFD_API };
	int fd = syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK);

	if (fd >= 0 && ioctl(fd, UFFDIO_API, &api)) {
		close(fd);
		return -1;
	}
	return fd;
}

/**
 * arena_lazy_start - have page faults of this process block
 * @arena: the arena; without success, it has no lazy pages
 *
 * Return: whether the kernel has userfaultfd, and lets this process use it for faults in
 * the kernel.
 */
bool arena_lazy_start(struct arena *arena)
{
	struct uffdio_register all = { .mode = UFFDIO_REGISTER_MODE_MISSING };
	char *memory = mmap(NULL, 2 * LAZY_BYTES, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int fd;

	if (memory == MAP_FAILED)
		return false;
	fd = uffd_open();
	if (fd < 0)
		return false;
	arena->lazy = memory;
	arena->lazy_source = memory + LAZY_BYTES;
	all.range.start = (uintptr_t)memory;
	all.range.len = LAZY_BYTES;
	if (ioctl(fd, UFFDIO_REGISTER, &all)) {
		close(fd);
		return false;
	}
	arena->lazy_fd = fd;
	return true;
}

/* Lets a fault go on: with the page of the source, or with zeroes. */
static void lazy_resolve(struct arena *arena, struct rng *rng, __u64 address)
{
	__u64 page = address & ~(ARENA_PAGE - 1);
	struct uffdio_copy copy = {
		.dst = page,
		.src = page + LAZY_BYTES,
		.len = ARENA_PAGE,
	};
	struct uffdio_zeropage zero = {
		.range = { .start = page, .len = ARENA_PAGE },
	};

	if (rng_one_in(rng, 8))
		ioctl(arena->lazy_fd, UFFDIO_ZEROPAGE, &zero);
	else
		ioctl(arena->lazy_fd, UFFDIO_COPY, &copy);
}

/**
 * arena_lazy_serve - wait for a fault, and for a while longer; then resolve it
 * @arena: the arena, with lazy pages
 * @rng: the generator
 *
 * For a thread of its own. Returns after 20 ms without a fault.
 */
void arena_lazy_serve(struct arena *arena, struct rng *rng)
{
	struct pollfd pfd = { .fd = arena->lazy_fd, .events = POLLIN };
	struct uffd_msg msg;

	if (poll(&pfd, 1, 20) != 1 ||
	    read(arena->lazy_fd, &msg, sizeof(msg)) != sizeof(msg) ||
	    msg.event != UFFD_EVENT_PAGEFAULT)
		return;
	if (rng_one_in(rng, 3)) {
		uint64_t most = rng_one_in(rng, 8) ? 100 * MS : 5 * MS;

		sleep_ns(rng_below(rng, most));
	}
	lazy_resolve(arena, rng, msg.arg.pagefault.address);
}

/* ---- where arguments go ---- */

/* Each room that is not aligned has an alignment of its own. */
static char *room_of(char *memory, unsigned int actor, unsigned int argument,
		     bool aligned)
{
	unsigned int nr = ARENA_ARGUMENTS * actor + argument;

	if (aligned)
		return memory + 2 * nr * ROOM_STRIDE;
	return memory + (2 * nr + 1) * ROOM_STRIDE + 1 + nr % 7;
}

/* None looks like an address that the kernel has given out (see output.c). */
static uintptr_t nowhere(struct rng *rng)
{
	static const uintptr_t addresses[] = {
		0,
		1,
		8,
		4096,
		0x7ffffffff000,
		0x7fffffffefff,
		0x7fffffffeff8,
		0x800000000000,
		0xffff800000000000,
		0xffffc90000000000,
		0xffffffff81000000,
		0xffffffffff600000,
		0xfffffffffffff000,
		0xffffffffffffffff,
		0xfffffffffffffff8,
		0x60000000,
		0x0123456789abcdef,
	};

	return rng_pick(rng, addresses);
}

/* Writes as much of the argument as fits before @end, and returns its address. */
static uintptr_t put_at(struct arena *arena, size_t offset, size_t end,
			const void *data, size_t size)
{
	memcpy(arena->back + offset, data,
	       size < end - offset ? size : end - offset);
	return (uintptr_t)arena->front + offset;
}

/* At the end of an edge, mostly so that the end of the argument is beyond it */
static uintptr_t put_edge(struct arena *arena, struct rng *rng,
			  const void *data, size_t size)
{
	size_t good = (EDGE_PAGES - 1) * ARENA_PAGE;
	size_t over = rng_one_in(rng, 4) ? 0 : 1 + rng_below(rng, size);
	size_t length = size - over > good ? good : size - over;
	size_t end = EDGE + length % EDGES * EDGE_PAGES * ARENA_PAGE + good;

	return put_at(arena, end - length, end, data, size);
}

static uintptr_t put_lazy(struct arena *arena, struct rng *rng,
			  const void *data, size_t size)
{
	unsigned int page = rng_below(rng, ARENA_LAZY_PAGES);
	size_t offset = page * ARENA_PAGE;
	size_t left;

	/* Half of the arguments begin on one page and end on the next. */
	if (rng_one_in(rng, 2))
		offset += ARENA_PAGE - 8 * rng_between(rng, 1, 8);
	if (offset >= LAZY_BYTES)
		offset = 0;
	left = LAZY_BYTES - offset;
	memcpy(arena->lazy_source + offset, data, size < left ? size : left);
	madvise(arena->lazy, LAZY_BYTES, MADV_DONTNEED);
	return (uintptr_t)arena->lazy + offset;
}

/* The last argument in racy memory: its offset and size, for those who garble it */
static _Atomic __u64 *racy_target(struct arena *arena)
{
	return (void *)(arena->back + RACY);
}

static uintptr_t put_racy(struct arena *arena, struct rng *rng,
			  const void *data, size_t size)
{
	size_t offset = RACY + 8 * rng_between(rng, 1, ARENA_RACY_PAGES * 511);

	*racy_target(arena) = (__u64)offset << 32 | size;
	return put_at(arena, offset, SHAKY, data, size);
}

static uintptr_t put_hostile(struct arena *arena, struct rng *rng,
			     const void *data, size_t size)
{
	size_t offset;

	switch (rng_below(rng, arena->lazy_fd < 0 ? 12 : 16)) {
	case 0 ... 3:
		return put_racy(arena, rng, data, size);
	case 4 ... 6:
		offset = SHAKY + 8 * rng_below(rng, ARENA_SHAKY_PAGES * 512);
		return put_at(arena, offset, READ_ONLY, data, size);
	case 7 ... 8:
		return put_at(arena, READ_ONLY, EDGE, data, size);
	case 9 ... 10:
		return put_edge(arena, rng, data, size);
	case 11:
		return nowhere(rng);
	default:
		return put_lazy(arena, rng, data, size);
	}
}

/**
 * arena_put - put an argument somewhere
 * @arena: the arena
 * @rng: the generator
 * @actor: the number of the calling thread
 * @argument: which of its arguments, less than ARENA_ARGUMENTS
 * @data: the argument
 * @size: its size, at least 1 and ARENA_ROOM at most
 *
 * Three in four places are good memory of the thread alone. Of these, some are not
 * aligned.
 *
 * Return: the place.
 */
struct place arena_put(struct arena *arena, struct rng *rng, unsigned int actor,
		       unsigned int argument, const void *data, size_t size)
{
	struct place place = { 0 };
	bool aligned;

	if (rng_one_in(rng, 4)) {
		place.address = put_hostile(arena, rng, data, size);
		return place;
	}
	aligned = !rng_one_in(rng, 8) || size > ARENA_ROOM - 7;
	place.memory = room_of(arena->rooms, actor, argument, aligned);
	place.address = (uintptr_t)place.memory;
	memcpy(place.memory, data, size);
	return place;
}

/* ---- what happens to them meanwhile ---- */

/**
 * arena_shake - remove, protect or restore a shaky page
 * @arena: the arena
 * @rng: the generator
 */
void arena_shake(struct arena *arena, struct rng *rng)
{
	static const int protections[] = { PROT_NONE, PROT_READ,
					   PROT_READ | PROT_WRITE };
	size_t offset = SHAKY + ARENA_PAGE * rng_below(rng, ARENA_SHAKY_PAGES);
	char *page = arena->front + offset;

	switch (rng_below(rng, 6)) {
	case 0:
		munmap(page, ARENA_PAGE);
		break;
	case 1:
		madvise(page, ARENA_PAGE, MADV_DONTNEED);
		break;
	case 2:
		/* Frees the memory of all processes; they find zeroes. */
		madvise(arena->back + offset, ARENA_PAGE, MADV_REMOVE);
		break;
	case 3:
		mprotect(page, ARENA_PAGE, rng_pick(rng, protections));
		break;
	default:
		mmap(page, ARENA_PAGE, PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_FIXED, arena->fd, offset);
	}
}

/* Garbles a word of the argument that was put into racy memory last. */
static void garble_last(struct arena *arena, struct rng *rng)
{
	__u64 target = *racy_target(arena);
	size_t offset = target >> 32, words = (target & 0xffffffff) / 4;
	atomic_uint *word;
	__u32 old;

	/* The first page may itself have been garbled by the kernel. */
	if (offset % 8 || offset >= SHAKY || !words || words > 4096)
		return;
	/* Structures are short. Of an array, the first elements are enough. */
	word = (atomic_uint *)(arena->back + offset) +
	       rng_below(rng, words > 16 ? 16 : words);
	old = *word;
	*word = rng_hostile(rng);
	for (unsigned int i = rng_below(rng, 64); i; i--)
		atomic_signal_fence(memory_order_seq_cst);
	*word = old;
}

/**
 * arena_garble - change what other threads and processes are passing
 * @arena: the arena
 * @rng: the generator
 *
 * Writes hostile values and takes them back, many times in a row: the kernel must use the
 * value that it has checked. Takes some 100 us, so that there are calls meanwhile.
 */
void arena_garble(struct arena *arena, struct rng *rng)
{
	for (unsigned int i = 0; i < 2000; i++)
		garble_last(arena, rng);
}
