// SPDX-License-Identifier: GPL-2.0
/*
 * Parses command lines; see parse.h.
 */
#include <ctype.h>
#include <err.h>
#include <errno.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "parse.h"

#define OPTIONS_MAX 32

void parse_flag(const struct parse_option *option, char *text)
{
	(void)text;
	*(bool *)option->value = true;
}

void parse_text(const struct parse_option *option, char *text)
{
	*(const char **)option->value = text;
}

static __u64 parse_number(const struct parse_option *option, char *text,
			  char **end)
{
	unsigned long long value;

	errno = 0;
	value = strtoull(text, end, 10);
	if (errno || !isdigit(*text) || value < option->min ||
	    value > option->max)
		errx(2, "--%s: from %llu to %llu, not '%s'", option->name,
		     option->min, option->max, text);
	return value;
}

static __u64 parse_one(const struct parse_option *option, char *text)
{
	char *end;
	__u64 value = parse_number(option, text, &end);

	if (*end)
		errx(2, "--%s: one number, not '%s'", option->name, text);
	return value;
}

void parse_u32(const struct parse_option *option, char *text)
{
	*(__u32 *)option->value = parse_one(option, text);
}

void parse_u64(const struct parse_option *option, char *text)
{
	*(__u64 *)option->value = parse_one(option, text);
}

void parse_list(const struct parse_option *option, char *text)
{
	struct list *list = option->value;

	list->count = 0;
	for (; list->count < option->most; text++) {
		list->values[list->count++] = parse_number(option, text, &text);
		if (*text != ',')
			break;
	}
	if (*text)
		errx(2,
		     "--%s: up to %u numbers, with commas between, not '...%s'",
		     option->name, option->most, text);
}

void parse_names(const struct parse_option *option, char *text)
{
	bool *listed = option->value;
	char *value;
	int nr;

	for (nr = 0; option->names[nr]; nr++)
		listed[nr] = false;
	while (*text) {
		nr = getsubopt(&text, option->names, &value);
		if (nr < 0)
			errx(2, "--%s: not '%s'", option->name, value);
		listed[nr] = true;
	}
}

static void show_help(FILE *out, const struct parse_option *options)
{
	char usage[64];

	fprintf(out, "%s [options]\n", program_invocation_short_name);
	for (; options->name; options++) {
		snprintf(usage, sizeof(usage), "%s %s", options->name,
			 options->argument ? options->argument : "");
		fprintf(out, "  --%-16s %s\n", usage, options->help);
	}
	fprintf(out, "  --%-16s %s\n", "help", "print this list");
}

void parse_options(const struct parse_option *options, int argc, char **argv)
{
	struct option names[OPTIONS_MAX + 2] = { 0 };
	int i, nr, result;

	for (i = 0; options[i].name && i < OPTIONS_MAX; i++)
		names[i] = (struct option){
			.name = options[i].name,
			.has_arg = !!options[i].argument,
		};
	names[i] = (struct option){ .name = "help", .val = 'h' };
	while ((result = getopt_long(argc, argv, "", names, &nr)) != -1) {
		if (result) {
			show_help(result == 'h' ? stdout : stderr, options);
			exit(result == 'h' ? 0 : 2);
		}
		options[nr].parse(&options[nr], optarg);
	}
	if (optind < argc)
		errx(2, "'%s': no arguments, only options", argv[optind]);
}
