// SPDX-License-Identifier: MIT
/* hwtimerctl info: prints the features and limits of the module. */
#include "../hwtimer_version.h"
#include "commands.h"
#include "units.h"

#include <err.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const struct {
	uint64_t bit;
	const char *name;
} features[] = {
	{ HWTIMER_FEATURE_HIERARCHICAL, "hierarchical" },
	{ HWTIMER_FEATURE_PERIODIC, "periodic" },
	{ HWTIMER_FEATURE_CLOCKS, "clocks" },
	{ HWTIMER_FEATURE_SLACK, "slack" },
	{ HWTIMER_FEATURE_NOTIFY, "notify" },
	{ HWTIMER_FEATURE_RINGS, "rings" },
	{ HWTIMER_FEATURE_BULK, "bulk" },
	{ HWTIMER_FEATURE_LIST, "list" },
	{ HWTIMER_FEATURE_COMPACT_SLOTS, "compact-slots" },
	{ HWTIMER_FEATURE_REARM, "rearm" },
	{ HWTIMER_FEATURE_CANCEL_ALL, "cancel-all" },
	{ HWTIMER_FEATURE_NEXT, "next" },
	{ HWTIMER_FEATURE_BULK_PERIODIC, "bulk-periodic" },
};

static void show_features(uint64_t bits)
{
	unsigned int i;

	fputs("features       ", stdout);
	for (i = 0; i < sizeof(features) / sizeof(features[0]); i++) {
		if (bits & features[i].bit)
			printf(" %s", features[i].name);
		bits &= ~features[i].bit;
	}
	if (bits)
		printf(" and unknown bits %#" PRIx64, bits);
	putchar('\n');
}

/* The module says its version in sysfs, which a container may not have. */
static void show_version(void)
{
	FILE *file = fopen("/sys/module/hwtimer/version", "re");
	char version[64] = "";

	if (file && fgets(version, sizeof(version), file))
		version[strcspn(version, "\n")] = '\0';
	if (file)
		fclose(file);
	printf("version         %s (module), %s (hwtimerctl)\n",
	       *version ? version : "unknown", HWTIMER_VERSION);
}

static const char *kind_name(unsigned int kind)
{
	return kind == HWTIMER_KIND_HASHED ? "hashed" : "hierarchical";
}

int command_info(int argc, char **argv)
{
	char tick[UNITS_ROOM], min[UNITS_ROOM], max[UNITS_ROOM];
	struct hwtimer_info info;
	struct hwt *hwt;
	int error;

	no_arguments(argc, argv);
	hwt = open_device();
	error = -hwt_info(hwt, &info);
	if (error)
		errx(1, "HWTIMER_IOC_INFO: %s", strerror(error));
	show_version();
	printf("ABI             %u\n", info.abi_version);
	show_features(info.features);
	printf("wheel           %s, %u buckets, %u level%s, tick %s (default of SETUP)\n",
	       kind_name(info.kind), info.buckets, info.levels,
	       info.levels == 1 ? "" : "s", units_format_time(info.tick, tick));
	printf("ticks           %s to %s\n",
	       units_format_time(info.tick_min, min),
	       units_format_time(info.tick_max, max));
	printf("buckets         %u to %u\n", info.buckets_min,
	       info.buckets_max);
	printf("timers          %llu per instance, at most %llu\n", info.timers,
	       info.timers_max);
	hwt_close(hwt);
	return 0;
}
