// SPDX-License-Identifier: MIT
/* Serves a shard; see shard.h. */
#include "shard.h"
#include "reply.h"
#include "say.h"
#include "timer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Deadlines are smaller; Lua has no larger integers. */
#define DEADLINE_MAX (1LL << 53)

/* ms until the next attempt when the kernel has no room for more timers */
#define ROOM_RETRY 200

/*
 * A wheel that failed is opened anew at once if it had worked for so many ms, otherwise
 * after a wait that doubles.
 */
#define WHEEL_PROVEN 60000
#define WHEEL_WAIT 200
#define WHEEL_WAIT_MAX 60000

/*
 * hwt_trim leaves some for the next call only if it has removed as many, half of what it
 * may remove. They also pay for that call.
 */
#define TRIM_MANY 500

/* Timers that a turn loads for each ms of the pace, at most */
#define LOAD_PER_MS 125

/* Leases between two attempts to tell the cursor to functions that refuse it */
#define UNTOLD_LEASES 100

/* ms between two calls of hwt_trim, at most, while it finds nothing to remove */
#define TRIM_WAIT_MAX 600000

static void want_turn(struct shard *shard);
static void listen_to_near(struct shard *shard);
static void trim_soon(struct shard *shard);
static void ask(struct shard *shard);

/* ---- serving ---- */

static void on_fired(void *arg)
{
	want_turn(arg);
}

/* The answer to the turn tells Redis's time, and thereby what has changed. */
static void on_clock_set(void *arg)
{
	struct shard *shard = arg;

	shard->counters->clock_jumps++;
	clock_forget(&shard->clock);
	want_turn(shard);
}

static int64_t wheel_wait(const struct shard *shard)
{
	unsigned int doublings = shard->failures - 1;

	if (!shard->failures)
		return 0;
	return doublings < 9 ? WHEEL_WAIT << doublings : WHEEL_WAIT_MAX;
}

/* The next pace opens another wheel, as this one must not be closed in its own event. */
static void on_failed(void *arg, int error)
{
	struct shard *shard = arg;
	int64_t now = clock_steady();

	if (now - shard->opened >= WHEEL_PROVEN * NS_PER_MS)
		shard->failures = 0;
	if (!shard->failures)
		say(LOG_ERR,
		    "%s: /dev/hwtimer cannot be read: %s; opening it anew",
		    shard->key, strerror(-error));
	shard->open_next = now + wheel_wait(shard) * NS_PER_MS;
	shard->failures++;
	shard->counters->resets++;
	shard->broken = true;
	timer_now(shard->pace);
}

static const struct wheel_events wheel_events = { on_fired, on_clock_set,
						  on_failed };

static void forget_position(struct shard *shard)
{
	copy_text(shard->cursor, CURSOR_ROOM, "");
	copy_text(shard->position, CURSOR_ROOM, "0");
}

static void is_not_listening(struct shard *shard)
{
	shard->listening = false;
	shard->overdue = false;
}

static void stop_serving(struct shard *shard)
{
	if (shard->state != SHARD_SERVING)
		return;
	shard->state = SHARD_ASKING;
	shard->stale = shard->in_turn;
	shard->flying = (struct record_list){ 0 };
	shard->turn_wanted = false;
	shard->broken = false;
	shard->trim_in = 0;
	evtimer_del(shard->pace);
	link_stop(&shard->listener);
	is_not_listening(shard);
	wheel_close(&shard->wheel);
	survey_free(&shard->survey);
	shard->survey = (struct survey){ 0 };
}

/* ---- the width ---- */

static void on_setup(void *arg, const struct redisReply *reply)
{
	struct shard *shard = arg;

	if (reply->type == REDIS_REPLY_ERROR)
		say(LOG_WARNING, "%s: its width cannot be %llu ms now: %s",
		    shard->key, (unsigned long long)shard->width, reply->str);
	shard->is_set_up = true;
}

/* Only the width is ours to choose; the limits stay what they are. */
static void on_settings(void *arg, const struct redisReply *reply)
{
	int64_t width = 0, max_id = 0, max_payload = 0;
	struct shard *shard = arg;

	if (reply->type == REDIS_REPLY_ERROR) {
		say(LOG_WARNING, "%s: its width cannot be asked for: %s%s",
		    shard->key, reply->str, link_advice(reply->str));
		return;
	}
	survey_field(reply, "width", &width);
	survey_field(reply, "max_id", &max_id);
	survey_field(reply, "max_payload", &max_payload);
	shard->is_set_up = width == (int64_t)shard->width;
	if (!shard->is_set_up)
		link_try(&shard->commander, COMMAND_SETUP, on_setup,
			 "FCALL hwt_setup 1 %s %llu %lld %lld", shard->key,
			 (unsigned long long)shard->width, (long long)max_id,
			 (long long)max_payload);
}

