// SPDX-License-Identifier: MIT
/* Members of a queue, and who serves what; see queue.h. */
#include "queue.h"
#include "reply.h"
#include "say.h"
#include "timer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ms from the news of a change to hwt_join: changes come in swarms */
#define CHANGE_PAUSE 20

/*
 * ms for which a queue that is left waits for its shards to be released. The node of one
 * of them may hang, and the other members take over all shards when we leave.
 */
#define RELEASE_PATIENCE 500

/* Leases for which a daemon stays away that cannot serve its shards */
#define ABSENCE 10

/* ---- who serves what ---- */

static uint64_t weight(const struct redisReply *member, const char *key)
{
	return hash_bytes(hash_bytes(HASH_START, member->str, member->len), key,
			  strlen(key));
}

/* Members are sorted, so all daemons settle a tie in the same way. */
static const struct redisReply *server_of(const struct redisReply *members,
					  const char *key)
{
	const struct redisReply *best = NULL;
	uint64_t most = 0;
	size_t i;

	for (i = 0; i < members->elements; i++) {
		uint64_t weighs = weight(members->element[i], key);

		if (!best || weighs > most) {
			best = members->element[i];
			most = weighs;
		}
	}
	return best;
}

static void assign(struct queue *queue, const struct redisReply *members)
{
	const struct redisReply *server;
	struct shard *shard;
	unsigned int i;

	for (i = 0; i < queue->config->shards; i++) {
		shard = &queue->shards[i];
		server = server_of(members, shard->key);
		shard_want(shard,
			   server && reply_is(server, queue->options->name));
		shard_hurry(shard);
	}
}

/* ---- membership ---- */

static bool is_list_of_names(const struct redisReply *reply)
{
	size_t i;

	if (!reply_is_array(reply, 1))
		return false;
	for (i = 0; i < reply->elements; i++)
		if (!reply_is_text(reply->element[i]))
			return false;
	return true;
}

static void on_join(void *arg, const struct redisReply *reply)
{
	struct queue *queue = arg;

	queue->joining = false;
	if (!is_list_of_names(reply))
		link_puzzled(&queue->control, "hwt_join");
	else if (queue->state == QUEUE_JOINED && !queue->options->serve_always)
		assign(queue, reply);
}

static void join(struct queue *queue)
{
	unsigned long long lease = queue->options->lease;

	if (queue->joining || queue->state != QUEUE_JOINED ||
	    !link_is_up(&queue->control))
		return;
	queue->joining = link_command(&queue->control, COMMAND_JOIN, on_join,
				      "FCALL hwt_join 1 %s %s %llu", queue->key,
				      queue->options->name, lease);
}

/* Whether none of the shards that we should serve can be served here */
static bool is_unable(const struct queue *queue, bool *apart)
{
	const struct shard *shard;
	bool unable = false;
	unsigned int i;

	*apart = false;
	for (i = 0; i < queue->config->shards; i++) {
		shard = &queue->shards[i];
		if (!shard->wanted)
			continue;
		if (!shard->apart && !shard->failed)
			return false;
		*apart |= shard->apart;
		unable = true;
	}
	return unable;
}

static void on_absent(void *arg, const struct redisReply *reply)
{
	(void)arg;
	(void)reply;
}

static void be_absent(struct queue *queue)
{
	int64_t time = ABSENCE * (int64_t)queue->options->lease * NS_PER_MS;

	say(LOG_ERR,
	    "%s: leaving it to other daemons, as no shard can be served here",
	    queue->key);
	queue->absent_until = clock_steady() + time;
	if (link_is_up(&queue->control))
		link_command(&queue->control, COMMAND_LEAVE, on_absent,
			     "FCALL hwt_leave 1 %s %s", queue->key,
			     queue->options->name);
}

/*
 * Members that cannot serve their shards would keep others from that. What only an
 * attempt can tell is tried again after a while; the clocks are watched all the time.
 */
