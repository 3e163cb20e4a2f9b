// SPDX-License-Identifier: MIT
/*
 * hwtimerctl restore: makes an instance of a file of hwtimerctl save, and runs a command
 * that inherits it. The file is read twice: what it says is checked and counted before
 * anything is created, and no memory is needed for its timers.
 */
#include "clocks.h"
#include "commands.h"
#include "handover.h"
#include "replacement.h"
#include "revival.h"
#include "snapshot.h"
#include "units.h"

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Number of timers that are scheduled with one system call */
#define BATCH 1024

/**
 * struct restore - the arguments
 * @path: the file
 * @command: the command that inherits the instance, with its arguments
 * @name: name of the descriptor
 * @ids: file for the pairs of old and new ids; NULL: none
 * @limit: limit of timers of the instance; 0: as it was
 * @check: only check the file
 * @if_exists: a missing file is no error
 * @paused: give each timer the time that it had left at the save
 */
struct restore {
	const char *path;
	char **command;
	const char *name;
	const char *ids;
	uint32_t limit;
	bool check;
	bool if_exists;
	bool paused;
};

/**
 * struct source - a file of hwtimerctl save
 * @path: its name
 * @file: the file
 * @reader: where its next line is read
 * @sum: checksum of the whole file, once it was checked
 * @revival: how times change
 */
struct source {
	const char *path;
	FILE *file;
	struct snapshot_reader reader;
	uint32_t sum;
	struct revival revival;
};

/*
 * Takes what is to be scheduled for a line of the file. @old_id: id of the timer that
 * @request makes go on; 0: @request brings only an event.
 */
typedef void (*take_fn)(void *arg, const struct hwtimer_request *request,
			uint64_t old_id);

/* ---- arguments ---- */

static void parse_operands(struct restore *restore, int argc, char **argv)
{
	bool dashes = optind > 1 && !strcmp(argv[optind - 1], "--");

	if (optind == argc)
		usage("the name of a file of 'hwtimerctl save' is missing");
	restore->path = argv[optind];
	restore->command = argv + optind + 1;
	if (*restore->command && !dashes)
		usage("-- must be before the command: %s", *restore->command);
	if (restore->check && *restore->command)
		usage("--check takes no command");
	if (!restore->check && !*restore->command)
		usage("-- and a command are missing: an instance ends with its last descriptor");
}

static struct restore parse(int argc, char **argv)
{
	static const struct option options[] = {
		{ "check", no_argument, NULL, 'c' },
		{ "if-exists", no_argument, NULL, 'e' },
		{ "paused", no_argument, NULL, 'p' },
		{ "limit", required_argument, NULL, 'l' },
		{ "ids", required_argument, NULL, 'i' },
		{ "name", required_argument, NULL, 'n' },
		OPTION_HELP,
		OPTION_END,
	};
	struct restore restore = { .name = "hwtimer" };
	int option;

	while ((option = next_option(argc, argv, ":hcepl:i:n:", options)) != -1)
		switch (option) {
		case 'c':
			restore.check = true;
			break;
		case 'e':
			restore.if_exists = true;
			break;
		case 'p':
			restore.paused = true;
			break;
		case 'l':
			restore.limit = count_argument("--limit", optarg);
			break;
		case 'i':
			restore.ids = optarg;
			break;
		case 'n':
			handover_check_name(optarg);
			restore.name = optarg;
			break;
		}
	parse_operands(&restore, argc, argv);
	return restore;
}

/* ---- the file ---- */

static void __attribute__((noreturn)) refuse(const struct source *source)
{
	errx(1, "%s:%lu: %s", source->path, source->reader.line,
	     source->reader.problem);
}