/*
 * Turns need not wait for it: a slot of another width is loaded like any other one. If it
 * fails, the next connection tries again.
 */
static void set_up(struct shard *shard)
{
	if (!shard->is_set_up && link_is_up(&shard->commander))
		link_try(&shard->commander, COMMAND_SETUP, on_settings,
			 "FCALL_RO hwt_stats 1 %s", shard->key);
}

static bool begin_serving(struct shard *shard)
{
	int64_t now = clock_steady();

	if (now < shard->open_next ||
	    wheel_open(&shard->wheel, shard->base, &shard->clock, &wheel_events,
		       shard))
		return false;
	shard->opened = now;
	shard->state = SHARD_SERVING;
	forget_position(shard);
	set_up(shard);
	want_turn(shard);
	/* Who served it before us may have left entries. */
	trim_soon(shard);
	return true;
}

/* ---- what consumers have acknowledged ---- */

/*
 * Consumers acknowledge when they like, and nobody tells us. So we call hwt_trim after a
 * firing, again with waits that double while it finds nothing, and no more once the
 * stream is empty: whoever fires next will see to it. Leases pace it, as nothing is
 * urgent.
 */

static void trim_soon(struct shard *shard)
{
	if (shard->options->keep)
		return;
	shard->trim_wait = 1;
	shard->trim_in = 1;
}

/*
 * Turns go on without it, and an older rule for our user lacks a right. What passes is
 * not worth a word: a shard that has moved, say. Then the next beat ends the connection.
 */
static void trim_has_failed(struct shard *shard, const struct redisReply *reply)
{
	const char *why = reply->type == REDIS_REPLY_ERROR ? reply->str :
							     "no number";

	if (++shard->trim_failures == 2)
		say(LOG_WARNING,
		    "%s: entries that are acknowledged cannot be removed: %s%s",
		    shard->key, why, link_advice(why));
}

/* A turn that was sent later and fires something is answered later, too. */
static void on_length(void *arg, const struct redisReply *reply)
{
	struct shard *shard = arg;
	int64_t length;

	if (reply_number(reply, &length) && !length)
		shard->trim_in = 0;
}

static void trim(struct shard *shard);

static void on_trimmed(void *arg, const struct redisReply *reply)
{
	struct shard *shard = arg;
	int64_t count;

	shard->trimming = false;
	if (!reply_number(reply, &count) || count < 0) {
		trim_has_failed(shard, reply);
		return;
	}
	shard->trim_failures = 0;
	shard->counters->trimmed += count;
	if (shard->state != SHARD_SERVING)
		return;
	if (count)
		trim_soon(shard);
	if (count >= TRIM_MANY)
		trim(shard);
	else
		link_try(&shard->commander, COMMAND_TRIM, on_length,
			 "XLEN %s:due", shard->key);
}

static void trim(struct shard *shard)
{
	unsigned int most = 3 * TRIM_WAIT_MAX / shard->options->lease;

	shard->trim_in = shard->trim_wait;
	if (2 * shard->trim_wait <= most)
		shard->trim_wait *= 2;
	shard->trimming = link_try(&shard->commander, COMMAND_TRIM, on_trimmed,
				   "FCALL hwt_trim 1 %s", shard->key);
}

/* A beat has passed. */
static void trim_when_due(struct shard *shard)
{
	if (!shard->trimming && shard->trim_in && !--shard->trim_in)
		trim(shard);
}

/* ---- the clock ---- */

static int64_t offset_ms(const struct shard *shard)
{
	return shard->clock.best.offset / NS_PER_MS;
}

static void check_clock(struct shard *shard)
{
	int64_t bound = shard->options->max_clock_offset * NS_PER_MS;
	bool apart = llabs(shard->clock.best.offset) - shard->clock.best.error >
		     bound;

	/* Once: the number differs each time, and there may be many shards. */
	if (apart && !shard->apart)
		say(LOG_ERR,
		    "%s: our clock is %lld ms %s that of Redis, more than --max-clock-offset: not serving it; set the clocks (NTP)",
		    shard->key, (long long)llabs(offset_ms(shard)),
		    offset_ms(shard) < 0 ? "behind" : "ahead of");
	else if (shard->apart)
		say(LOG_NOTICE, "%s: the clocks agree again", shard->key);
	shard->apart = apart;
}

