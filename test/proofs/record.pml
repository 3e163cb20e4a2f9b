/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A model of the states of a record for spin, which tries every order in which the holds
 * of the instance's lock can happen: SCHEDULE, expiry, read(), CANCEL, CANCEL_ALL and close(),
 * with one-shot and periodic timers. test/vm/proofs.sh runs it; each variant with a fault must
 * fail. It compares the changes of state that are reached, BECOME(), with
 * hwtimer_states_after[] in wheel/table.c. events.pml is a model of who wakes whom.
 *
 * Each atomic block is one hold of the lock. The model has RECORDS records, handed out as
 * the table does: the lowest free one. The state of the second record of a periodic timer,
 * HWTIMER_EXTENSION, is modelled beside its first record.
 *
 * A read ends, in one hold, the events that it has copied; the copy may stop at any event.
 * live[] says, independently of the states, which timers have not ended. A timer ends when
 * it is cancelled or its event is dropped, when its last event is delivered, when it is
 * handed back while it is pending, or when close() finds it. close() finds each other timer
 * where it belongs: in the wheel, or in the ring.
 *
 * -DFAULT_... breaks the model in one place.
 */
#define RECORDS 2

/* Entries of the ring, the dead ones included */
#define RING 3

/* How many timers are scheduled, and how often a periodic one expires */
#ifndef TIMERS
#define TIMERS 3
#endif
#define COUNT 2

#define FREE 0
#define PENDING 1
#define EXPIRED 2
#define EXTENSION 3
#define STATES 4

byte state[RECORDS];
byte extension[RECORDS];	/* state of the record's extension */
bool used[RECORDS];		/* the table does not hand it out */
byte generation[RECORDS];
bool periodic[RECORDS];
bool ending[RECORDS];		/* HWTIMER_RECORD_ENDING */
byte left[RECORDS];		/* expirations left */
bool in_wheel[RECORDS];		/* it has a live entry */
bool live[RECORDS];		/* the truth: its timer has not ended */
bool handed[RECORDS];		/* the truth: it was handed back, and its event waits */

byte scheduled;			/* number of timers so far */
byte ended;			/* number of those that have ended */
byte periodics;			/* instance->periodic */
byte pending;			/* stats.pending */
bool stopped;
bool swept;			/* the truth: CANCEL_ALL has ended all timers since the stop */
byte users;			/* threads that are in a call */
bool closing;

/* instance->events: indices and generations, and their number */
byte ring[RING];
byte ring_generation[RING];
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

/* hwtimer_table_expired() */
#ifdef FAULT_DEAD_MATCHES
#define ALIVE(nr) (state[ring[nr]] == EXPIRED)
#else
#define ALIVE(nr) (state[ring[nr]] == EXPIRED && \
		   ring_generation[nr] == generation[ring[nr]])
#endif

