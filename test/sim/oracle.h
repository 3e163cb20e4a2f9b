/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What programs know of their timers, and what they therefore must not see. Each timer has
 * a user_data of its own, by which its events are told; so a wrong id is found, too.
 *
 * A call that may change a timer begins and ends: what happens meanwhile, another thread
 * may see. The programs report both, and what they got; the oracle fails the run when that
 * cannot be. See test/sim/oracle.c for the rules.
 */
#ifndef SIM_ORACLE_H
#define SIM_ORACLE_H

#include <uapi/linux/hwtimer.h>

#include "sim.h"

/**
 * enum oracle_state - what is known of a timer
 * @ORACLE_COMING: its SCHEDULE has not returned yet
 * @ORACLE_LIVE: it has been scheduled, and has not ended as far as is known
 * @ORACLE_UNSURE: nobody can know whether it has been scheduled, because of a fault
 * @ORACLE_REFUSED: SCHEDULE has failed
 * @ORACLE_DONE: its last event was delivered
 * @ORACLE_CANCELLED: CANCEL has ended it
 * @ORACLE_RETURNED: CANCEL_ALL has handed it back
 * @ORACLE_REARMED: RESCHEDULE with HWTIMER_REQ_REARM has made another timer instead
 */
enum oracle_state {
	ORACLE_COMING,
	ORACLE_LIVE,
	ORACLE_UNSURE,
	ORACLE_REFUSED,
	ORACLE_DONE,
	ORACLE_CANCELLED,
	ORACLE_RETURNED,
	ORACLE_REARMED,
};

struct oracle;

/**
 * struct oracle_timer - a timer
 * @oracle: its instance
 * @user_data: its number, in the module's structures
 * @id: its id; 0: not known yet
 * @state: see above
 * @low: lowest deadline that its next event may have
 * @high: highest deadline
 * @delay: the delay that SCHEDULE or RESCHEDULE was given; -1: it was a deadline
 * @interval: of a periodic timer
 * @slack: its slack
 * @left: expirations left; 0: no limit
 * @fixed_delay: HWTIMER_REQ_FIXED_DELAY
 * @changes: number of calls that may change it now
 * @vague: @low and @high mean nothing, because calls overlapped or a fault hid a result
 * @last: step at which a CANCEL returned that came too late, so that there is at most one
 *	more event; 0: none
 * @last_events: number of its events when that CANCEL began
 * @last_time: time after which no deadline counts, because that CANCEL was over
 * @begun_events: the same when the first of those calls began that may change it now
 * @changed: step at which @low and @high were set last
 * @changed_by: number of the read whose event did that; 0: none
 * @moved: it was rescheduled
 * @gone: step at which a CANCEL or RESCHEDULE returned that found no such timer, so that
 *	it must have ended; 0: none
 * @plain: its place in the order of events is known
 * @lost_ok: it may end without anybody hearing of it: a fault hid that
 * @begun: step at which its SCHEDULE began
 * @scheduled: step at which its SCHEDULE returned
 * @private: only the actor that has scheduled it changes it
 * @final: CANCEL_ALL has handed it back, and its event may still wait, its last one
 * @final_sure: that event did wait, with the deadline @low and @final_count expirations
 * @final_count: see @final_sure
 * @final_deadline: the deadline after that event, which CANCEL_ALL has told
 * @final_left: expirations left after that event, which CANCEL_ALL has told
 * @final_seen: step at which that event was reported; 0: not yet
 * @final_dropped: step at which a CANCEL returned that dropped that event; 0: none
 * @kept: its event was read, and not acknowledged
 * @doubtful: nobody knows whether its event was acknowledged or dropped
 * @passed: step at which a CANCEL_ALL was over that began after it was scheduled, and handed
 *	back all timers but those whose last event waited; 0: none
 * @wiped: step at which a CANCEL_ALL was over that began after it was scheduled, and dropped
 *	the events; 0: none
 * @droppable: a CANCEL_ALL may have dropped its event
 * @ended: step at which the call returned that ended it
 * @unlisted: step at which a LIST ended that did not show it; 0: none
 * @listed: number of the last LIST that showed it
 * @events: number of its events
 * @settled_events: the same when the settling began
 */