/* Returns false if the shard cannot be served by this clock. */
static bool learn_time(struct shard *shard,
		       const struct clock_question *question,
		       const struct redisReply *reply)
{
	int64_t us;

	/* 2^53 us are 285 years. */
	if (!reply_number(reply, &us) || us < 0 || us > DEADLINE_MAX) {
		link_break(&shard->commander, "its time is no time");
		return false;
	}
	if (!clock_answer(&shard->clock, question, us))
		shard->counters->clock_jumps++;
	check_clock(shard);
	/* The turn arms all timers anew, and computes the alarm. */
	if (shard->state == SHARD_SERVING && wheel_is_off(&shard->wheel))
		want_turn(shard);
	return !shard->apart;
}

/* ---- the lease ---- */

static void on_ignored(void *arg, const struct redisReply *reply)
{
	(void)arg;
	(void)reply;
}

static void give_back(struct shard *shard, link_answer answer)
{
	link_command(&shard->commander, COMMAND_RELEASE, answer,
		     "FCALL hwt_release 1 %s %s", shard->key,
		     shard->options->name);
}

/* A daemon whose clock is apart must not keep others from serving the shard. */
static void refuse_to_serve(struct shard *shard)
{
	if (shard->state == SHARD_SERVING && link_is_up(&shard->commander))
		give_back(shard, on_ignored);
	stop_serving(shard);
}

/*
 * Whether the answer to hwt_lease says that "near" has entries that we do not know. A turn
 * that was answered meanwhile has brought some of them, perhaps all.
 */
static bool is_behind(const struct shard *shard, const struct redisReply *reply)
{
	int64_t news;

	return *shard->told && !strcmp(shard->told, shard->cursor) &&
	       reply->elements > 2 && reply_number(reply->element[2], &news) &&
	       news;
}

/*
 * A turn in flight was sent after that question, and brings the entries. The listener has
 * until the next answer to tell of them, too; otherwise it is dead.
 */
static void check_listener(struct shard *shard, const struct redisReply *reply)
{
	if (shard->overdue) {
		link_break(&shard->listener,
			   "the connection for news has died without a word");
	} else if (is_behind(shard, reply)) {
		shard->overdue = shard->listening;
		if (!shard->in_turn)
			want_turn(shard);
	}
}

static void granted(struct shard *shard)
{
	shard->lease_until =
		shard->asked.steady + shard->options->lease * NS_PER_MS;
	trim_when_due(shard);
	shard->failed = shard->state != SHARD_SERVING && !begin_serving(shard);
	if (shard->failed)
		give_back(shard, on_ignored);
}

/* The holder's lease ends in @reply's ms, if it is not renewed. */
static void refused(struct shard *shard, const struct redisReply *reply)
{
	int64_t rest = shard->options->lease / 3, third = rest;

	if (shard->state == SHARD_SERVING) {
		say(LOG_WARNING, "%s: another daemon has its lease",
		    shard->key);
		shard->counters->leases_lost++;
		stop_serving(shard);
	}
	if (reply->elements > 3)
		reply_number(reply->element[3], &rest);
	timer_set(shard->beat, rest >= 0 && rest < third ? rest + 1 : third);
	if (shard->hurried)
		ask(shard);
}

static void on_lease(void *arg, const struct redisReply *reply)
{
	struct shard *shard = arg;
	int64_t ours;

	shard->asking = false;
	if (!reply_is_array(reply, 2) ||
	    !reply_number(reply->element[0], &ours)) {
		link_puzzled(&shard->commander, "hwt_lease");
		return;
	}
	if (shard->state != SHARD_ASKING && shard->state != SHARD_SERVING)
		return;
	if (!learn_time(shard, &shard->asked, reply->element[1]))
		refuse_to_serve(shard);
	else if (ours || shard->options->serve_always)
		granted(shard);
	else
		refused(shard, reply);
	/* Otherwise, the answer tells the holder. */
	if (ours && shard->state == SHARD_SERVING)
		check_listener(shard, reply);
}

/* Functions of an older version know no cursor, and may be replaced at any time. */
static void on_lease_with_cursor(void *arg, const struct redisReply *reply)
{
	struct shard *shard = arg;

	if (reply->type != REDIS_REPLY_ERROR) {
		on_lease(shard, reply);
		return;
	}
	shard->asking = false;
	if (strncmp(reply->str, "HWTARG ", 7)) {
		link_refused(&shard->commander, reply);
		return;
	}
	shard->untold = UNTOLD_LEASES;
	ask(shard);
}

