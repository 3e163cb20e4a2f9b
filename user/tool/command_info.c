// SPDX-License-Identifier: MIT
/* hwtimerctl info: prints the limits of the module, and the default wheel. */
#include "../../version.h"
#include "commands.h"
#include "units.h"

#include <err.h>
#include <stdio.h>
#include <string.h>

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
	printf("wheel           %u buckets, tick %s (default of SETUP)\n",
	       info.buckets, units_format_time(info.tick, tick));
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
