/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Disturbers: what is bad for timers, done to the machine and to the workers. torture.c
 * starts a process for each one that is wanted and that this kernel allows.
 */
#ifndef TORTURE_DISTURB_H
#define TORTURE_DISTURB_H

#include "seat.h"

/* Cgroups of the workers, which run.sh makes */
#define CGROUPS "/sys/fs/cgroup/torture/"
#define GROUPS 4

/**
 * struct disturber - something that disturbs
 * @name: its name
 * @possible: whether this kernel and this machine can do it; NULL: always
 * @run: does it until the run is over
 * @calm: undoes what may still be in force; NULL: nothing. Called after the process has
 *	ended
 * @times: number of times that it was done; shared
 * @refused: number of times that the kernel refused it; shared
 */
struct disturber {
	const char *name;
	bool (*possible)(void);
	void (*run)(struct disturber *disturber, struct rng *rng);
	void (*calm)(void);
	atomic_ulong *times;
	atomic_ulong *refused;
};

extern struct disturber disturbers[];
extern const unsigned int disturbers_count;

bool write_file(const char *path, const char *text);
bool cgroup_join(unsigned int group);
void disturb_allow_faults(void);

#endif /* TORTURE_DISTURB_H */
