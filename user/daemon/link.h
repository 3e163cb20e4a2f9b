/* SPDX-License-Identifier: MIT */
/*
 * A connection to Redis that comes back. Everything happens in the loop; no function
 * waits.
 *
 * A link is up after Redis has accepted the password, has the functions, and is a
 * master. Any error answer but those of tolerant commands ends the connection: LOADING,
 * READONLY and the like end with a wait and a new connection, which finds the master of
 * then, and MOVED names the server of the next connection. So there is one way in which
 * things fail, and it is tested all the time.
 *
 * While a shard's slot is moved to another node, Redis says ASK or TRYAGAIN. That also
 * ends in a wait: at that time some keys of the shard are here and some there, and a turn
 * on half of them would create keys that stop the move.
 *
 * Callbacks: @answer of a command is called once, unless the connection is lost; then
 * @down is called, and the answers to all commands of that connection will never come.
 * No function of this file calls a callback before it returns. A callback may call any
 * function here.
 */
#ifndef LINK_H
#define LINK_H

#include "counters.h"
#include "lookup.h"
#include "options.h"

#include <event2/event.h>
#include <hiredis/async.h>
#include <netinet/in.h>

#define LINK_PENDING_MAX 16
#define PASSWORD_ROOM 1024

struct link;

/**
 * struct link_events - functions of a link's owner
 * @up: the link can be used
 * @down: the link was up, and is not any more
 */
struct link_events {
	void (*up)(void *arg);
	void (*down)(void *arg);
};

typedef void (*link_answer)(void *arg, const struct redisReply *reply);

/**
 * struct link_command - a command without an answer yet
 * @kind: kind of the command
 * @answer: function for the answer
 * @arg: its argument
 * @tolerant: whether an error is an answer as any other
 */
struct link_command {
	enum command kind;
	link_answer answer;
	void *arg;
	bool tolerant;
};

enum link_state {
	LINK_STOPPED,
	LINK_WAITING, /* for the time of the next attempt */
	LINK_RESOLVING, /* a name, to an address */
	LINK_CONNECTING,
	LINK_GREETING, /* AUTH, hwt_version, ROLE */
	LINK_UP,
	LINK_BROKEN, /* the loop will end the connection, and tell the owner */
};

/**
 * struct link - a connection
 * @base: the loop
 * @options: addresses, password, times
 * @counters: where commands are counted
 * @events: functions of the owner
 * @arg: their argument, and that of all answers
 * @patient: Redis may take as long as it likes for an answer
 * @state: state of the connection
 * @redis: hiredis' part; NULL: none
 * @lookup: search for the address of a name; NULL: none
 * @timer: next attempt, or end of the patience
 * @address: the server of this connection, or of the last one
 * @peer: its numeric address; a name may have several, with a server at each
 * @directed: Redis has named @address as the one for the next attempt
 * @fixed: @address and @peer are given by the owner
 * @next: index of the address for the next attempt
 * @failures: number of failures since the last good answer
 * @was_up: the broken connection was up
 * @complained: a message said that something is wrong
 * @why: reason for LINK_BROKEN
 * @pending: commands without an answer yet, in a circle
 * @first: index of the oldest of @pending
 * @count: number of @pending
 * @greetings: number of answers until the link is up
 */
struct link {
	struct event_base *base;
	const struct options *options;
	struct counters *counters;
	const struct link_events *events;
	void *arg;
	bool patient;
	enum link_state state;
	struct redisAsyncContext *redis;
	struct lookup *lookup;
	struct event *timer;
	struct address address;
	char peer[INET6_ADDRSTRLEN];
	bool directed;
	bool fixed;
	unsigned int next;
	unsigned int failures;
	bool was_up;
	bool complained;
	char why[256];
	struct link_command pending[LINK_PENDING_MAX];
	unsigned int first;
	unsigned int count;
	unsigned int greetings;
};

int link_init(struct link *link, struct event_base *base,
	      const struct options *options, struct counters *counters,
	      const struct link_events *events, void *arg);
void link_free(struct link *link);
void link_start(struct link *link);
void link_start_beside(struct link *link, const struct link *other);
void link_stop(struct link *link);
bool link_is_up(const struct link *link);
bool link_send(struct link *link, enum command kind, link_answer answer,
	       int argc, const char **argv, const size_t *lengths);
bool link_command(struct link *link, enum command kind, link_answer answer,
		  const char *format, ...);
bool link_try(struct link *link, enum command kind, link_answer answer,
	      const char *format, ...);
void link_break(struct link *link, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void link_puzzled(struct link *link, const char *what);
void link_refused(struct link *link, const struct redisReply *error);
const char *link_advice(const char *error);
bool password_read(const char *path, char password[PASSWORD_ROOM]);

#endif /* LINK_H */
