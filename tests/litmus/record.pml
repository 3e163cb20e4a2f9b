/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A model of the states of a record for spin, which tries every order in which the holds
 * of the instance's lock can happen: SCHEDULE, expiry, read(), CANCEL, RESCHEDULE, STOP
 * and close(), with one-shot and periodic timers. vm/proofs.sh runs it; each variant with
 * a fault must fail. It compares the changes of state that are reached,
 * BECOME(), with hwtimer_states_after[] in hwtimer_table.c.
 *
 * Each atomic block is one hold of the lock. The model has RECORDS records, handed out as
 * the table does: the lowest free one that has been released. The state of the second
 * record of a periodic timer, HWTIMER_EXTENSION, is modelled beside its first record.
 *
 * A read copies outside of the lock, may fail, and then finishes under the lock. It is
 * compared with the truth: live[] says, independently of the states, which timers have
 * not ended. A timer ends when it is cancelled or discarded, delivered for the last time,
 * or handed back, or when close() finds it. close() finds each other timer where it
 * belongs: in the wheel, or in the queue.
 *
 * -DFAULT_... breaks the model in one place.
 */
#define RECORDS 2

/* How many timers are scheduled, and how often a periodic one expires */
#ifndef TIMERS
#define TIMERS 3
#endif
#define COUNT 2

#define FREE 0
#define PENDING 1
#define EXPIRED 2
#define LEAVING 3
#define RETURNING 4
#define DISCARDED 5
#define EXTENSION 6
#define STATES 7

byte state[RECORDS];
byte extension[RECORDS];	/* state of the record's extension */
bool used[RECORDS];		/* the table does not hand it out */
byte generation[RECORDS];
bool periodic[RECORDS];
bool ending[RECORDS];		/* HWTIMER_RECORD_ENDING */
byte left[RECORDS];		/* expirations left */
bool in_wheel[RECORDS];		/* it has a live entry */
bool live[RECORDS];		/* the truth: its timer has not ended */

byte scheduled;			/* number of timers so far */
byte ended;			/* number of those that have ended */
byte periodics;			/* instance->periodic */
byte pending;			/* stats.pending */
bool stopped;
bool harvest;			/* the mutex */
byte users;			/* threads that are in a call */
bool closing;
bool leaving_free;		/* leaving.free */
byte page[RECORDS];		/* leaving.page: indices and generations */
byte page_generation[RECORDS];

/* instance->ready: indices, and their number */
byte ready[RECORDS];
byte waiting;

/* The changes of state that were reached, which pan prints at its end */
c_code {
	static unsigned char became[STATES][STATES];

	static void __attribute__((destructor)) print_reached(void)
	{
		int from, to;

		for (from = 0; from < STATES; from++)
			for (to = 0; to < STATES; to++)
				if (became[from][to])
					printf("reached %d %d\n", from, to);
	}
}

#define BECOME(i, from, to)         \
	assert(state[i] == from);   \
	state[i] = to;              \
	c_code { became[from][to] = 1; }
#define EXTENSION_BECOME(i, from, to)   \
	assert(extension[i] == from);   \
	extension[i] = to;              \
	c_code { became[from][to] = 1; }

/* A timer ends, as user space sees it. It must not have ended before. */
#define END(i) assert(live[i]); live[i] = false; ended++

/* hwtimer_wheel_add(), hwtimer_wheel_remove() */
#define ADD(i) assert(!in_wheel[i]); in_wheel[i] = true; pending++
#define REMOVE(i) assert(in_wheel[i]); in_wheel[i] = false; pending--

/* A call through the file, for which close() waits */
#define ENTER users++
#define LEAVE users--

/* The begin and the end of a call that holds the mutex */
#ifdef FAULT_NO_HARVEST
#define MAY_ENTER !closing
#else
#define MAY_ENTER (!closing && !harvest)
#endif
#define ENTER_HARVEST ENTER; harvest = true
#define LEAVE_HARVEST harvest = false; LEAVE

/* hwtimer_period_free(), after the state has become FREE */
inline free_record(i)
{
	if
	:: periodic[i] ->
		EXTENSION_BECOME(i, EXTENSION, FREE);
		periodics--
	:: else
	fi;
	assert(used[i]);
	used[i] = false
}

/* hwtimer_queue_add_indices() */
inline queue(i)
{
	assert(waiting < RECORDS);
	ready[waiting] = i;
	waiting++
}

