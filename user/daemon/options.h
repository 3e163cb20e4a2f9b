/* SPDX-License-Identifier: MIT */
/* The command line; see hwtimerd(8). */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ADDRESSES_MAX 32
#define QUEUES_MAX 64
#define SHARDS_MAX 16384
#define KEY_ROOM (NAME_ROOM + 16)
#define NAME_ROOM 65
#define HOST_ROOM 256

/**
 * struct address - where a Redis server listens
 * @host: name or numeric address; or the path of a Unix socket, which begins with /
 * @port: TCP port; 0 for a path
 */
struct address {
	char host[HOST_ROOM];
	uint16_t port;
};

/**
 * struct queue_options - one --queue
 * @name: the queue's name
 * @shards: number of shards
 */
struct queue_options {
	char name[NAME_ROOM];
	unsigned int shards;
};

/**
 * struct options - what the command line says
 * @addresses: the servers of --redis
 * @nr_addresses: length of @addresses
 * @database: number of the database
 * @queues: the queues of --queue
 * @nr_queues: length of @queues
 * @name: name of this daemon, which no other daemon may have
 * @user: user of Redis; NULL: the default user
 * @password_file: file with the password; NULL: none
 * @tls: whether to use TLS
 * @tls_ca: file of the certificates to trust; NULL: those of the system
 * @tls_cert: file of our certificate; NULL: none
 * @tls_key: file of its key; NULL: none
 * @lease: ms for which a shard stays ours without news of us
 * @pace: ms between two calls of hwt_fire for a shard, at least
 * @max_id: bytes of a timer's id, at most
 * @max_payload: bytes of its payload, at most
 * @metrics: path of a socket for metrics, or HOST:PORT; NULL: none
 * @keep: remove no entries that are acknowledged
 * @serve_always: serve every shard, whatever other daemons do
 * @help: print the help, and do nothing
 */
struct options {
	struct address addresses[ADDRESSES_MAX];
	unsigned int nr_addresses;
	uint64_t database;
	struct queue_options queues[QUEUES_MAX];
	unsigned int nr_queues;
	char name[NAME_ROOM];
	const char *user;
	const char *password_file;
	bool tls;
	const char *tls_ca;
	const char *tls_cert;
	const char *tls_key;
	uint64_t lease;
	uint64_t pace;
	uint64_t max_id;
	uint64_t max_payload;
	const char *metrics;
	bool keep;
	bool serve_always;
	bool help;
};

void copy_text(char *room, size_t size, const char *text);
void usage(const char *format, ...)
	__attribute__((noreturn, format(printf, 1, 2)));
void options_parse(struct options *options, int argc, char **argv);
bool address_parse(struct address *address, const char *text, size_t length);
bool address_is_path(const struct address *address);
const char *address_text(const struct address *address);

#endif /* OPTIONS_H */