static bool send_lease(struct shard *shard)
{
	unsigned long long lease = shard->options->lease;

	if (*shard->told)
		return link_try(&shard->commander, COMMAND_LEASE,
				on_lease_with_cursor,
				"FCALL hwt_lease 1 %s %s %llu %s", shard->key,
				shard->options->name, lease, shard->told);
	return link_command(&shard->commander, COMMAND_LEASE, on_lease,
			    "FCALL hwt_lease 1 %s %s %llu", shard->key,
			    shard->options->name, lease);
}

static void ask_lease(struct shard *shard)
{
	bool tell = shard->state == SHARD_SERVING && !shard->untold;

	if (shard->untold)
		shard->untold--;
	copy_text(shard->told, CURSOR_ROOM, tell ? shard->cursor : "");
	shard->hurried = false;
	shard->asked = clock_ask();
	shard->asking = send_lease(shard);
}

/* TIME tells seconds and us. */
static void on_time(void *arg, const struct redisReply *reply)
{
	struct shard *shard = arg;
	int64_t seconds, us;
	redisReply time = { .type = REDIS_REPLY_INTEGER };

	shard->asking = false;
	if (!reply_is_array(reply, 2) ||
	    !reply_number(reply->element[0], &seconds) ||
	    !reply_number(reply->element[1], &us) || seconds < 0 ||
	    seconds > DEADLINE_MAX / 1000000) {
		link_break(&shard->commander, "its time is no time");
		return;
	}
	time.integer = seconds * 1000000 + us;
	if (shard->state != SHARD_ASKING && shard->state != SHARD_SERVING)
		return;
	/* After an outage, the lease may be about to end. */
	if (learn_time(shard, &shard->asked, &time))
		ask_lease(shard);
	else
		refuse_to_serve(shard);
}

/* Without a lease, as long as the clocks are apart */
static void ask_time(struct shard *shard)
{
	shard->asked = clock_ask();
	shard->asking =
		link_command(&shard->commander, COMMAND_TIME, on_time, "TIME");
}

static bool lease_is_over(const struct shard *shard)
{
	return !shard->options->serve_always &&
	       clock_steady() >= shard->lease_until;
}

static void check_lease(struct shard *shard)
{
	if (shard->state != SHARD_SERVING || !lease_is_over(shard))
		return;
	say(LOG_WARNING,
	    "%s: its lease could not be renewed in time, another daemon may serve it",
	    shard->key);
	shard->counters->leases_lost++;
	stop_serving(shard);
}

/* Asks for the lease, or renews it, now; unless that is in flight. */
static void ask(struct shard *shard)
{
	if (shard->state != SHARD_ASKING && shard->state != SHARD_SERVING)
		return;
	if (!link_is_up(&shard->commander) || shard->asking)
		return;
	if (!shard->clock.count || shard->apart)
		ask_time(shard);
	else
		ask_lease(shard);
}

/**
 * shard_hurry - ask for the lease now, as it may just have been released
 * @shard: the shard; nothing happens if it is served or not wanted
 *
 * Redis may have answered a question in flight before the release.
 */
void shard_hurry(struct shard *shard)
{
	if (shard->state != SHARD_ASKING)
		return;
	shard->hurried = shard->asking;
	ask(shard);
}

static void on_beat(evutil_socket_t unused, short what, void *arg)
{
	struct shard *shard = arg;

	(void)unused;
	(void)what;
	timer_set(shard->beat, shard->options->lease / 3);
	check_lease(shard);
	ask(shard);
}

/* ---- turns ---- */

/*
 * The wheel has failed, or has timers with wrong deadlines: away with it. Without another
 * one, the next beat gives the lease back.
 */
static void start_anew(struct shard *shard)
{
	stop_serving(shard);
	shard->failed = !begin_serving(shard);
}

static bool may_send_turn(struct shard *shard)
{
	return shard->state == SHARD_SERVING && !shard->in_turn &&
	       link_is_up(&shard->commander);
}

/* As soon as the pace allows; what prevents a turn now leads to one when it ends. */
static void want_turn(struct shard *shard)
{
	int64_t next = shard->turn_asked.steady +
		       (int64_t)shard->options->pace * NS_PER_MS;
	int64_t wait = next - clock_steady();

	shard->turn_wanted = true;
	if (!may_send_turn(shard))
		return;
	if (wait > 0)
		timer_set_ns(shard->pace, wait);
	else
		timer_now(shard->pace);
}