/* ready_take() */
inline take(i)
{
	assert(waiting);
	i = ready[0];
	ready[0] = ready[1];
	ready[1] = 0;
	waiting--
}

/* requests_run_locked(), SCHEDULE */
inline schedule(i)
{
	used[i] = true;
	generation[i]++;
	assert(!live[i]);
	live[i] = true;
	ending[i] = false;
	scheduled++;
	if
	:: periodic[i] = true;
		EXTENSION_BECOME(i, FREE, EXTENSION);
		left[i] = COUNT;
		periodics++
	:: periodic[i] = false
	fi;
	BECOME(i, FREE, PENDING);
	ADD(i)
}

/* hwtimer_period_rearm(), up to its decision */
inline rearm(i, goes_on)
{
	goes_on = false;
	if
	:: periodic[i] && !ending[i] ->
		left[i]--;
		goes_on = left[i] > 0
	:: else
	fi
}

/* turn_advance(): the wheel has given out record i. */
inline expire(i)
{
	REMOVE(i);
	BECOME(i, PENDING, EXPIRED);
	queue(i);
	i = 0
}

#ifdef FAULT_EXPIRE_STOPPED
#define EXPIRES(i) (in_wheel[i] && !closing)
#else
#define EXPIRES(i) (in_wheel[i] && !closing && !stopped)
#endif

/* hwtimer_turn() */
active proctype worker()
{
	byte i;

	do
	:: atomic { EXPIRES(0) -> i = 0; expire(i) }
	:: atomic { EXPIRES(1) -> i = 1; expire(i) }
	:: atomic { closing -> break }
	od
}

active proctype scheduler()
{
	byte i;

	do
	:: atomic { !closing && !stopped && scheduled < TIMERS && !used[0] ->
		i = 0;
		schedule(i) }
	:: atomic { !closing && !stopped && scheduled < TIMERS && used[0] &&
		    !used[1] ->
		i = 1;
		schedule(i) }
	:: atomic { closing || stopped || scheduled == TIMERS -> break }
	od
}

/* hwtimer_harvest_discarded() */
inline free_discarded(i)
{
	do
	:: waiting && state[ready[0]] == DISCARDED ->
		take(i);
		BECOME(i, DISCARDED, FREE);
		free_record(i)
	:: else -> break
	od;
	i = 0
}

/* events_take() */
inline take_events(i, taken)
{
	leaving_free = !periodics;
#ifdef FAULT_ALWAYS_FREE
	leaving_free = true;
#endif
	do
	:: taken < waiting && taken < RECORDS &&
	   state[ready[taken]] != DISCARDED ->
		i = ready[taken];
		page[taken] = i;
		page_generation[taken] = generation[i];
		if
		:: leaving_free ->
			BECOME(i, EXPIRED, FREE);
#ifdef FAULT_RELEASE_EARLY
			free_record(i);
			used[i] = false
#endif
		:: else -> BECOME(i, EXPIRED, LEAVING)
		fi;
		taken++
	:: else -> break
	od;
	i = 0
}

/* event_finish() */
inline finish_event(i, goes_on)
{
	rearm(i, goes_on);
	if
	:: goes_on ->
		BECOME(i, LEAVING, PENDING);
		ADD(i)
	:: else ->
		END(i);
		BECOME(i, LEAVING, FREE);
		free_record(i)
	fi;
	goes_on = false
}

/* events_finish() */
inline finish_events(i, k, taken, copied, goes_on)
{
	k = 0;
	do
	:: k < copied && leaving_free ->
		take(i);
		END(i);
		/* events_release(): none of the timers is periodic. */
		assert(state[i] == FREE && used[i]);
		used[i] = false;
		k++
	:: k < copied && !leaving_free ->
		take(i);
		finish_event(i, goes_on);
		k++
	:: k >= copied && k < taken ->
		i = page[k];
#ifndef FAULT_READ_LOSES
		if
		:: leaving_free -> BECOME(i, FREE, EXPIRED)
		:: else -> BECOME(i, LEAVING, EXPIRED)
		fi;
#endif
		k++
	:: k == taken -> break
	od;
	i = 0;
	k = 0
}

/* The first events of the page, or all of them, reach their reader. */
inline copy(taken, copied)
{
	do
	:: copied < taken ->
		assert(live[page[copied]]);
		assert(generation[page[copied]] == page_generation[copied]);
		copied++
	:: break
	od
}

