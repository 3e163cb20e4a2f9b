/* SPDX-License-Identifier: MIT */
/*
 * Reads the output of hwtimerctl stats --json, of one run or of several in one file: an
 * object on each line. Used by plot and metrics. jansson parses it; a tool that was built
 * without that library says so, and reads nothing.
 */
#ifndef RECORDS_H
#define RECORDS_H

#include "instances.h"

#include <stdio.h>

/**
 * struct records - a file that is being read
 * @name: name of the file, for messages
 * @file: the file
 * @line: number of the line that was read last
 * @text: that line
 * @room: size of the memory of @text
 */
struct records {
	const char *name;
	FILE *file;
	unsigned int line;
	char *text;
	size_t room;
};

/* Opens a file, or standard input if its name is "-". Ends the program on failure. */
struct records records_open(const char *name);

/*
 * Reads the next sample; the caller frees it with instances_free(). Warns about a last line
 * that is cut, and ignores it: the program that wrote it may have been stopped. Returns
 * false at the end of the file. Ends the program if the file has other contents.
 */
bool records_next(struct records *records, struct instances *instances);

void records_close(struct records *records);

#endif /* RECORDS_H */