static void want_turn_at_once(struct shard *shard)
{
	shard->turn_wanted = true;
	if (may_send_turn(shard))
		timer_now(shard->pace);
}

/**
 * struct call - arguments of a command; one is built at a time
 * @argv: the arguments
 * @lengths: their lengths
 * @argc: their number
 */
static struct call {
	const char *argv[TURN_MAX + 16];
	size_t lengths[TURN_MAX + 16];
	int argc;
} call;

static void add_argument(const char *text, size_t length)
{
	call.argv[call.argc] = text;
	call.lengths[call.argc++] = length;
}

static void add_text(const char *text)
{
	add_argument(text, strlen(text));
}

static void add_fired(struct shard *shard)
{
	struct record *record;

	while (shard->flying.count < TURN_MAX &&
	       (record = list_take(&shard->wheel.fired))) {
		list_add(&shard->flying, record);
		add_argument(record->id, record->length);
	}
}

/*
 * How many timers a turn may load. Redis takes some 5 us for each, and what fires
 * meanwhile waits for the next turn; so a turn does not take much longer than the pace.
 */
static unsigned int load_max(const struct shard *shard)
{
	uint64_t pace = shard->options->pace;

	if (pace <= 1)
		return LOAD_PER_MS;
	return pace < TURN_MAX / LOAD_PER_MS ? pace * LOAD_PER_MS : TURN_MAX;
}

static void on_turn(void *arg, const struct redisReply *reply);

static void send_turn(struct shard *shard)
{
	char ahead[24], max[24];

	snprintf(ahead, sizeof(ahead), "%llu",
		 (unsigned long long)shard->options->ahead);
	snprintf(max, sizeof(max), "%u", load_max(shard));
	call.argc = 0;
	add_text("FCALL");
	add_text("hwt_turn");
	add_text("1");
	add_text(shard->key);
	add_text(shard->options->name);
	add_text(shard->cursor);
	add_text(shard->position);
	add_text(ahead);
	add_text(max);
	add_fired(shard);
	shard->turn_wanted = false;
	shard->turn_asked = clock_ask();
	shard->in_turn = link_send(&shard->commander, COMMAND_TURN, on_turn,
				   call.argc, call.argv, call.lengths);
	if (!shard->in_turn)
		list_put_back(&shard->wheel.fired, &shard->flying);
}

static void on_pace(evutil_socket_t unused, short what, void *arg)
{
	struct shard *shard = arg;

	(void)unused;
	(void)what;
	/* A daemon that was stopped for a while hears of timers before it hears of that. */
	check_lease(shard);
	if (shard->broken)
		start_anew(shard);
	else if (may_send_turn(shard))
		send_turn(shard);
}

/* ---- the answer to a turn ---- */

/** struct turn - the answer's elements, in this order */
struct turn {
	const struct redisReply *status;
	const struct redisReply *now;
	const struct redisReply *cursor;
	const struct redisReply *position;
	const struct redisReply *alarm;
	const struct redisReply *more;
	const struct redisReply *results;
	const struct redisReply *early;
	const struct redisReply *news;
	const struct redisReply *overwritten; /* NULL: not from older functions */
};

#define TURN_ELEMENTS 9

static bool is_list_of_timers(const struct redisReply *reply)
{
	int64_t deadline;
	size_t i;

	if (reply->type != REDIS_REPLY_ARRAY || reply->elements % 2)
		return false;
	for (i = 0; i < reply->elements; i += 2)
		if (reply->element[i]->type != REDIS_REPLY_STRING ||
		    !reply_number(reply->element[i + 1], &deadline) ||
		    deadline < 0 || deadline >= DEADLINE_MAX)
			return false;
	return true;
}

static bool is_list_of_texts(const struct redisReply *reply)
{
	size_t i;

	if (reply->type != REDIS_REPLY_ARRAY)
		return false;
	for (i = 0; i < reply->elements; i++)
		if (!reply_is_text(reply->element[i]))
			return false;
	return true;
}

static bool is_position(const struct redisReply *reply)
{
	return reply_is_text(reply) && reply->len < CURSOR_ROOM;
}

/* Checks everything first, so that no answer is taken by halves. */
static bool parse_turn(const struct redisReply *reply, size_t sent,
		       struct turn *turn)
{
	int64_t number;