/* Returns false if the file is missing and may be. A FIFO must not hold this up. */
static bool source_open(struct source *source, const struct restore *restore)
{
	int fd = open(restore->path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	struct stat st;

	if (fd < 0 && errno == ENOENT && restore->if_exists)
		return false;
	if (fd < 0 || fstat(fd, &st))
		err(1, "%s", restore->path);
	if (!S_ISREG(st.st_mode))
		errx(1, "%s is not a regular file", restore->path);
	*source = (struct source){ .path = restore->path };
	source->file = fdopen(fd, "r");
	if (!source->file)
		err(1, "%s", restore->path);
	return true;
}

static void source_rewind(struct source *source)
{
	rewind(source->file);
	if (!snapshot_read_header(&source->reader, source->file))
		refuse(source);
}

static void source_close(struct source *source)
{
	fclose(source->file);
}

/* Reads the whole file, and refuses it if it is damaged. */
static void source_check(struct source *source)
{
	struct snapshot_timer timer;
	enum snapshot_record kind;

	source_rewind(source);
	while ((kind = snapshot_read(&source->reader, &timer)) != SNAPSHOT_END)
		if (kind == SNAPSHOT_WRONG)
			refuse(source);
	source->sum = source->reader.sum;
}

/* ---- what is to be scheduled ---- */

static void take_timer(struct source *source,
		       const struct snapshot_timer *timer, take_fn take,
		       void *arg)
{
	struct hwtimer_request requests[2];

	if (revival_timer(&source->revival, timer, requests) == 2)
		take(arg, &requests[1], 0);
	take(arg, &requests[0], timer->id);
}

/* Calls @take for all that is to be scheduled. The file was checked before. */
static void source_take(struct source *source, take_fn take, void *arg)
{
	struct snapshot_timer timer;
	enum snapshot_record kind;

	source_rewind(source);
	while ((kind = snapshot_read(&source->reader, &timer)) != SNAPSHOT_END)
		if (kind == SNAPSHOT_WRONG)
			refuse(source);
		else
			take_timer(source, &timer, take, arg);
	if (source->reader.sum != source->sum)
		errx(1, "%s has changed while it was read", source->path);
}

/* ---- what can be restored ---- */

/* Returns the limit of timers of the new instance. */
static uint64_t limit_of(const struct source *source,
			 const struct restore *restore)
{
	return restore->limit ? restore->limit :
				source->reader.header.setup.timers;
}

/* The number of lines is not all of it: flush() finds the rest. */
static void check_limit(const struct source *source, uint64_t limit)
{
	uint64_t timers = source->reader.timers;

	if (timers > limit)
		errx(1,
		     "%s has %" PRIu64
		     " timers, more than the limit of %" PRIu64
		     ": --limit allows more",
		     source->path, timers, limit);
}

/* The pairs of ids would replace the timers. */
static void check_ids(const struct source *source, const char *ids)
{
	struct stat timers, st;

	if (!ids || stat(ids, &st) || fstat(fileno(source->file), &timers))
		return;
	if (st.st_dev == timers.st_dev && st.st_ino == timers.st_ino)
		errx(1, "--ids: %s is the file with the timers: name another",
		     ids);
}

/* Refuses what cannot be restored, before anything is created. */
static void source_prepare(struct source *source, const struct restore *restore)
{
	const struct snapshot_header *header = &source->reader.header;
	struct moment now;

	check_ids(source, restore->ids);
	source_check(source);
	check_limit(source, limit_of(source, restore));
	now = clocks_moment(header->setup.clock);
	source->revival = revival_of(header, &now, restore->paused);
	if (source->revival.set_back)
		warnx("%s: the clock was set back: time since the save counts as none",
		      source->path);
}

/* ---- check ---- */

/**
 * struct tally - what restore would do now
 * @now: time on the clock of the instance, ns
 * @timers: number of timers
 * @due: of these, timers that are due already
 */
struct tally {
	int64_t now;
	uint64_t timers;
	uint64_t due;
};

static void count(void *arg, const struct hwtimer_request *request,
		  uint64_t old_id)
{
	struct tally *tally = arg;

	(void)old_id;
	tally->timers++;
	tally->due += request->time <= tally->now;
}

static void show_summary(struct source *source)
{
	const struct snapshot_header *header = &source->reader.header;
	struct tally tally = { .now = source->revival.now };
	char passed[UNITS_ROOM], saved[32] = "";
	time_t seconds = header->real_now / 1000000000;
	struct tm date;

	if (localtime_r(&seconds, &date))
		strftime(saved, sizeof(saved), " %Y-%m-%d %H:%M:%S", &date);
	printf("%s: saved%s, %s boot, clock %s, limit of %llu timers\n",
	       source->path, saved,
	       source->revival.same_boot ? "this" : "another",
	       snapshot_clock_name(header->setup.clock), header->setup.timers);
	source_take(source, count, &tally);
	printf("%s: %" PRIu64 " timers, of which %" PRIu64
	       " are due, %s after the save\n",
	       source->path, tally.timers, tally.due,
	       units_format_time(source->revival.passed, passed));
}

/* ---- restore ---- */

/**
 * struct sink - the new instance, and what is about to be scheduled in it
 * @hwt: the instance
 * @limit: its limit of timers
 * @path: name of the file with the timers
 * @requests: the next timers
 * @old_ids: for each of @requests, the id that the timer had; 0: none
 * @count: number of @requests
 * @restored: number of timers that were scheduled
 * @ids: file for pairs of ids, or NULL
 */
struct sink {
	struct hwt *hwt;
	uint64_t limit;
	const char *path;
	struct hwtimer_request requests[BATCH];
	uint64_t old_ids[BATCH];
	unsigned int count;
	uint64_t restored;
	FILE *ids;
};

static struct hwt *new_instance(const struct source *source,
				const struct restore *restore)
{
	struct hwtimer_setup setup = source->reader.header.setup;
	struct hwt *hwt = open_device();
	int error;

	if (restore->limit)
		setup.timers = restore->limit;
	error = -hwt_setup(hwt, &setup);
	if (error == EINVAL)
		errx(1,
		     "%s: the module refuses the settings: 'hwtimerctl info' prints what it takes; --limit changes the limit of %llu timers",
		     source->path, setup.timers);
	if (error)
		errx(1, "%s: HWTIMER_IOC_SETUP: %s", source->path,
		     strerror(error));
	if (source->reader.header.nonblock &&
	    fcntl(hwt_fd(hwt), F_SETFL, O_RDWR | O_NONBLOCK))
		err(1, "O_NONBLOCK");
	return hwt;
}

/* The error of a timer ends the program, and with it the instance and its timers. */
static void __attribute__((noreturn))
refused(const struct sink *sink, int error)
{
	if (error != ENOSPC)
		errx(1, "%s: cannot schedule a timer: %s", sink->path,
		     strerror(error));
	errx(1,
	     "%s has more timers than the limit of %" PRIu64
	     ": --limit allows more",
	     sink->path, sink->limit);
}

/* Schedules what has been collected. */
static void flush(struct sink *sink)
{
	unsigned int i;
	int done = hwt_submit(sink->hwt, sink->requests, sink->count);

	if (done < 0)
		refused(sink, -done);
	for (i = 0; i < (unsigned int)done; i++)
		if (sink->requests[i].result)
			refused(sink, -sink->requests[i].result);
	if (i < sink->count)
		refused(sink, ENOMEM);
	for (i = 0; sink->ids && i < sink->count; i++)
		if (sink->old_ids[i] &&
		    fprintf(sink->ids, "%" PRIu64 " %llu\n", sink->old_ids[i],
			    sink->requests[i].id) < 0)
			replacement_failed();
	sink->restored += sink->count;
	sink->count = 0;
}

static void collect(void *arg, const struct hwtimer_request *request,
		    uint64_t old_id)
{
	struct sink *sink = arg;

	sink->requests[sink->count] = *request;
	sink->old_ids[sink->count++] = old_id;
	if (sink->count == BATCH)
		flush(sink);
}

/* Returns the new instance with all timers. The file was prepared before. */
static struct hwt *revive(struct source *source, const struct restore *restore)
{
	static struct sink sink;

	sink.path = restore->path;
	sink.limit = limit_of(source, restore);
	sink.hwt = new_instance(source, restore);
	if (restore->ids)
		sink.ids = replacement_open(restore->ids);
	source_take(source, collect, &sink);
	flush(&sink);
	if (sink.ids)
		replacement_commit();
	fprintf(stderr, "hwtimerctl: %s: restored %" PRIu64 " timers\n",
		sink.path, sink.restored);
	return sink.hwt;
}

/*
 * Without a file, the command opens an instance of its own. It must not find the pairs of
 * ids of an earlier one.
 */
static int run_without_timers(const struct restore *restore)
{
	fprintf(stderr, "hwtimerctl: %s does not exist: no timers\n",
		restore->path);
	if (restore->check)
		return 0;
	if (restore->ids) {
		replacement_open(restore->ids);
		replacement_commit();
	}
	fflush(NULL);
	execvp(restore->command[0], restore->command);
	err(1, "%s", restore->command[0]);
}

int command_restore(int argc, char **argv)
{
	struct restore restore = parse(argc, argv);
	int number = restore.check ? 0 : handover_number();
	struct source source;
	struct hwt *hwt;

	if (!source_open(&source, &restore))
		return run_without_timers(&restore);
	source_prepare(&source, &restore);
	if (restore.check) {
		show_summary(&source);
		source_close(&source);
		return 0;
	}
	hwt = revive(&source, &restore);
	source_close(&source);
	handover_run(hwt_fd(hwt), number, restore.name, restore.command);
}
