// SPDX-License-Identifier: MIT
/* Parses the command line; see options.h. */
#include "options.h"

#include <ctype.h>
#include <err.h>
#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DEFAULT_PORT 6379
#define DEFAULT_LEASE 5000
#define DEFAULT_PACE 5
#define DEFAULT_MAX_ID 256
#define DEFAULT_MAX_PAYLOAD 65536
#define HOUR_MS 3600000ULL
#define DATABASE_MAX 1000000

/* The functions refuse more. */
#define MAX_ID 1024
#define MAX_PAYLOAD 1048576

static void take_addresses(struct options *options, const char *text);
static void take_queue(struct options *options, const char *text);
static void take_own_name(struct options *options, const char *text);

/**
 * struct setting - an option
 * @name: its name
 * @has_value: whether a value follows
 * @take: function for the value; NULL: @offset tells
 * @offset: where a text, a number or, without a value, a bool is in struct options
 * @max: the largest number; 0: it is a text
 * @min: the smallest number
 */
static const struct setting {
	const char *name;
	bool has_value;
	void (*take)(struct options *options, const char *text);
	size_t offset;
	uint64_t max;
	uint64_t min;
} settings[] = {
	{ "redis", true, take_addresses },
	{ "db", true, NULL, offsetof(struct options, database), DATABASE_MAX },
	{ "queue", true, take_queue },
	{ "name", true, take_own_name },
	{ "user", true, NULL, offsetof(struct options, user) },
	{ "password-file", true, NULL,
	  offsetof(struct options, password_file) },
	{ "tls", false, NULL, offsetof(struct options, tls) },
	{ "tls-ca", true, NULL, offsetof(struct options, tls_ca) },
	{ "tls-cert", true, NULL, offsetof(struct options, tls_cert) },
	{ "tls-key", true, NULL, offsetof(struct options, tls_key) },
	{ "lease", true, NULL, offsetof(struct options, lease), HOUR_MS, 100 },
	{ "pace", true, NULL, offsetof(struct options, pace), HOUR_MS },
	{ "max-id", true, NULL, offsetof(struct options, max_id), MAX_ID, 1 },
	{ "max-payload", true, NULL, offsetof(struct options, max_payload),
	  MAX_PAYLOAD },
	{ "metrics", true, NULL, offsetof(struct options, metrics) },
	{ "keep", false, NULL, offsetof(struct options, keep) },
	{ "serve-always", false, NULL, offsetof(struct options, serve_always) },
	{ "help", false, NULL, offsetof(struct options, help) },
};

#define NR_SETTINGS (sizeof(settings) / sizeof(settings[0]))

/* Copies as much of @text as there is room for. */
void copy_text(char *room, size_t size, const char *text)
{
	snprintf(room, size, "%s", text);
}

void usage(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vwarnx(format, arguments);
	fputs("'hwtimerd --help' lists the commands and options.\n", stderr);
	va_end(arguments);
	exit(2);
}

/* Parses the decimal number from @min to @max that the first @length bytes of @text are. */
static bool number_parse(const char *text, size_t length, uint64_t min,
			 uint64_t max, uint64_t *number)
{
	char *end;

	*number = strtoull(text, &end, 10);
	return isdigit((unsigned char)*text) && end == text + length &&
	       *number >= min && *number <= max;
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
	if (colon &&
	    !number_parse(colon + 1, length - host - 1, 1, UINT16_MAX, &port))
		return false;
	if (host > 2 && text[0] == '[' && text[host - 1] == ']') {
		text++;
		host -= 2;
	}
	address->port = port;
	return take_name(address->host, sizeof(address->host), text, host,
			 "[]/@");
}

bool address_is_path(const struct address *address)
{
	return address->host[0] == '/';
}

/* Returns the address for a message; the next call overwrites it. */
const char *address_text(const struct address *address)
{
	static char text[HOST_ROOM + 16];

	if (address_is_path(address))
		snprintf(text, sizeof(text), "%s", address->host);
	else
		snprintf(text, sizeof(text), "%s port %u", address->host,
			 address->port);
	return text;
}

static bool skip(const char **text, size_t *length, const char *prefix)
{
	size_t skipped = strlen(prefix);

	if (*length < skipped || strncmp(*text, prefix, skipped))
		return false;
	*text += skipped;
	*length -= skipped;
	return true;
}