	if (!reply_is_array(reply, TURN_ELEMENTS))
		return false;
	*turn = (struct turn){
		reply->element[0], reply->element[1], reply->element[2],
		reply->element[3], reply->element[4], reply->element[5],
		reply->element[6], reply->element[7], reply->element[8],
	};
	if (reply->elements > TURN_ELEMENTS)
		turn->overwritten = reply->element[TURN_ELEMENTS];
	return reply_is_text(turn->status) && is_position(turn->cursor) &&
	       is_position(turn->position) &&
	       reply_number(turn->alarm, &number) && number < DEADLINE_MAX &&
	       reply_number(turn->more, &number) &&
	       reply_is_text(turn->results) &&
	       (size_t)turn->results->len == sent &&
	       is_list_of_timers(turn->early) &&
	       is_list_of_timers(turn->news) &&
	       (!turn->overwritten || is_list_of_texts(turn->overwritten));
}

static int64_t number_of(const struct redisReply *reply)
{
	int64_t number = 0;

	reply_number(reply, &number);
	return number;
}

/* Arms a timer that was moved; it is the next one of @early. */
static int arm_again(struct shard *shard, const struct redisReply *early,
		     size_t i, struct record *record)
{
	const struct redisReply *id;

	if (i + 1 < early->elements) {
		id = early->element[i];
		if ((size_t)id->len == record->length &&
		    !memcmp(id->str, record->id, id->len))
			return wheel_again(&shard->wheel, record,
					   number_of(early->element[i + 1]));
	}
	/* It cannot be; then a reset brings the timer. */
	wheel_forget(&shard->wheel, record);
	return -EPROTO;
}

/* Each fired timer has fired, is gone, or was moved. Returns 0 or a negative errno. */
static int take_results(struct shard *shard, const struct turn *turn)
{
	int64_t now = number_of(turn->now) / 1000;
	const char *result = turn->results->str;
	struct record *record;
	size_t early = 0;
	int error = 0, one;

	if (memchr(result, '1', turn->results->len))
		trim_soon(shard);
	while ((record = list_take(&shard->flying))) {
		switch (*result++) {
		case '1':
			count_fired(shard->counters, now - record->deadline);
			wheel_forget(&shard->wheel, record);
			break;
		case '2':
			shard->counters->early++;
			one = arm_again(shard, turn->early, early, record);
			error = graver_error(error, one);
			early += 2;
			break;
		default:
			shard->counters->gone++;
			wheel_forget(&shard->wheel, record);
		}
	}
	return error;
}

/* Returns 0, or a negative errno if not all timers could be taken. */
static int take_news(struct shard *shard, const struct redisReply *news)
{
	int error = 0, is_new;
	size_t i;

	for (i = 0; i < news->elements && !error; i += 2) {
		is_new = wheel_learn(&shard->wheel, news->element[i]->str,
				     news->element[i]->len,
				     number_of(news->element[i + 1]));
		if (is_new < 0)
			error = is_new;
		else
			shard->counters->loaded += is_new;
	}
	return graver_error(error, wheel_arm(&shard->wheel));
}

/*
 * What was not taken is asked for again: the position stays as it was. But a timer that was
 * early need not be behind the position: its slot was loaded before, and the entry of near
 * that told of its move was read while it was on its way to Redis. Only a reset brings it.
 */
static void wait_for_room(struct shard *shard, const struct turn *turn,
			  int error)
{
	if (turn->early->elements)
		forget_position(shard);
	say(LOG_WARNING,
	    "%s: no room for more timers (%s); they stay in Redis, and may be late: see the limits of the module in hwtimer(4)",
	    shard->key, strerror(-error));
	shard->counters->refused++;
	timer_set(shard->pace, ROOM_RETRY);
}

static void set_alarm(struct shard *shard, int64_t slot)
{
	int64_t time = slot - (int64_t)shard->options->ahead;

	if (wheel_alarm(&shard->wheel, slot < 0 ? -1 : time < 0 ? 0 : time))
		timer_set(shard->pace, ROOM_RETRY);
}

static void take_position(struct shard *shard, const struct turn *turn)
{
	copy_text(shard->cursor, CURSOR_ROOM, turn->cursor->str);
	copy_text(shard->position, CURSOR_ROOM, turn->position->str);
	set_alarm(shard, number_of(turn->alarm));
}

static void plan_next(struct shard *shard, const struct turn *turn)
{
	if (number_of(turn->more) || shard->wheel.fired.count >= TURN_MAX)
		want_turn_at_once(shard);
	else if (turn->news->elements || shard->wheel.fired.count ||
		 shard->turn_wanted)
		want_turn(shard);
	else
		listen_to_near(shard);
}

