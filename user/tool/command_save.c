// SPDX-License-Identifier: MIT
/* hwtimerctl save: writes the timers of an instance to a file, and takes none. */
#include "clocks.h"
#include "commands.h"
#include "listing.h"
#include "replacement.h"
#include "snapshot.h"

#include <err.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <string.h>

/**
 * struct save - the arguments
 * @place: the instance
 * @path: the file
 */
struct save {
	struct place place;
	const char *path;
};

static struct save parse(int argc, char **argv)
{
	static const struct option options[] = {
		{ "fd", required_argument, NULL, 'f' },
		OPTION_HELP,
		OPTION_END,
	};
	const char *inherited = NULL;
	struct save save;

	while (next_option(argc, argv, ":hf:", options) != -1)
		inherited = optarg;
	if (optind == argc)
		usage("the name of a file is missing");
	save.path = argv[argc - 1];
	save.place =
		place_arguments(argc - 1 - optind, argv + optind, inherited);
	return save;
}

/* ---- the header ---- */

static struct hwtimer_setup settings_of(struct hwt *hwt)
{
	struct hwtimer_info info;
	int error = -hwt_info(hwt, &info);

	if (error)
		errx(1, "HWTIMER_IOC_INFO: %s", strerror(error));
	if (!snapshot_clock_name(info.clock) ||
	    info.flags & ~(HWTIMER_SETUP_REPORT_CLOCK_SET |
			   HWTIMER_SETUP_AT_LEAST_ONCE))
		errx(1,
		     "the instance has settings of a newer module: install the same version of both");
	return (struct hwtimer_setup){
		.flags = info.flags,
		.tick = info.tick,
		.buckets = info.buckets,
		.clock = info.clock,
		.timers = info.timers,
	};
}

static struct snapshot_header header_of(struct hwt *hwt)
{
	struct snapshot_header header = { .setup = settings_of(hwt) };
	struct moment now = clocks_moment(header.setup.clock);

	memcpy(header.boot_id, now.boot_id, sizeof(now.boot_id));
	header.clock_now = now.clock_now;
	header.real_now = now.real_after;
	header.clock_offset = now.clock_offset;
	header.nonblock = fcntl(hwt_fd(hwt), F_GETFL) & O_NONBLOCK;
	return header;
}

/* ---- timers ---- */

/*
 * An instance keeps the clock of the time namespace in which it was opened, and does not
 * tell which that is. A list does: it shows the time at which it was made.
 */
static void check_clock(const struct listing *listing, uint32_t clock,
			uint64_t begin)
{
	/* Clocks that may be set have no namespaces. */
	if (listing->now && !snapshot_clock_may_be_set(clock) &&
	    (listing->now < begin || listing->now > clocks_now(clock)))
		errx(1,
		     "the instance was opened in another time namespace: run hwtimerctl there, with 'nsenter --time --target PID'");
}

static void save_timer(struct snapshot_writer *writer,
		       const struct hwtimer_timer *listed)
{
	const struct snapshot_timer timer = {
		.id = listed->id,
		.user_data = listed->user_data,
		.deadline = listed->deadline,
		.interval = listed->interval,
		.slack = listed->slack,
		.count = listed->expirations_left,
		.flags = listed->flags,
		.state = listed->state,
	};

	if (!snapshot_write_timer(writer, &timer))
		replacement_failed();
}

static void save_timers(struct snapshot_writer *writer, struct hwt *hwt,
			uint32_t clock)
{
	struct listing *listing = listing_open(hwt);
	uint64_t begin = clocks_now(clock);
	unsigned int i, count;

	while ((count = listing_next(listing))) {
		check_clock(listing, clock, begin);
		for (i = 0; i < count; i++)
			save_timer(writer, &listing->page[i]);
	}
	listing_close(listing);
}

int command_save(int argc, char **argv)
{
	struct save save = parse(argc, argv);
	struct hwt *hwt = place_need(&save.place);
	struct snapshot_header header = header_of(hwt);
	struct snapshot_writer writer = {
		.file = replacement_open(save.path),
	};

	if (!snapshot_write_header(&writer, &header))
		replacement_failed();
	save_timers(&writer, hwt, header.setup.clock);
	if (!snapshot_write_end(&writer))
		replacement_failed();
	replacement_commit();
	printf("%s: %" PRIu64 " timers\n", save.path, writer.timers);
	hwt_close(hwt);
	return 0;
}
