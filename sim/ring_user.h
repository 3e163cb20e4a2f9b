/* SPDX-License-Identifier: GPL-2.0 */
/*
 * <hwtimer_ring.h>, the code of programs for the rings, in the simulation: its system calls
 * are those of sim/device.c, and its accesses to shared words are points.
 */
#ifndef SIM_RING_USER_H
#define SIM_RING_USER_H

#include <sys/ioctl.h>
#include <sys/mman.h>

#include "sim.h"

int sim_ring_ioctl(int fd, unsigned long command, void *argument);
void *sim_ring_mmap(int fd, size_t bytes);
int sim_ring_munmap(void *memory, size_t bytes);

#define __atomic_load_n(p, order)                     \
	({                                            \
		__u32 load_value;                     \
		sim_point("ring: load");              \
		__atomic_load(p, &load_value, order); \
		load_value;                           \
	})
#define __atomic_store_n(p, value, order)               \
	do {                                            \
		__u32 store_value = (value);            \
		sim_point("ring: store");               \
		__atomic_store(p, &store_value, order); \
		sim_point("ring: stored");              \
	} while (0)

#define RING_IOCTL(fd, command, argument, ...) \
	sim_ring_ioctl(fd, command, argument)
#define ioctl(...) RING_IOCTL(__VA_ARGS__, NULL, NULL)
#define mmap(address, bytes, protection, flags, fd, offset) \
	sim_ring_mmap(fd, bytes)
#define munmap(memory, bytes) sim_ring_munmap(memory, bytes)

#include "../uapi/hwtimer_ring.h"

#undef __atomic_load_n
#undef __atomic_store_n
#undef ioctl
#undef mmap
#undef munmap

#endif /* SIM_RING_USER_H */
