// SPDX-License-Identifier: MIT
/* Parses the command line; see options.h. */
#include "options.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DEFAULT_PORT 6379
#define DEFAULT_LEASE 5000
#define DEFAULT_PACE 16
#define DEFAULT_AHEAD 2000
#define DEFAULT_MAX_CLOCK_OFFSET 60000
#define WIDTH_MAX (1ULL << 30)
#define HOUR_MS 3600000ULL
#define OFFSET_MAX (1000000 * HOUR_MS)

enum {
	OPTION_REDIS = 1,
	OPTION_QUEUE,
	OPTION_NAME,
	OPTION_USER,
	OPTION_PASSWORD_FILE,
	OPTION_TLS,
	OPTION_TLS_CA,
	OPTION_TLS_CERT,
	OPTION_TLS_KEY,
	OPTION_LEASE,
	OPTION_PACE,
	OPTION_AHEAD,
	OPTION_MAX_CLOCK_OFFSET,
	OPTION_METRICS,
	OPTION_KEEP,
	OPTION_SERVE_ALWAYS,
	OPTION_HELP,
};

static const struct option known[] = {
	{ "redis", required_argument, NULL, OPTION_REDIS },
	{ "queue", required_argument, NULL, OPTION_QUEUE },
	{ "name", required_argument, NULL, OPTION_NAME },
	{ "user", required_argument, NULL, OPTION_USER },
	{ "password-file", required_argument, NULL, OPTION_PASSWORD_FILE },
	{ "tls", no_argument, NULL, OPTION_TLS },
	{ "tls-ca", required_argument, NULL, OPTION_TLS_CA },
	{ "tls-cert", required_argument, NULL, OPTION_TLS_CERT },
	{ "tls-key", required_argument, NULL, OPTION_TLS_KEY },
	{ "lease", required_argument, NULL, OPTION_LEASE },
	{ "pace", required_argument, NULL, OPTION_PACE },
	{ "ahead", required_argument, NULL, OPTION_AHEAD },
	{ "max-clock-offset", required_argument, NULL,
	  OPTION_MAX_CLOCK_OFFSET },
	{ "metrics", required_argument, NULL, OPTION_METRICS },
	{ "keep", no_argument, NULL, OPTION_KEEP },
	{ "serve-always", no_argument, NULL, OPTION_SERVE_ALWAYS },
	{ "help", no_argument, NULL, OPTION_HELP },
	{ NULL, 0, NULL, 0 },
};

/* Copies as much of @text as there is room for. */
void copy_text(char *room, size_t size, const char *text)
{
	snprintf(room, size, "%s", text);
}

void usage(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	fputs("hwtimerd: ", stderr);
	vfprintf(stderr, format, arguments);
	fputs("\n'hwtimerd --help' lists the commands and options.\n", stderr);
	va_end(arguments);
	exit(2);
}

/* Parses the decimal number in the first @length bytes of @text. */
static bool number_parse(const char *text, size_t length, uint64_t *number)
{
	size_t i;

	*number = 0;
	if (!length || length > 18)
		return false;
	for (i = 0; i < length; i++) {
		if (!isdigit((unsigned char)text[i]))
			return false;
		*number = *number * 10 + (text[i] - '0');
	}
	return true;
}

static uint64_t number_argument(const char *option, const char *text,
				uint64_t min, uint64_t max)
{
	uint64_t number;

	if (!number_parse(text, strlen(text), &number) || number < min ||
	    number > max)
		usage("--%s: \"%s\" is not a number from %llu to %llu", option,
		      text, (unsigned long long)min, (unsigned long long)max);
	return number;
}

/* Copies @length bytes; returns whether they fit and are none that harm. */
static bool take_name(char *room, size_t size, const char *text, size_t length,
		      const char *refused)
{
	size_t i;

	if (!length || length >= size)
		return false;
	for (i = 0; i < length; i++) {
		unsigned char byte = text[i];

		if (byte <= ' ' || byte == 0x7f || strchr(refused, byte))
			return false;
	}
	memcpy(room, text, length);
	room[length] = '\0';
	return true;
}

/**
 * address_parse - parse HOST[:PORT]
 * @address: out: the address
 * @text: the text; an IPv6 address with a port is written [ADDRESS]:PORT. The last
 *	colon counts if there is no bracket, as Redis writes MOVED
 * @length: length of @text
 *
 * Return: whether @text is an address.
 */
bool address_parse(struct address *address, const char *text, size_t length)
{
	const char *colon = memrchr(text, ':', length);
	size_t host = colon ? (size_t)(colon - text) : length;
	uint64_t port = DEFAULT_PORT;

	if (length && text[length - 1] == ']') {
		colon = NULL;
		host = length;
	}
	if (colon && (!number_parse(colon + 1, length - host - 1, &port) ||
		      !port || port > UINT16_MAX))
		return false;
	if (host > 2 && text[0] == '[' && text[host - 1] == ']') {
		text++;
		host -= 2;
	}
	address->port = port;
	return take_name(address->host, sizeof(address->host), text, host,
			 "[]/@");
}

/* An empty text is an address that is missing: of a variable of a shell, say. */
static void take_addresses(struct options *options, const char *text)
{
	do {
		size_t length = strcspn(text, ",");

		if (options->nr_addresses == ADDRESSES_MAX)
			usage("--redis: more than %d addresses", ADDRESSES_MAX);
		if (!address_parse(&options->addresses[options->nr_addresses++],
				   text, length))
			usage("--redis: \"%.*s\" is not HOST:PORT", (int)length,
			      text);
		text += length + (text[length] == ',');
	} while (*text);
}