/* hwtimer_harvest_events() */
inline read_events()
{
	atomic { free_discarded(i) };
	atomic { take_events(i, taken) };
	atomic { copy(taken, copied) };
	atomic { finish_events(i, k, taken, copied, goes_on) };
	atomic { LEAVE_HARVEST; taken = 0; copied = 0 }
}

active proctype reader()
{
	byte i, k, taken, copied;
	bool goes_on;

	do
	:: atomic { MAY_ENTER && waiting -> ENTER_HARVEST };
		read_events()
	:: atomic { closing -> break }
	od
}

/* hwtimer_op_cancel(), with HWTIMER_DISCARD or without */
inline cancel(i)
{
	if
	:: state[i] == PENDING ->
		REMOVE(i);
		END(i);
		BECOME(i, PENDING, FREE);
		free_record(i)
	:: state[i] == EXPIRED ->
		END(i);
#ifdef FAULT_DISCARD_FREES
		BECOME(i, EXPIRED, FREE);
		free_record(i)
#else
		BECOME(i, EXPIRED, DISCARDED)
#endif
	:: (state[i] == EXPIRED || state[i] == LEAVING) && periodic[i] ->
		ending[i] = true
#ifdef FAULT_CANCEL_LEAVING
	:: state[i] == LEAVING ->
		END(i);
		state[i] = DISCARDED
#endif
	:: else
	fi
}

active proctype canceller()
{
	byte i;

	do
#ifdef FAULT_CANCEL_UNLOCKED
	/* It looks at the state in an earlier hold of the lock. */
	:: atomic { !closing && state[0] == PENDING -> ENTER };
		atomic { REMOVE(0); END(0); state[0] = FREE; free_record(0); LEAVE }
#endif
	:: atomic { !closing && used[0] -> cancel(0) }
	:: atomic { !closing && used[1] -> cancel(1) }
	:: atomic { closing -> break }
	od
}

/* unprocessed_take() */
inline take_pending(i, taken)
{
	i = 0;
	do
	:: i < RECORDS ->
		if
		:: state[i] == PENDING ->
			BECOME(i, PENDING, RETURNING);
			page[taken] = i;
			page_generation[taken] = generation[i];
			taken++
		:: else
		fi;
		i++
	:: else -> break
	od;
	i = 0
}

/* unprocessed_finish() */
inline finish_pending(i, k, taken, copied)
{
	do
	:: k < taken ->
		i = page[k];
		if
		:: k < copied ->
			REMOVE(i);
			END(i);
			BECOME(i, RETURNING, FREE);
			free_record(i)
		:: else ->
#ifndef FAULT_STOP_LOSES
			BECOME(i, RETURNING, PENDING)
#else
			skip
#endif
		fi;
		k++
	:: else -> break
	od;
	i = 0;
	k = 0
}

/* HWTIMER_IOC_STOP */
active proctype stopper()
{
	byte i, k, taken, copied;

	do
	:: atomic { !closing && !stopped -> stopped = true }
	:: atomic { MAY_ENTER && stopped -> ENTER_HARVEST };
		atomic { take_pending(i, taken) };
		atomic { copy(taken, copied) };
		atomic { finish_pending(i, k, taken, copied) };
		atomic { LEAVE_HARVEST; taken = 0; copied = 0 }
	:: atomic { closing -> break }
	od
}

/* A record is in the queue as often as its state says. */
inline check_queue(i)
{
	assert((waiting > 0 && ready[0] == i) + (waiting > 1 && ready[1] == i) ==
	       (state[i] == EXPIRED || state[i] == DISCARDED))
}

/* hwtimer_instance_destroy(). Each timer is where it belongs, and ends now. */
inline close_record(i)
{
	check_queue(i);
	assert(state[i] != LEAVING && state[i] != RETURNING);
	assert(live[i] == (state[i] == PENDING || state[i] == EXPIRED));
	assert(in_wheel[i] == (state[i] == PENDING));
	assert(used[i] == (state[i] != FREE));
	assert((extension[i] == EXTENSION) == (used[i] && periodic[i]));
	if
	:: live[i] -> END(i)
	:: else
	fi
}

active proctype closer()
{
	byte i;

	atomic {
		users == 0;
		closing = true;
		assert(pending == in_wheel[0] + in_wheel[1]);
		assert(periodics == (extension[0] == EXTENSION) +
				    (extension[1] == EXTENSION));
		close_record(0);
		close_record(1);
		assert(ended == scheduled);
		assert(generation[0] + generation[1] == scheduled)
	}
}
