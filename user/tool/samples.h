/* SPDX-License-Identifier: MIT */
/*
 * Takes samples of all instances, one after the other: now, or from a file with the output
 * of stats --json. Used by plot and metrics.
 */
#ifndef SAMPLES_H
#define SAMPLES_H

#include "instances.h"
#include "records.h"

#include <stdbool.h>

/**
 * struct samples - where samples come from
 * @records: the file; of use if @from
 * @from: whether there is a file
 * @interval: time between two samples that are taken now, ns
 * @count: number of samples that are taken now
 * @pid: process all of whose instances are in the samples that are taken now; 0: none
 * @taken: number of samples that were taken
 * @first: time of the first one, ns on CLOCK_MONOTONIC
 */
struct samples {
	struct records records;
	bool from;
	uint64_t interval;
	uint64_t count;
	pid_t pid;
	uint64_t taken;
	uint64_t first;
};

/* @from: name of the file; NULL: sample now. Ends the program on failure. */
struct samples samples_open(const char *from, uint64_t interval, uint64_t count,
			    pid_t pid);

/* Takes the next sample; returns false if there are no more. The caller frees it. */
bool samples_next(struct samples *samples, struct instances *instances);

void samples_close(struct samples *samples);

#endif /* SAMPLES_H */