struct oracle_timer {
	struct oracle *oracle;
	uint64_t user_data;
	uint64_t id;
	enum oracle_state state;
	uint64_t low;
	uint64_t high;
	int64_t delay;
	uint64_t interval;
	uint64_t slack;
	uint64_t left;
	bool fixed_delay;
	unsigned int changes;
	bool vague;
	uint64_t last;
	uint64_t last_events;
	uint64_t last_time;
	uint64_t begun_events;
	uint64_t changed;
	uint64_t changed_by;
	bool moved;
	uint64_t gone;
	bool plain;
	bool lost_ok;
	uint64_t begun;
	uint64_t scheduled;
	bool private;
	bool final;
	bool final_sure;
	uint64_t final_count;
	uint64_t final_deadline;
	uint64_t final_left;
	uint64_t final_seen;
	uint64_t final_dropped;
	bool kept;
	bool doubtful;
	uint64_t passed;
	uint64_t wiped;
	bool droppable;
	uint64_t ended;
	uint64_t unlisted;
	uint64_t listed;
	uint64_t events;
	uint64_t settled_events;
};

/**
 * struct oracle_kept - an event that was read, and not acknowledged
 * @timer: its timer
 * @deadline: its deadline
 * @expirations: its expirations, when it was read last
 */
struct oracle_kept {
	struct oracle_timer *timer;
	uint64_t deadline;
	uint32_t expirations;
};

/**
 * struct oracle - the timers of an instance
 * @nr: its number
 * @clock: its clock
 * @offset: by how much the clock is ahead in its time namespace
 * @tick: its tick
 * @timers: all timers, by their number
 * @nr_timers: their number
 * @room: size of the array
 * @stopping: a CANCEL_ALL has begun that stops the instance
 * @stopped: step at which one has returned; 0: none
 * @stopped_at: a time after which no deadline counts, because one has returned; 0: none
 * @scheduled: number of timers that were scheduled for sure
 * @cancelled: number of timers that CANCEL and CANCEL_ALL have ended
 * @rescheduled: number of RESCHEDULEs that were successful
 * @delivered: number of events that programs got
 * @missed: expirations that events reported beyond their first
 * @unsure: a fault or a signal has hidden a result, so the numbers may be too low
 * @lists: number of LISTs that have begun
 * @wiping: number of CANCEL_ALLs that have begun and not ended
 * @reading: number of reads whose events have not all been reported yet
 * @reads: number of reads that have begun
 * @ids: the ids of all SCHEDULEs that have returned, in a hash table; 0: a free place
 * @nr_ids: their number
 * @ids_room: number of places, a power of two
 * @keeps: HWTIMER_SETUP_AT_LEAST_ONCE; then a single thread reads and acknowledges
 * @kept: the events that were read, and not acknowledged, in the order in which read()
 *	returned them
 * @nr_kept: their number
 * @kept_room: size of the array
 * @reread: number of those that were read since the last HWTIMER_ACK_REWIND
 * @doubts: number of acknowledged events of which some may have been dropped before
 */
struct oracle {
	unsigned int nr;
	clockid_t clock;
	int64_t offset;
	uint64_t tick;
	struct oracle_timer **timers;
	uint64_t nr_timers;
	uint64_t room;
	bool stopping;
	uint64_t stopped;
	uint64_t stopped_at;
	uint64_t scheduled;
	uint64_t cancelled;
	uint64_t rescheduled;
	uint64_t delivered;
	uint64_t missed;
	bool unsure;
	uint64_t lists;
	unsigned int wiping;
	unsigned int reading;
	uint64_t reads;
	uint64_t *ids;
	uint64_t nr_ids;
	uint64_t ids_room;
	bool keeps;
	struct oracle_kept *kept;
	uint64_t nr_kept;
	uint64_t kept_room;
	uint64_t reread;
	uint64_t doubts;
};

/**
 * struct oracle_span - when a call ran
 * @from: step at which it began
 * @since: time at which it began, on the instance's clock
 * @reads: of a read: oracle.reads when it began; 0: another one was going on
 * @begun: of another call: oracle.reads when it began
 * @beside: of another call: oracle.reading when it began
 */
struct oracle_span {
	uint64_t from;
	uint64_t since;
	uint64_t reads;
	uint64_t begun;
	unsigned int beside;
};

struct oracle *oracle_create(unsigned int nr, clockid_t clock, int64_t offset,
			     uint64_t tick, bool keeps);