/* Removes the oldest entry from the ring. */
inline advance()
{
	assert(waiting > 0);
	ring[0] = ring[1];
	ring_generation[0] = ring_generation[1];
	ring[1] = ring[2];
	ring_generation[1] = ring_generation[2];
	ring[2] = 0;
	ring_generation[2] = 0;
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
	handed[i] = false;
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

/* hwtimer_events_turn(): the wheel has given out record i. */
inline expire(i)
{
	REMOVE(i);
	BECOME(i, PENDING, EXPIRED);
	ring[waiting] = i;
	ring_generation[waiting] = generation[i];
	waiting++;
	i = 0
}

#ifdef FAULT_EXPIRE_STOPPED
#define EXPIRES(i) (in_wheel[i] && !closing && waiting < RING)
#else
#define EXPIRES(i) (in_wheel[i] && !closing && waiting < RING && !stopped)
#endif

/* hwtimer_turn(), or a read that turns the wheel */
active proctype turner()
{
	byte i;

	do
	:: atomic { EXPIRES(0) -> i = 0; assert(!stopped); expire(i) }
	:: atomic { EXPIRES(1) -> i = 1; assert(!stopped); expire(i) }
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

/* event_finish(), hwtimer_period_rearm() */
inline finish_event(i, goes_on)
{
	goes_on = false;
	if
	:: periodic[i] && !ending[i] ->
		left[i]--;
		goes_on = left[i] > 0
	:: else
	fi;
	if
	:: goes_on ->
		BECOME(i, EXPIRED, PENDING);
		ADD(i)
	:: else ->
		END(i);
		BECOME(i, EXPIRED, FREE);
		free_record(i)
	fi;
	goes_on = false
}

/* read_some() */
active proctype reader()
{
	byte i;
	bool goes_on;

	do
#ifdef FAULT_READ_UNLOCKED
	/* It ends the event in a later hold of the lock than it copies it. */
	:: atomic { !closing && waiting > 0 && ALIVE(0) -> ENTER; i = ring[0] };
		atomic { advance(); finish_event(i, goes_on); LEAVE; i = 0 }
#endif
	:: atomic { !closing && waiting > 0 ->
		do
		:: waiting > 0 && !ALIVE(0) -> advance()
		:: waiting > 0 && ALIVE(0) ->
			i = ring[0];
			assert(live[i]);
			assert(generation[i] == ring_generation[0]);
			advance();
			finish_event(i, goes_on)
		:: waiting > 0 && ALIVE(0) ->
			/* The copy stops. */
#ifdef FAULT_READ_LOSES
			advance();
#endif
			break
		:: waiting == 0 -> break
		od;
		i = 0 }
	:: atomic { closing -> break }
	od
}

/* hwtimer_events_drop(): the entry in the ring is dead. */
inline drop(i)
{
	END(i);
	BECOME(i, EXPIRED, FREE);
#ifdef FAULT_DROP_KEEPS_RECORD
	skip
#else
	free_record(i)
#endif
}

/* hwtimer_op_cancel(), with HWTIMER_REQ_DISCARD or without */
inline cancel(i)
{
	if
	:: state[i] == PENDING ->
		REMOVE(i);
		END(i);
		BECOME(i, PENDING, FREE);
		free_record(i)
	:: state[i] == EXPIRED -> drop(i)
	:: state[i] == EXPIRED && periodic[i] -> ending[i] = true
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

/* The event that waits is not the last one. */
#ifdef FAULT_CANCEL_ALL_PASSES_RESTING
#define RESTS(i) false
#else
#define RESTS(i) (periodic[i] && !ending[i] && left[i] > 1)
#endif

/* cancel_visit() of CANCEL_ALL: hands record i back, if it is to be. */
inline hand_back(i)
{
	if
	:: state[i] == PENDING ->
		assert(!handed[i]);
		REMOVE(i);
		END(i);
		BECOME(i, PENDING, FREE);
		free_record(i)
	:: state[i] == EXPIRED && RESTS(i) ->
		handed[i] = true;
#ifndef FAULT_HANDED_GOES_ON
		ending[i] = true
#endif
	:: state[i] == EXPIRED -> drop(i)	/* HWTIMER_LIST_DISCARD */
	:: state[i] != PENDING && !(state[i] == EXPIRED && RESTS(i))
	fi
}

/*
 * HWTIMER_IOC_CANCEL_ALL, again and again. Once the instance is stopped, whoever comes to the
 * end of the table has ended all timers.
 */
active proctype ender()
{
	byte cursor = RECORDS;
	bool all;

	do
	:: atomic { !closing && !stopped -> stopped = true }	/* HWTIMER_LIST_STOP */
	:: atomic { !closing && cursor == RECORDS -> cursor = 0; all = stopped }
	:: atomic { !closing && cursor < RECORDS ->
		do
		:: cursor < RECORDS ->
			hand_back(cursor);
			cursor++
		:: cursor < RECORDS ->
			/* The copy stops. */
#ifdef FAULT_STOP_LOSES
			cursor++;
#endif
			break
		:: cursor == RECORDS -> swept = swept || all; break
		od }
	:: atomic { closing -> break }
	od
}

/* A live entry of the ring stands for record i if it has expired, and only then. */
inline check_ring(i)
{
	assert((waiting > 0 && ring[0] == i && ALIVE(0)) +
	       (waiting > 1 && ring[1] == i && ALIVE(1)) +
	       (waiting > 2 && ring[2] == i && ALIVE(2)) == (state[i] == EXPIRED))
}

/* hwtimer_instance_destroy(). Each timer is where it belongs, and ends now. */
inline close_record(i)
{
	check_ring(i);
	assert(live[i] == (state[i] == PENDING || state[i] == EXPIRED));
	assert(in_wheel[i] == (state[i] == PENDING));
	assert(used[i] == (state[i] != FREE));
	assert((extension[i] == EXTENSION) == (used[i] && periodic[i]));
	assert(!swept || state[i] != PENDING);
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
