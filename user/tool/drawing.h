/* SPDX-License-Identifier: MIT */
/* Has gnuplot draw what was sampled. Used by plot. */
#ifndef DRAWING_H
#define DRAWING_H

#include "change.h"

#include <stdio.h>

/**
 * struct point - what happened between two samples
 * @time: time of the second sample, s after the first of all. If the machine was
 *	restarted between two samples, the time between them is unknown, and left out
 * @change: change of all instances together
 */
struct point {
	double time;
	struct change change;
};

/**
 * struct curve - the data of the picture
 * @points: points in the order of time
 * @count: number of points
 * @seen: number of instances in all samples together
 * @most: largest number of instances in a sample
 * @realtime: time of the first sample, ns on CLOCK_REALTIME; 0: unknown
 * @host: name of the machine
 * @svg: the picture is an SVG, not a PNG
 */
struct curve {
	struct point *points;
	unsigned int count;
	unsigned int seen;
	unsigned int most;
	uint64_t realtime;
	char host[65];
	bool svg;
};

/* Ends the program if gnuplot is not installed. */
void drawing_need_gnuplot(void);

/*
 * Writes the input for gnuplot. @picture: the file that gnuplot is to write; NULL: its
 * standard output
 */
void drawing_put_script(FILE *to, const struct curve *curve,
			const char *picture);

/*
 * Runs gnuplot, and writes what it draws to @picture, a file of replacement_open(); returns
 * whether gnuplot has succeeded.
 */
bool drawing_run(const struct curve *curve, FILE *picture);

#endif /* DRAWING_H */