uint64_t oracle_now(const struct oracle *oracle);
/* Whether its clock may be set, so that it takes no delays */
bool oracle_settable(const struct oracle *oracle);
struct oracle_span oracle_begin(const struct oracle *oracle);

/* @request: what is about to be passed to SCHEDULE; its user_data is set */
struct oracle_timer *oracle_schedule(struct oracle *oracle,
				     struct hwtimer_request *request);
/* @result: 0 or an error; -ECANCELED: it may have been scheduled or not */
void oracle_scheduled(struct oracle_timer *timer, uint64_t id, int result);
/* Calls that change a timer: begin, and end with a result as above */
void oracle_change(struct oracle_timer *timer);
void oracle_cancelled(struct oracle_timer *timer, uint32_t flags,
		      const struct oracle_span *span, int result);
void oracle_rescheduled(struct oracle_timer *timer, int64_t time, bool absolute,
			const struct oracle_span *span, int result);

/*
 * A RESCHEDULE that sets all fields of @old, a private timer: the timer with the fields that
 * @request has. Its user_data is set, and it is private. @old: NULL: the request has the id
 * of no timer
 */
struct oracle_timer *oracle_remake(struct oracle_timer *old,
				   struct oracle *oracle,
				   struct hwtimer_request *request);
/* @request: its id is that after the call; @result: as above */
void oracle_remade(struct oracle_timer *old, struct oracle_timer *timer,
		   const struct hwtimer_request *request,
		   const struct oracle_span *span, int result);

/* Before a CANCEL_ALL with these flags, which may take several calls */
struct oracle_span oracle_wipe(struct oracle *oracle, uint32_t flags);
/* A call of it was successful, and has handed this timer back; @span: of the call */
void oracle_returned(struct oracle *oracle, uint32_t flags,
		     const struct hwtimer_timer *timer,
		     const struct oracle_span *span);
/* A call with HWTIMER_LIST_STOP was successful. */
void oracle_stop_end(struct oracle *oracle);
/*
 * After the last call. @list: its argument; @ended: number of timers that all calls have ended;
 * @whole: it was at all timers
 */
void oracle_wiped(struct oracle *oracle, const struct hwtimer_list *list,
		  uint64_t ended, const struct oracle_span *span, bool whole);

/* Before and after a read and the report of its events */
struct oracle_span oracle_read_begin(struct oracle *oracle);
void oracle_read_end(struct oracle *oracle);
void oracle_event(struct oracle *oracle, const struct hwtimer_event *event,
		  const struct oracle_span *span);
/* Events that came in one piece */
void oracle_order(struct oracle *oracle, const struct hwtimer_event *events,
		  size_t count);

/* The number of events that were read, and not acknowledged; a rewind makes it 0. */
uint32_t oracle_reread(struct oracle *oracle);
/* An ACK has ended the oldest @count of these. */
void oracle_acknowledged(struct oracle *oracle, uint32_t count,
			 const struct oracle_span *span);
/* A rewind was successful. */
void oracle_rewound(struct oracle *oracle);

void oracle_queried(struct oracle *oracle, const struct hwtimer_timer *timer,
		    const struct oracle_span *span);
/* @until: hwtimer_info.until_next */
void oracle_next(struct oracle *oracle, uint64_t until,
		 const struct oracle_span *span);

uint64_t oracle_list_begin(struct oracle *oracle);
void oracle_listed(struct oracle *oracle, uint64_t list,
		   const struct hwtimer_timer *timer,
		   const struct oracle_span *span);
void oracle_list_end(struct oracle *oracle, uint64_t list,
		     const struct oracle_span *span);

/* Relations between counters that always hold */
void oracle_stats(struct oracle *oracle, const struct hwtimer_stats *stats);
/* When nothing goes on: compares all counters with what programs know. */
void oracle_stats_at_rest(struct oracle *oracle,
			  const struct hwtimer_stats *stats);
/*
 * From now on no program changes anything. Whether each event that is due has come, and of
 * periodic timers at least one; fail if that is still not so
 */
void oracle_settle(struct oracle *oracle);
bool oracle_settled(struct oracle *oracle);
void oracle_unsettled(struct oracle *oracle);
/* When a CANCEL_ALL with HWTIMER_LIST_STOP is over: has each timer ended? */
void oracle_stopped(struct oracle *oracle);

#endif /* SIM_ORACLE_H */
