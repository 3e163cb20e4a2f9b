// SPDX-License-Identifier: MIT
/* The commands, and the texts of --help; see help.h. */
#include "help.h"
#include "commands.h"

#include <string.h>

const struct command help_commands[] = {
	{ "info", command_info, "",
	  "version and limits of the module, default wheel", "" },
	{ "stats", command_stats, "[--json]",
	  "counters of all instances that you may see",
	  "  -j, --json           print a JSON object on one line, with all counters\n" },
	{ "next", command_next, "[--count N] [--json]",
	  "the timers of all instances that expire next",
	  "  -n, --count N        at most N timers, 10 if not given\n"
	  "  -j, --json           print a JSON object for each timer, on a line of its own\n" },
	{ "owners", command_owners, "[--json]",
	  "what each user and cgroup uses, by the workers' time; for root",
	  "  -j, --json           print a JSON object on one line\n" },
	{ "watch", command_watch,
	  "[--interval TIME] [--count N] [--sort COLUMN]",
	  "live view of all instances: timers, rates, lateness; q quits",
	  "  -i, --interval TIME  time between two views, 1s if not given\n"
	  "  -n, --count N        end after N views\n"
	  "  -s, --sort COLUMN    pid, fd, command, pending (if not given), ready, sched,\n"
	  "                       cancel, expire, deliv, memory, late50 or late99\n" },
	{ "plot", command_plot,
	  "PICTURE.png|.svg [--seconds N] [--pid PID] [OPTION]...\n"
	  "       hwtimerctl plot PICTURE.png|.svg --from FILE [--pid PID]",
	  "record, and draw rates and lateness with gnuplot",
	  "  -s, --seconds N      how long to record, 10 if not given; also 1h30m\n"
	  "  -i, --interval TIME  time between two samples, 500ms if not given\n"
	  "  -f, --from FILE      draw lines of 'stats --json' instead; -: standard input\n"
	  "  -p, --pid PID        only the instances of this process\n"
	  "  -S, --script         print the input for gnuplot, and draw nothing\n" },
	{ "metrics", command_metrics, "[--output FILE] [--from FILE]",
	  "counters and lateness for Prometheus",
	  "  -o, --output FILE    replace FILE, at one go\n"
	  "  -f, --from FILE      show the last line of 'stats --json' in FILE\n" },
	{ "list", command_list, "PID FD | --fd N  [--sort] [--json]",
	  "the timers of an instance",
	  "  -f, --fd N           a descriptor that hwtimerctl has inherited\n"
	  "  -s, --sort           in the order of deadlines\n"
	  "  -j, --json           print a JSON object for each timer, on a line of its own\n" },
	{ "save", command_save, "PID FD FILE | --fd N FILE",
	  "write the timers of an instance to a file",
	  "  -f, --fd N           a descriptor that hwtimerctl has inherited\n" },
	{ "restore", command_restore,
	  "FILE [OPTION]... -- COMMAND...\n"
	  "       hwtimerctl restore FILE --check [--paused] [--limit N] [--if-exists]",
	  "give saved timers to a command, in a new instance",
	  "  -c, --check          only check the file, and say what is in it\n"
	  "  -e, --if-exists      a file that is not there is no error\n"
	  "  -p, --paused         each timer has the time left that it had\n"
	  "  -l, --limit N        the new instance's limit of timers\n"
	  "  -i, --ids FILE       write each timer's old and new id to FILE\n"
	  "  -n, --name NAME      name of the descriptor, hwtimer if not given\n" },
	{ "schedule", command_schedule,
	  "TIME [--repeat TIME [--count N]] [OPTION]...",
	  "schedule a timer, print a line for each event",
	  "  -r, --repeat TIME    make the timer periodic\n"
	  "  -n, --count N        end after N expirations\n"
	  "  -s, --slack TIME     the timer may be late by this much\n"
	  "  -c, --clock CLOCK    monotonic (if not given) or boottime\n" },
	{ NULL },
};

const struct command *help_find(const char *name)
{
	const struct command *command = help_commands;

	while (command->name && strcmp(name, command->name))
		command++;
	return command->name ? command : NULL;
}

static const char about_times[] =
	"\nTimes are written like 1.5s, 200ms, 50us, 1h30m; numbers like 1000, 64k, 1M.\n";

void help_all(FILE *to)
{
	const struct command *command;

	fputs("usage: hwtimerctl COMMAND [ARGUMENT]...\n\n", to);
	for (command = help_commands; command->name; command++)
		fprintf(to, "  %-9s %s\n", command->name, command->does);
	fputs("\n  -h, --help     print this; 'hwtimerctl COMMAND --help' says more\n"
	      "  -V, --version  print the version\n",
	      to);
	fputs(about_times, to);
}

void help_command(FILE *to, const struct command *command)
{
	fprintf(to, "usage: hwtimerctl %s %s\n\n%s\n\n", command->name,
		command->arguments, command->does);
	fputs(command->options, to);
	fputs("  -h, --help           print this\n", to);
	fputs(about_times, to);
}