/* Whether a message has told of the key; if not, one is about to. */
static bool is_told(struct shard *shard, const struct redisReply *key)
{
	uint64_t hash = hash_bytes(HASH_START, key->str, key->len);
	unsigned int i;

	for (i = 0; i < OVERWRITTEN_MAX; i++)
		if (shard->overwritten[i] == hash)
			return true;
	shard->overwritten[shard->nr_overwritten++ % OVERWRITTEN_MAX] = hash;
	return false;
}

/* Each turn that reads such a slot names its key, as after a reset. */
static void tell_overwritten(struct shard *shard, const struct redisReply *keys)
{
	size_t i;

	for (i = 0; i < keys->elements; i++)
		if (!is_told(shard, keys->element[i]))
			say(LOG_ERR,
			    "%s: somebody else has overwritten the key %s of a slot: its timers fire, but no others can be scheduled there; rename or delete it",
			    shard->key, keys->element[i]->str);
}

static void take_turn(struct shard *shard, const struct turn *turn)
{
	int error = take_results(shard, turn);

	if (turn->overwritten)
		tell_overwritten(shard, turn->overwritten);
	if (wheel_is_off(&shard->wheel))
		error = graver_error(error, wheel_rearm(&shard->wheel));
	error = graver_error(error, take_news(shard, turn->news));
	if (error == -ESTALE) {
		start_anew(shard);
		return;
	}
	if (error) {
		wait_for_room(shard, turn, error);
		return;
	}
	if (reply_is(turn->status, "reset")) {
		shard->counters->resets++;
		forget_position(shard);
		want_turn_at_once(shard);
		return;
	}
	take_position(shard, turn);
	plan_next(shard, turn);
}

static void on_turn(void *arg, const struct redisReply *reply)
{
	struct shard *shard = arg;
	bool stale = shard->stale;
	struct turn turn;

	shard->in_turn = false;
	shard->stale = false;
	if (stale || shard->state != SHARD_SERVING) {
		want_turn(shard);
		return;
	}
	if (!parse_turn(reply, shard->flying.count, &turn)) {
		shard->in_turn = true;
		link_puzzled(&shard->commander, "hwt_turn");
		return;
	}
	if (learn_time(shard, &shard->turn_asked, turn.now))
		take_turn(shard, &turn);
	else
		refuse_to_serve(shard);
}

/* ---- the listener ---- */

static void on_near(void *arg, const struct redisReply *reply)
{
	struct shard *shard = arg;

	(void)reply;
	is_not_listening(shard);
	want_turn(shard);
}

static bool send_listen(struct shard *shard)
{
	return link_command(&shard->listener, COMMAND_LISTEN, on_near,
			    "XREAD COUNT 1 BLOCK 0 STREAMS %s:near %s",
			    shard->key, shard->cursor);
}

/* The entries themselves come with the turn; this only waits for one. */
static void listen_to_near(struct shard *shard)
{
	if (shard->listening || !*shard->cursor)
		return;
	if (shard->listener.state == LINK_STOPPED)
		link_start_beside(&shard->listener, &shard->commander);
	else if (link_is_up(&shard->listener))
		shard->listening = send_listen(shard);
}

static void on_listener_up(void *arg)
{
	listen_to_near(arg);
}

/* The turn finds out what the commander's connection is worth. */
static void on_listener_down(void *arg)
{
	struct shard *shard = arg;

	is_not_listening(shard);
	want_turn(shard);
}

static const struct link_events listener_events = { on_listener_up,
						    on_listener_down };

/* ---- the commander ---- */

static void on_commander_up(void *arg)
{
	struct shard *shard = arg;

	/* Another server, perhaps, with another clock and without our lease */
	clock_forget(&shard->clock);
	if (shard->state == SHARD_SERVING) {
		forget_position(shard);
		set_up(shard);
		want_turn(shard);
		/* The answer that was lost may have told of a firing. */
		trim_soon(shard);
	}
	ask(shard);
}

/* The answers to everything in flight will not come. */
static void forget_questions(struct shard *shard)
{
	shard->asking = false;
	shard->in_turn = false;
	shard->stale = false;
	shard->surveying = 0;
	shard->trimming = false;
	shard->trim_failures = 0;
}