/* HOST[:PORT], /PATH, unix:/PATH, redis://HOST[:PORT][/DB] or rediss:// */
static bool take_address(struct options *options, struct address *address,
			 const char *text, size_t length)
{
	bool secure = skip(&text, &length, "rediss://");
	const char *slash;

	if (skip(&text, &length, "unix:") || (length && *text == '/'))
		return *text == '/' &&
		       take_name(address->host, sizeof(address->host), text,
				 length, "");
	options->tls |= secure;
	if (!skip(&text, &length, "redis://") && !secure)
		return address_parse(address, text, length);
	slash = memchr(text, '/', length);
	if (slash && slash + 1 < text + length &&
	    !number_parse(slash + 1, text + length - slash - 1, 0, DATABASE_MAX,
			  &options->database))
		return false;
	return address_parse(address, text,
			     slash ? (size_t)(slash - text) : length);
}

/* An empty text is an address that is missing: of a variable of a shell, say. */
static void take_addresses(struct options *options, const char *text)
{
	do {
		size_t length = strcspn(text, ",");

		if (options->nr_addresses == ADDRESSES_MAX)
			usage("--redis: more than %d addresses", ADDRESSES_MAX);
		if (!take_address(options,
				  &options->addresses[options->nr_addresses++],
				  text, length))
			usage("--redis: \"%.*s\" is not HOST[:PORT], redis://HOST[:PORT][/DB], rediss://HOST[:PORT][/DB] or unix:/PATH; user and password have options of their own",
			      (int)length, text);
		text += length + (text[length] == ',');
	} while (*text);
}

/* A brace in a name would move the hash tag, and with it the shard's node. */
static bool queue_parse(struct queue_options *queue, const char *text)
{
	size_t name = strcspn(text, ":");
	uint64_t number;

	if (!take_name(queue->name, sizeof(queue->name), text, name,
		       "{}\"\\") ||
	    !text[name])
		return false;
	text += name + 1;
	if (!number_parse(text, strlen(text), 1, SHARDS_MAX, &number))
		return false;
	queue->shards = number;
	return true;
}

static void take_queue(struct options *options, const char *text)
{
	struct queue_options *queue = &options->queues[options->nr_queues];
	unsigned int i;

	if (options->nr_queues == QUEUES_MAX)
		usage("more than %d queues: start another daemon for the others",
		      QUEUES_MAX);
	if (!queue_parse(queue, text))
		usage("--queue: \"%s\" is not NAME:SHARDS; NAME is up to %d bytes\n"
		      "without spaces, braces, quotes, backslashes and colons, SHARDS 1 to %d",
		      text, NAME_ROOM - 1, SHARDS_MAX);
	for (i = 0; i < options->nr_queues; i++)
		if (!strcmp(options->queues[i].name, queue->name))
			usage("--queue: %s is there twice", queue->name);
	options->nr_queues++;
}

static void take_own_name(struct options *options, const char *text)
{
	if (!take_name(options->name, sizeof(options->name), text, strlen(text),
		       ""))
		usage("--name: up to %d bytes without spaces", NAME_ROOM - 1);
}

static void take_setting(struct options *options, const struct setting *setting,
			 const char *text)
{
	void *value = (char *)options + setting->offset;

	if (setting->take)
		setting->take(options, text);
	else if (!setting->has_value)
		*(bool *)value = true;
	else if (!setting->max)
		*(const char **)value = text;
	else if (!number_parse(text, strlen(text), setting->min, setting->max,
			       value))
		usage("--%s: \"%s\" is not a number from %llu to %llu",
		      setting->name, text, (unsigned long long)setting->min,
		      (unsigned long long)setting->max);
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
	if (options->pace > options->lease / 3)
		usage("--pace is at most a third of --lease");
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
	struct option known[NR_SETTINGS + 1] = { 0 };
	unsigned int i;
	int option;

	*options = (struct options){
		.lease = DEFAULT_LEASE,
		.pace = DEFAULT_PACE,
		.max_id = DEFAULT_MAX_ID,
		.max_payload = DEFAULT_MAX_PAYLOAD,
	};
	for (i = 0; i < NR_SETTINGS; i++) {
		known[i].name = settings[i].name;
		known[i].has_arg = settings[i].has_value;
		known[i].val = i;
	}
	opterr = 0;
	while ((option = getopt_long(argc, argv, "", known, NULL)) != -1) {
		if (option == '?')
			usage("%s: unknown option, or option without its value: %s",
			      argv[0], argv[optind > 1 ? optind - 1 : 1]);
		take_setting(options, &settings[option], optarg);
	}
	if (optind < argc)
		usage("%s: unexpected argument: %s", argv[0], argv[optind]);
	if (!options->nr_addresses)
		take_addresses(options, "127.0.0.1");
	if (!*options->name)
		choose_name(options);
	check_together(options);
}