/* A brace in a name would move the hash tag, and with it the shard's node. */
static bool queue_parse(struct queue_options *queue, const char *text)
{
	size_t name = strcspn(text, ":"), shards;
	uint64_t number;

	if (!take_name(queue->name, sizeof(queue->name), text, name,
		       "{}\"\\") ||
	    !text[name])
		return false;
	text += name + 1;
	shards = strcspn(text, ":");
	if (!number_parse(text, shards, &number) || number < 1 ||
	    number > SHARDS_MAX)
		return false;
	queue->shards = number;
	queue->width = 0;
	if (!text[shards])
		return true;
	text += shards + 1;
	return number_parse(text, strlen(text), &queue->width) &&
	       queue->width && queue->width <= WIDTH_MAX &&
	       !(queue->width & (queue->width - 1));
}

static void take_queue(struct options *options, const char *text)
{
	struct queue_options *queue = &options->queues[options->nr_queues];
	unsigned int i;

	if (options->nr_queues == QUEUES_MAX)
		usage("more than %d queues: start another daemon for the others",
		      QUEUES_MAX);
	if (!queue_parse(queue, text))
		usage("--queue: \"%s\" is not NAME:SHARDS[:WIDTH]; NAME is up to %d bytes\n"
		      "without spaces, braces, quotes, backslashes and colons, SHARDS 1 to %d, WIDTH a power of two of ms",
		      text, NAME_ROOM - 1, SHARDS_MAX);
	for (i = 0; i < options->nr_queues; i++)
		if (!strcmp(options->queues[i].name, queue->name))
			usage("--queue: %s is there twice", queue->name);
	options->nr_queues++;
}

static void take_option(struct options *options, int option, const char *text)
{
	uint64_t number;

	switch (option) {
	case OPTION_REDIS:
		take_addresses(options, text);
		break;
	case OPTION_QUEUE:
		take_queue(options, text);
		break;
	case OPTION_NAME:
		if (!take_name(options->name, sizeof(options->name), text,
			       strlen(text), ""))
			usage("--name: up to %d bytes without spaces",
			      NAME_ROOM - 1);
		break;
	case OPTION_USER:
		options->user = text;
		break;
	case OPTION_PASSWORD_FILE:
		options->password_file = text;
		break;
	case OPTION_TLS:
		options->tls = true;
		break;
	case OPTION_TLS_CA:
		options->tls_ca = text;
		break;
	case OPTION_TLS_CERT:
		options->tls_cert = text;
		break;
	case OPTION_TLS_KEY:
		options->tls_key = text;
		break;
	case OPTION_LEASE:
		options->lease = number_argument("lease", text, 100, HOUR_MS);
		break;
	case OPTION_PACE:
		options->pace = number_argument("pace", text, 0, HOUR_MS);
		break;
	case OPTION_AHEAD:
		options->ahead = number_argument("ahead", text, 1, HOUR_MS);
		break;
	case OPTION_MAX_CLOCK_OFFSET:
		number = number_argument("max-clock-offset", text, 1,
					 OFFSET_MAX);
		options->max_clock_offset = number;
		break;
	case OPTION_METRICS:
		options->metrics = text;
		break;
	case OPTION_KEEP:
		options->keep = true;
		break;
	case OPTION_SERVE_ALWAYS:
		options->serve_always = true;
		break;
	case OPTION_HELP:
		options->help = true;
		break;
	}
}

/* A daemon that died must not be taken for this one, so the name has the process id. */
static void choose_name(struct options *options)
{
	char host[NAME_ROOM - 12] = "";

	gethostname(host, sizeof(host) - 1);
	snprintf(options->name, sizeof(options->name), "%s:%d",
		 *host ? host : "daemon", getpid());
}

static void check_together(const struct options *options)
{
	if (options->user && !options->password_file)
		usage("--user needs --password-file");
	if (!options->tls &&
	    (options->tls_ca || options->tls_cert || options->tls_key))
		usage("--tls-ca, --tls-cert and --tls-key need --tls");
	if (!options->tls_cert != !options->tls_key)
		usage("--tls-cert and --tls-key need each other");
}

/**
 * options_parse - parse the options of a command; ends the program if one is wrong
 * @options: out: the options
 * @argc: number of arguments, of which the first is the command
 * @argv: the arguments
 */
void options_parse(struct options *options, int argc, char **argv)
{
	int option;

	*options = (struct options){
		.lease = DEFAULT_LEASE,
		.pace = DEFAULT_PACE,
		.ahead = DEFAULT_AHEAD,
		.max_clock_offset = DEFAULT_MAX_CLOCK_OFFSET,
	};
	opterr = 0;
	while ((option = getopt_long(argc, argv, "", known, NULL)) != -1) {
		if (option == '?')
			usage("%s: unknown option, or option without its value: %s",
			      argv[0], argv[optind > 1 ? optind - 1 : 1]);
		take_option(options, option, optarg);
	}
	if (optind < argc)
		usage("%s: unexpected argument: %s", argv[0], argv[optind]);
	if (!options->nr_addresses)
		take_addresses(options, "127.0.0.1");
	if (!*options->name)
		choose_name(options);
	check_together(options);
}