static void become_idle(struct shard *shard)
{
	shard->state = SHARD_IDLE;
	link_stop(&shard->commander);
	evtimer_del(shard->beat);
	forget_questions(shard);
	if (shard->wanted)
		shard_want(shard, true);
	shard->events->released(shard->arg);
}

static void on_commander_down(void *arg)
{
	struct shard *shard = arg;

	forget_questions(shard);
	link_stop(&shard->listener);
	is_not_listening(shard);
	if (shard->state == SHARD_RELEASING)
		become_idle(shard);
	else if (shard->state == SHARD_SERVING)
		list_put_back(&shard->wheel.fired, &shard->flying);
}

static const struct link_events commander_events = { on_commander_up,
						     on_commander_down };

/* ---- the survey ---- */

static void on_stats(void *arg, const struct redisReply *reply)
{
	struct shard *shard = arg;

	shard->surveying--;
	if (shard->state == SHARD_SERVING)
		survey_take_stats(&shard->survey, reply);
}

static void on_groups(void *arg, const struct redisReply *reply)
{
	struct shard *shard = arg;

	shard->surveying--;
	if (shard->state == SHARD_SERVING)
		survey_take_groups(&shard->survey, reply);
}

/* Asks Redis for what the metrics show next time, if the shard is served. */
void shard_survey(struct shard *shard)
{
	if (shard->state != SHARD_SERVING || shard->surveying ||
	    !link_is_up(&shard->commander))
		return;
	shard->surveying += link_try(&shard->commander, COMMAND_METRICS,
				     on_stats, "FCALL_RO hwt_stats 1 %s",
				     shard->key);
	shard->surveying += link_try(&shard->commander, COMMAND_METRICS,
				     on_groups, "XINFO GROUPS %s:due",
				     shard->key);
}

/* ---- coming and going ---- */

static void on_released(void *arg, const struct redisReply *reply)
{
	(void)reply;
	become_idle(arg);
}

static void release(struct shard *shard)
{
	stop_serving(shard);
	if (link_is_up(&shard->commander)) {
		shard->state = SHARD_RELEASING;
		give_back(shard, on_released);
	} else {
		become_idle(shard);
	}
}

/**
 * shard_want - tell whether this daemon should serve the shard
 * @shard: the shard
 * @wanted: whether it should
 *
 * If not, and it does, @released is called, perhaps before this returns.
 */
void shard_want(struct shard *shard, bool wanted)
{
	shard->wanted = wanted;
	if (wanted && shard->state == SHARD_IDLE) {
		shard->state = SHARD_ASKING;
		clock_forget(&shard->clock);
		link_start(&shard->commander);
		timer_set(shard->beat, shard->options->lease / 3);
	} else if (!wanted && (shard->state == SHARD_ASKING ||
			       shard->state == SHARD_SERVING)) {
		release(shard);
	}
}

static int init_timers(struct shard *shard)
{
	shard->beat = evtimer_new(shard->base, on_beat, shard);
	shard->pace = evtimer_new(shard->base, on_pace, shard);
	return shard->beat && shard->pace ? 0 : -1;
}

/**
 * shard_init - make an idle shard
 * @shard: out: the shard; shard_free() may be called, even if this fails
 * @base: the loop
 * @options: the options
 * @queue: the queue
 * @number: number of the shard in the queue
 * @counters: counters of the queue
 * @events: functions of the owner
 * @arg: their argument
 *
 * Return: 0; -1: no memory.
 */
int shard_init(struct shard *shard, struct event_base *base,
	       const struct options *options, const struct queue_options *queue,
	       unsigned int number, struct counters *counters,
	       const struct shard_events *events, void *arg)
{
	*shard = (struct shard){
		.options = options,
		.width = queue->width,
		.is_set_up = !queue->width,
		.counters = counters,
		.events = events,
		.arg = arg,
		.base = base,
	};
	snprintf(shard->key, sizeof(shard->key), "{%s:%u}", queue->name,
		 number);
	if (link_init(&shard->commander, base, options, counters,
		      &commander_events, shard) ||
	    link_init(&shard->listener, base, options, counters,
		      &listener_events, shard))
		return -1;
	shard->listener.patient = true;
	return init_timers(shard);
}

void shard_free(struct shard *shard)
{
	wheel_close(&shard->wheel);
	survey_free(&shard->survey);
	link_free(&shard->commander);
	link_free(&shard->listener);
	if (shard->beat)
		event_free(shard->beat);
	if (shard->pace)
		event_free(shard->pace);
	shard->beat = NULL;
	shard->pace = NULL;
}