static bool is_absent(struct queue *queue)
{
	bool apart, unable = is_unable(queue, &apart);

	if (!unable || queue->options->serve_always)
		queue->absent_until = 0;
	else if (!queue->absent_until)
		be_absent(queue);
	else if (!apart && clock_steady() >= queue->absent_until)
		queue->absent_until = 0;
	return queue->absent_until;
}

static void leave(struct queue *queue);

static void on_beat(evutil_socket_t unused, short what, void *arg)
{
	struct queue *queue = arg;

	(void)unused;
	(void)what;
	if (queue->state != QUEUE_JOINED) {
		leave(queue);
		return;
	}
	timer_set(queue->beat, queue->options->lease / 3);
	if (!is_absent(queue))
		join(queue);
}

/* ---- changes of other members ---- */

static void listen_to_changes(struct queue *queue);

/* An answer is: ((stream, ((id, fields) ...))). */
static void take_last_id(struct queue *queue, const struct redisReply *reply)
{
	const struct redisReply *entries, *entry;

	if (!reply_is_array(reply, 1) || !reply_is_array(reply->element[0], 2))
		return;
	entries = reply->element[0]->element[1];
	if (!reply_is_array(entries, 1))
		return;
	entry = entries->element[entries->elements - 1];
	if (reply_is_array(entry, 1) && reply_is_text(entry->element[0]) &&
	    entry->element[0]->len < CURSOR_ROOM)
		copy_text(queue->seen, CURSOR_ROOM, entry->element[0]->str);
}

static void on_changes(void *arg, const struct redisReply *reply)
{
	struct queue *queue = arg;

	queue->listening = false;
	if (queue->state != QUEUE_JOINED)
		return;
	take_last_id(queue, reply);
	timer_set(queue->beat, CHANGE_PAUSE);
	listen_to_changes(queue);
}

static void listen_to_changes(struct queue *queue)
{
	if (queue->listening || queue->state != QUEUE_JOINED)
		return;
	queue->listening =
		link_command(&queue->listener, COMMAND_LISTEN, on_changes,
			     "XREAD COUNT 100 BLOCK 0 STREAMS %s:changes %s",
			     queue->key, queue->seen);
}

static void on_listener_up(void *arg)
{
	listen_to_changes(arg);
}

static void on_listener_down(void *arg)
{
	struct queue *queue = arg;

	queue->listening = false;
}

static const struct link_events listener_events = { on_listener_up,
						    on_listener_down };

/* ---- leaving ---- */

static void has_left(struct queue *queue)
{
	if (queue->state == QUEUE_LEFT)
		return;
	queue->state = QUEUE_LEFT;
	link_stop(&queue->control);
	link_stop(&queue->listener);
	evtimer_del(queue->beat);
	queue->events->left(queue->arg);
}

static void on_left(void *arg, const struct redisReply *reply)
{
	(void)reply;
	has_left(arg);
}

/* While we are leaving, no shard ceases to be idle; so each is looked at once. */
static bool all_idle(struct queue *queue)
{
	while (queue->idle < queue->config->shards &&
	       queue->shards[queue->idle].state == SHARD_IDLE)
		queue->idle++;
	return queue->idle == queue->config->shards;
}

/* Once */
static void leave(struct queue *queue)
{
	if (queue->state != QUEUE_RELEASING)
		return;
	queue->state = QUEUE_LEAVING;
	if (!link_is_up(&queue->control) ||
	    !link_command(&queue->control, COMMAND_LEAVE, on_left,
			  "FCALL hwt_leave 1 %s %s", queue->key,
			  queue->options->name))
		has_left(queue);
}

/* Only then, if it does not take long, as the others take over when they hear of it */
static void leave_if_idle(struct queue *queue)
{
	if (queue->state == QUEUE_RELEASING && all_idle(queue))
		leave(queue);
}

/**
 * queue_leave - release all shards, and leave the other members
 * @queue: the queue
 *
 * @left is called then, perhaps before this returns. If Redis is not there, it is called
 * without that; then the leases and the membership end by themselves.
 */
