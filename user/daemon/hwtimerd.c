// SPDX-License-Identifier: MIT
/* hwtimerd: fires timers that are kept in Redis; see hwtimerd(8). */
#include "commands.h"
#include "functions.h"
#include "tls.h"

#include <libhwtimer.h>
#include <programs.h>

#include <stdio.h>
#include <string.h>

static const struct command {
	const char *name;
	int (*run)(const struct options *options);
} commands[] = {
	{ "load", command_load },
	{ "serve", command_serve },
	{ "status", command_status },
};

#define NR_COMMANDS (sizeof(commands) / sizeof(commands[0]))

static const char help[] =
	"usage: hwtimerd COMMAND [OPTION...]\n"
	"\n"
	"  load      install the functions in Redis\n"
	"  serve     fire timers\n"
	"  status    show the queues' shards, and who serves them\n"
	"\n"
	"  --redis ADDRESS[,ADDRESS...]       servers of Redis: HOST[:PORT], unix:/PATH,\n"
	"                                     redis://HOST[:PORT][/DB], rediss://...\n"
	"                                     (default 127.0.0.1:6379)\n"
	"  --db NUMBER                        database of Redis (0)\n"
	"  --queue NAME:SHARDS                a queue (repeatable)\n"
	"  --name NAME                        name of this daemon, which no other has\n"
	"  --user USER --password-file FILE   who we are\n"
	"  --tls [--tls-ca FILE] [--tls-cert FILE --tls-key FILE]\n"
	"  --lease MS                         time until others take over (5000)\n"
	"  --pace MS                          time between two looks at a shard (5)\n"
	"  --max-id BYTES                     longest id of a timer (256)\n"
	"  --max-payload BYTES                longest payload of a timer (65536)\n"
	"  --metrics PATH|HOST:PORT           socket for OpenMetrics over HTTP\n"
	"  --keep                             leave what is acknowledged in the streams\n"
	"  --serve-always                     serve all shards, whatever other daemons do\n"
	"  --help, --version                  print this, print the version\n"
	"\n"
	"See hwtimerd(8).\n";

static int run(const struct command *command, int argc, char **argv)
{
	struct options options;

	options_parse(&options, argc, argv);
	if (options.help) {
		fputs(help, stdout);
		return 0;
	}
	return tls_init(&options) ? command->run(&options) : 1;
}

int main(int argc, char **argv)
{
	unsigned int i;

	fill_standard_descriptors();
	if (argc < 2)
		usage("a command is missing");
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "help")) {
		fputs(help, stdout);
		return finish(0);
	}
	if (!strcmp(argv[1], "--version")) {
		printf("hwtimerd %s, with libhwtimer %u.%u\n",
		       functions_version, hwt_version() >> 16,
		       hwt_version() & 0xffff);
		return finish(0);
	}
	for (i = 0; i < NR_COMMANDS; i++)
		if (!strcmp(commands[i].name, argv[1]))
			return finish(run(&commands[i], argc - 1, argv + 1));
	usage("unknown command: %s", argv[1]);
}
