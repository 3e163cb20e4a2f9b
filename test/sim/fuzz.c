// SPDX-License-Identifier: GPL-2.0
/*
 * A run whose choices are bytes, for a fuzzer that is guided by coverage (AFL++).
 *
 *	usage: fuzz [--trace] FILE...	a run of each file, and a line of TAP for it
 *	       fuzz			a run of the standard input, as AFL++ does it
 *
 * The first bytes say what the run is like. Each of the following records of three bytes is
 * a choice: the number of a thread, modulo STREAMS, and a number of 16 bits. The scheduler
 * has number 0. So the choices of each thread and of the scheduler, which thread is next,
 * can be changed, put in and taken out without a change to those of the others. When a
 * thread has used up its choices, random numbers follow, from a seed in the first bytes.
 *
 * The oracle is that of all runs. A run that fails ends with status 1 or by a signal.
 */
#include <err.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim.h"
#include "world.h"

/* The scheduler, and threads that get choices of their own */
#define STREAMS 8

/* Longer inputs are cut off. */
#define INPUT_MAX 16384
#define RECORD 3

/* The first choices, which sim_run_choose() uses, and a seed after them */
#define HEAD 12
#define HEAD_BYTES (2 * HEAD + 1)

/* Operations of a run: few, so that there are many runs a second */
#define OPERATIONS 300

static uint8_t input[INPUT_MAX];
static uint16_t head[HEAD];
static uint16_t choices[STREAMS][INPUT_MAX / RECORD];
static size_t lengths[STREAMS];

static void script(struct sim_random *random, int thread)
{
	unsigned int stream = thread % STREAMS;

	/* The thread after the last one with a stream of its own begins at random. */
	if (thread >= STREAMS)
		return;
	random->script = choices[stream];
	random->script_end = choices[stream] + lengths[stream];
}

static uint16_t word(const uint8_t *bytes)
{
	return bytes[0] | bytes[1] << 8;
}

/* Distributes the input. Returns the seed of what comes after it. */
static uint8_t distribute(size_t size)
{
	size_t i;

	if (size < HEAD_BYTES)
		size = HEAD_BYTES;
	for (i = 0; i < HEAD; i++)
		head[i] = word(&input[2 * i]);
	for (i = HEAD_BYTES; i + RECORD <= size; i += RECORD) {
		unsigned int stream = input[i] % STREAMS;

		choices[stream][lengths[stream]++] = word(&input[i + 1]);
	}
	return input[HEAD_BYTES - 1];
}

/* Makes the run of an input of @size bytes. Does not return. */
static void run_input(size_t size, bool trace)
{
	struct sim_random random = { .script = head,
				     .script_end = head + HEAD };

	sim_run.seed = 1 + distribute(size);
	sim_run_choose(&random);
	sim_run.operations = OPERATIONS;
	sim_run.trace = trace;
	sim_script = script;
	sim_run_limit();
	sim_schedule(world_main, NULL);
	_exit(0);
}

static size_t read_input(int fd)
{
	size_t size = 0;
	ssize_t got;

	while ((got = read(fd, input + size, sizeof(input) - size)) > 0)
		size += got;
	return size;
}

/* Returns whether the run of a file succeeded. */
static bool run_file(const char *path, bool trace)
{
	int fd = open(path, O_RDONLY), status;
	size_t size;
	pid_t pid;

	if (fd < 0)
		err(2, "%s", path);
	size = read_input(fd);
	close(fd);
	fflush(stdout);
	pid = fork();
	if (pid < 0)
		err(2, "fork");
	if (!pid)
		run_input(size, trace);
	if (waitpid(pid, &status, 0) != pid)
		err(2, "waitpid");
	return !status;
}

static int run_files(char **paths, bool trace)
{
	unsigned int files = 0, failed = 0;

	for (; *paths; paths++) {
		bool good = run_file(*paths, trace);

		failed += !good;
		printf("%sok %u %s\n", good ? "" : "not ", ++files, *paths);
	}
	printf("1..%u\n", files);
	return failed || !files;
}

/* Addresses must be the same each time, as some of them decide what happens. */
static void fix_addresses(char **argv)
{
	int before = personality(0xffffffff);

	if (!(before & ADDR_NO_RANDOMIZE) &&
	    personality(before | ADDR_NO_RANDOMIZE) >= 0)
		execv("/proc/self/exe", argv);
}

int main(int argc, char **argv)
{
	bool trace = argc > 1 && !strcmp(argv[1], "--trace");

	if (argc > 1) {
		fix_addresses(argv);
		return run_files(argv + 1 + trace, trace);
	}
#ifdef __AFL_COMPILER
	__AFL_INIT();
#endif
	run_input(read_input(0), false);
}