void queue_leave(struct queue *queue)
{
	unsigned int i;

	if (queue->state != QUEUE_JOINED)
		return;
	queue->state = QUEUE_RELEASING;
	timer_set(queue->beat, RELEASE_PATIENCE);
	for (i = 0; i < queue->config->shards; i++)
		shard_want(&queue->shards[i], false);
	leave_if_idle(queue);
}

static void tell_release(struct queue *queue);

static void on_told(void *arg, const struct redisReply *reply)
{
	struct queue *queue = arg;

	(void)reply;
	queue->telling = false;
	if (queue->released)
		tell_release(queue);
}

/*
 * One entry for all that are released while another one is on its way. When Redis is full, it
 * refuses the entry, and the other members ask for the leases when they would have, anyway.
 */
static void tell_release(struct queue *queue)
{
	queue->released = queue->telling;
	if (queue->telling || queue->state != QUEUE_JOINED ||
	    !link_is_up(&queue->control))
		return;
	queue->telling = link_try(&queue->control, COMMAND_CHANGES, on_told,
				  "XADD %s:changes MAXLEN ~ 100 * released %s",
				  queue->key, queue->options->name);
}

/* The member that should serve it hears of it, and need not ask all the time. */
static void on_released(void *arg)
{
	struct queue *queue = arg;

	tell_release(queue);
	leave_if_idle(queue);
}

static const struct shard_events shard_events = { on_released };

/* ---- the control connection ---- */

static void on_control_up(void *arg)
{
	struct queue *queue = arg;

	if (queue->state != QUEUE_JOINED)
		return;
	timer_now(queue->beat);
	link_stop(&queue->listener);
	queue->listening = false;
	link_start_beside(&queue->listener, &queue->control);
}

static void on_control_down(void *arg)
{
	struct queue *queue = arg;

	queue->joining = false;
	queue->telling = false;
	link_stop(&queue->listener);
	queue->listening = false;
	if (queue->state == QUEUE_LEAVING)
		has_left(queue);
}

static const struct link_events control_events = { on_control_up,
						   on_control_down };

static int init_shards(struct queue *queue, struct event_base *base)
{
	unsigned int i;

	queue->shards = calloc(queue->config->shards, sizeof(*queue->shards));
	if (!queue->shards)
		return -1;
	for (i = 0; i < queue->config->shards; i++)
		if (shard_init(&queue->shards[i], base, queue->options,
			       queue->config, i, &queue->counters,
			       &shard_events, queue))
			return -1;
	return 0;
}

static void start(struct queue *queue)
{
	unsigned int i;

	link_start(&queue->control);
	if (!queue->options->serve_always)
		return;
	for (i = 0; i < queue->config->shards; i++)
		shard_want(&queue->shards[i], true);
}

/**
 * queue_init - join a queue and serve our share of its shards
 * @queue: out: the queue; queue_free() may be called, even if this fails
 * @base: the loop
 * @options: the options
 * @config: the queue's own
 * @events: functions of the owner
 * @arg: their argument
 *
 * Return: 0; -1: no memory.
 */
int queue_init(struct queue *queue, struct event_base *base,
	       const struct options *options,
	       const struct queue_options *config,
	       const struct queue_events *events, void *arg)
{
	*queue = (struct queue){
		.options = options,
		.config = config,
		.events = events,
		.arg = arg,
		.seen = "$",
	};
	snprintf(queue->key, sizeof(queue->key), "{%s}", config->name);
	queue->beat = evtimer_new(base, on_beat, queue);
	if (!queue->beat ||
	    link_init(&queue->control, base, options, &queue->counters,
		      &control_events, queue) ||
	    link_init(&queue->listener, base, options, &queue->counters,
		      &listener_events, queue) ||
	    init_shards(queue, base))
		return -1;
	queue->listener.patient = true;
	start(queue);
	return 0;
}

void queue_free(struct queue *queue)
{
	unsigned int i;

	for (i = 0; queue->shards && i < queue->config->shards; i++)
		shard_free(&queue->shards[i]);
	free(queue->shards);
	queue->shards = NULL;
	link_free(&queue->control);
	link_free(&queue->listener);
	if (queue->beat)
		event_free(queue->beat);
	queue->beat = NULL;
}
