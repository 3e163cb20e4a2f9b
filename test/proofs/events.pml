/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A model of the bounded queue of events for spin, which tries every order in which the
 * worker, readers and other calls can hold the instance's lock. test/vm/proofs.sh runs it; each
 * variant with a fault must fail.
 *
 * The worker and read() both turn the wheel into the bounded ring of events. They promise
 * each other:
 *
 *   the worker	turns while the ring has room for a hold of timers, and wakes readers after
 *		each hold in which events came, if enough wait. At a full ring it parks: it
 *		does not come again of itself
 *   read()	turns when no event is left, the ring is not full, and timers are due; if more
 *		are due then, the worker counts as parked. It consumes events in the hold that
 *		has copied them. In its last hold, and before each page fault, it unparks, and
 *		tells other readers of what it leaves behind: see read_hold()
 *   unpark	has the worker come now if it is parked, unless the ring is full, or enough
 *		events wait: then readers were told. Everybody calls it, in the same hold, who
 *		takes, drops or acknowledges events, makes room, or raises the threshold
 *   tidy	if no event is unread, dead entries behind those that were read go; if none
 *		counts for ACK, those before the unread ones. So a ring of dead entries only is
 *		empty, and not full for ever
 *
 * "Enough" is about events only: whether the clock was set, or the instance stopped, says nothing
 * about who turns the wheel. So while a timer is due, the worker is on its way, or enough events
 * wait, or a read() goes on, or the program has to acknowledge. And the work of the worker for
 * a program that does nothing is bounded by the ring.
 *
 * Each atomic block is one hold of the lock, or one step without it. When nothing can happen
 * any more, init checks that nobody sleeps over something, and that every timer has ended.
 *
 * test/vm/proofs.sh chooses the size and what happens by -D..., and breaks the model in one place
 * by -DFAULT_...
 */

/* Timers 1 to TIMERS are due in that order. Timer 1 is periodic and expires twice. */
#ifndef TIMERS
#define TIMERS 4
#endif

/* Entries of the ring. The one with which an instance starts is replaced before it is full. */
#ifndef SIZE
#define SIZE 2
#endif

/* HWTIMER_HOLD: how many timers expire in a hold, at most */
#ifndef HOLD
#define HOLD 1
#endif

/* HWTIMER_IOC_NOTIFY: the threshold at first, and what another call makes it */
#ifndef THRESHOLD
#define THRESHOLD 1
#endif

/* Room in the buffers of the two readers */
#ifndef ROOM
#define ROOM 1
#endif
#ifndef ROOM_EDGE
#define ROOM_EDGE 2
#endif

/*
 * How often a copy to user memory stops, a signal ends a read(), a reader waits for a page for
 * ever or is busy for ever, CANCEL ends a timer or drops an event; and how many timers are
 * scheduled while others expire
 */
#ifndef STOPS
#define STOPS 0
#endif
#ifndef SIGNALS
#define SIGNALS 0
#endif
#ifndef BUSY
#define BUSY 0
#endif
#ifndef CANCELS
#define CANCELS 0
#endif
#ifndef LATE
#define LATE 0
#endif

#define FREE 0
#define PENDING 1
#define EXPIRED 2

/* Entries of the ring without an event. There is no timer 0. */
#define DEAD 0
#define DROPPED 255		/* it was read before, so ACK counts it */

/* Times, in their order */
#define PAST 0
#define AHEAD 1
#define NEVER 2

byte state[TIMERS + 1];
byte left = 2;			/* expirations of timer 1 */
bool ending;			/* the event of timer 1 is its last */

byte wheel[TIMERS];		/* pending timers, in the order of their ticks */
byte pending;
byte due;			/* how many of these are due */

byte ring[SIZE];		/* its entries from the head on */
byte next, tail;		/* counted from the head */
byte unread;			/* events from next on */
byte read;			/* entries before next that ACK counts */
bool parked;

byte threshold = THRESHOLD;
bool overdue;
bool report;			/* the clock was set */
bool stopped;

byte at = AHEAD;		/* wakeup.at */
bool alarm = true;		/* the worker's alarm is queued, for at */

bool asleep[2];			/* the readers in wait queues */
bool edge = true;		/* the epoll instance has the file in its list */

/* The truth: whether the event of a timer was delivered, since a rewind */
bool told[TIMERS + 1];

/* The worker has come to a full ring, and nobody has done anything since. */
bool idle;

/* Readers that have seen the end */
byte finished;

/* What may still happen */
byte stops_left = STOPS;
byte signals_left = SIGNALS;
byte busy_left = BUSY;

#define FULL (tail + HOLD > SIZE)
#define LIMIT TIMERS

#ifdef FAULT_FULL_UNREADABLE
#define ENOUGH (unread > 0 && (unread >= threshold || overdue))
#else
#define ENOUGH (unread > 0 && (unread >= threshold || overdue || FULL || \
			       unread + read >= LIMIT))
#endif

/* hwtimer_notice_readable(), hwtimer_instance_drained() */
#define READABLE (ENOUGH || report || stopped)
#define DRAINED (stopped && unread == 0)

/* hwtimer_notice_wake() */
inline wake()
{
#ifdef EXCLUSIVE
	/* Passes over an epoll instance that nobody waits for. */
	if
	:: asleep[0] && !DRAINED -> asleep[0] = false
	:: !asleep[0] && !DRAINED -> asleep[1] = false
	:: DRAINED ->
		asleep[0] = false;
		asleep[1] = false
	fi
#else
	asleep[0] = false;
	edge = true
#endif
}

/* hwtimer_wakeup_next() */
#define NEXT (due > 0 -> PAST : (pending > 0 -> AHEAD : NEVER))

/* hwtimer_wakeup_rearm() */
inline rearm()
{
	if
#ifdef FAULT_SCHEDULED_UNTOLD
	:: false ->
#else
	:: at != PAST && NEXT < at && !stopped ->
#endif
		at = NEXT;
		alarm = true
	:: else
	fi
}

/* hwtimer_wakeup_requeue() */
inline requeue()
{
	at = NEXT;
	alarm = at != NEVER
}

#ifdef FAULT_UNPARK_REPORT
#define UNPARKS (parked && !FULL && !READABLE)
#else
#define UNPARKS (parked && !FULL && !ENOUGH)
#endif

/* hwtimer_notice_unpark() */
inline unpark()
{
	if
	:: UNPARKS ->
		parked = false;
		at = (stopped -> at : PAST);
		alarm = !stopped
	:: else
	fi
}

inline add(i)
{
	state[i] = PENDING;
	wheel[pending] = i;
	pending++
}

/* Removes entry j from the wheel. */
inline remove(j)
{
	due = (j < due -> due - 1 : due);
	pending--;
	do
	:: j < pending ->
		wheel[j] = wheel[j + 1];
		j++
	:: else -> break
	od;
	wheel[pending] = 0;
	j = 0
}

/* hwtimer_events_turn() */
inline turn(i, j, n, found)
{
	parked = false;
	n = HOLD;
	do
	:: n > 0 && due > 0 ->
		assert(!stopped);
		assert(tail < SIZE);
		n--;
		found = true;
		i = wheel[0];
		assert(state[i] == PENDING);
		state[i] = EXPIRED;
		told[i] = false;
		ring[tail] = i;
		tail++;
		unread++;
		remove(j);
		i = 0
	:: else -> break
	od;
	n = 0
}

inline head_advance(j)
{
	assert(tail > 0);
	tail--;
	next = (next > 0 -> next - 1 : 0);
	do
	:: j < tail ->
		ring[j] = ring[j + 1];
		j++
	:: else -> break
	od;
	ring[tail] = DEAD;
	j = 0
}

/*
 * hwtimer_events_taken(): if no event is unread, dead entries at the end go; if none counts
 * for ACK, those at the head go. unread is exact.
 */
inline tidy(i, j)
{
#ifndef FAULT_DEAD_STAY
	do
	:: unread == 0 && tail > next ->
		tail--;
		assert(ring[tail] == DEAD)
	:: else -> break
	od;
#endif
#ifndef FAULT_DEAD_READ_STAY
	do
	:: read == 0 && next > 0 ->
		assert(ring[0] == DEAD);
		head_advance(j)
	:: else -> break
	od;
#endif
	overdue = overdue && unread > 0;
	i = 0;
	j = next;
	do
	:: j < tail ->
		i = i + (ring[j] != DEAD);
		j++
	:: else -> break
	od;
	assert(i == unread);
	i = 0;
	j = 0
}

/* event_finish() */
inline finish(i)
{
	assert(state[i] == EXPIRED);
	assert(told[i]);
	told[i] = false;
	state[i] = FREE;
	if
	:: i == 1 ->
		left--;
		if
		:: left > 0 && !ending && !stopped ->
			add(i);
			rearm()
		:: else
		fi
	:: else
	fi
}

/* The event of timer i reaches a reader, those of one-shot timers in their order. */
inline deliver(i, j)
{
	assert(state[i] == EXPIRED && !told[i]);
	told[i] = true;
	j = 2;
	do
	:: j < i ->
		assert(state[j] != EXPIRED || told[j]);
		j++
	:: else -> break
	od;
	j = 0
}

/* batch_end() */
inline consume(i, j)
{
	unread--;
#ifdef AT_LEAST_ONCE
	next++;
	read++
#else
	head_advance(j);
	finish(i)
#endif
}

inline pass_dead(j)
{
	do
	:: tail > next && ring[next] == DEAD ->
#ifdef AT_LEAST_ONCE
		next++
#else
		head_advance(j)
#endif
	:: else -> break
	od
}

#ifdef FAULT_READ_PAST_BOUND
#define READ_TURNS (unread == 0 && at == PAST && !stopped)
#else
#define READ_TURNS (unread == 0 && at == PAST && !stopped && !FULL)
#endif

/* read_some(): each event is copied and consumed, or the copy stops at it. */
inline read_some(i, j, room, got, stops)
{
	do
	:: unread > 0 && got < room ->
		pass_dead(j);
		i = ring[next];
		if
		:: stops_left > 0 ->
			stops_left--;
			stops = true;
#ifdef FAULT_CONSUMES_TORN
			consume(i, j);
#endif
			break
		:: true ->
			deliver(i, j);
			consume(i, j);
			got++
		fi
	:: else -> break
	od;
	pass_dead(j);
	tidy(i, j)
}

/*
 * read_hold(), and then the wake-up. Other readers are told of the end; of events that this
 * reader has turned out and leaves behind; of those that it leaves behind where the program
 * may believe that there are none; and at the bound, as no event will come that tells the
 * next one that waits with EPOLLEXCLUSIVE.
 */
inline read_hold(i, j, n, room, got, turned, stops, ends, over, tell)
{
	atomic {
		idle = false;
		if
		:: READ_TURNS ->
			turn(i, j, n, turned);
			/* hwtimer_wakeup_turned() */
			if
#ifdef FAULT_TURNED_UNPARKED
			:: due > 0 -> skip
#else
			:: due > 0 -> parked = true
#endif
			:: else -> requeue()
			fi
		:: else -> read_some(i, j, room, got, stops)
		fi;
		if
		:: stops
		:: !stops && got == room -> ends = true
		:: !stops && got < room && unread == 0 && !READ_TURNS ->
			ends = true;
			over = true
		:: !stops && got < room && (unread > 0 || READ_TURNS) &&
		   signals_left > 0 ->
			signals_left--;
			ends = true;
			over = got > 0
		:: !stops && got < room && (unread > 0 || READ_TURNS)
		fi;
		if
		:: stops || ends ->
#ifndef FAULT_READ_LEAVES_DUE
			unpark();
#endif
			tell = (got > 0 && DRAINED) || (ENOUGH && (false
#ifndef FAULT_TURNED_UNTOLD
				|| turned
#endif
#ifndef FAULT_SHORT_UNTOLD
				|| stops || over
#endif
#ifndef FAULT_BOUND_UNTOLD
				|| parked
#endif
				));
#ifdef FAULT_DRAINED_UNTOLD
			tell = tell && !DRAINED;
#endif
			turned = false
		:: else
		fi
	};
	if
	:: tell -> atomic { wake(); tell = false }
	:: else
	fi
}

/*
 * read() with some room. Sets got, and over if the program may take that for the end: less
 * was read than there was room for, and no EINTR.
 */
inline read_call(i, j, n, room, got, turned, stops, ends, over, tell)
{
	atomic { got = 0; over = false };
	do
	:: !ends ->
		read_hold(i, j, n, room, got, turned, stops, ends, over, tell);
		if
		/* The page never comes. */
		:: atomic { stops && busy_left > 0 -> busy_left--; false }
		:: stops -> stops = false
		:: stops && got > 0 -> atomic { stops = false; ends = true; over = true }
		:: !stops
		fi
	:: ends -> break
	od;
	ends = false
}

/* hwtimer_turn() */
proctype worker()
{
	byte i, j, n;
	bool found, tell;

	do
	:: atomic { alarm && at == PAST -> alarm = false };
#ifdef FAULT_WAKE_EARLY
		atomic { wake() };
#endif
		atomic {
			assert(!FULL || !idle);
			if
#ifdef FAULT_WORKER_PAST_BOUND
			:: !stopped -> turn(i, j, n, found)
#else
			:: !stopped && !FULL -> turn(i, j, n, found)
#endif
			:: !stopped && FULL -> idle = !alarm
#ifdef FAULT_EXPIRES_STOPPED
			:: stopped -> turn(i, j, n, found)
#else
			:: stopped
#endif
			fi;
			tell = found && ENOUGH;
			found = false;
#ifdef FAULT_EDGE_LOST
			tell = tell && unread == threshold;
#endif
#ifdef FAULT_BOUND_EDGE_LOST
			tell = tell && !FULL;
#endif
			if
#ifdef FAULT_FULL_KICKS
			:: !stopped -> requeue()
#else
			:: !stopped && FULL -> parked = true
			:: !stopped && !FULL -> requeue()
#endif
			:: stopped
			fi
		};
		if
#ifdef FAULT_WAKE_EARLY
		:: tell -> tell = false
#else
		:: tell -> atomic { wake(); tell = false }
#endif
		:: !tell
		fi
	od
}

proctype clock()
{
	do
	:: atomic { due < pending && !stopped ->
		due++;
		at = (at == AHEAD -> PAST : at) }
	od
}

/* A thread that blocks in read(), or level-triggered epoll with EPOLLEXCLUSIVE */
proctype reader(bool me)
{
	byte i, j, n, got;
	bool turned, stops, ends, over, tell;

	do
	:: atomic { DRAINED -> finished++; break }
	:: atomic { !READABLE -> asleep[me] = true };
		!asleep[me]
#ifndef EXCLUSIVE
	:: atomic { busy_left > 0 -> busy_left--; false }
#endif
	:: atomic { READABLE && !DRAINED };
		if
		:: atomic { report -> report = false }
		:: !report ->
			read_call(i, j, n, ROOM, got, turned, stops, ends, over, tell)
#ifdef EXCLUSIVE
			;
			if
			:: atomic { got > 0 && busy_left > 0 -> busy_left--; false }
			:: true
			fi
#endif
		fi;
		atomic { got = 0; over = false }
	od
}

/* Edge-triggered epoll: reads until nothing is left, as epoll(7) says. */
proctype edge_reader()
{
	byte i, j, n, got;
	bool turned, stops, ends, over, tell;

	do
	:: atomic { edge -> edge = false };
		if
		:: atomic { DRAINED -> finished++; break }
		:: READABLE && !DRAINED ->
			do
			:: atomic { report -> report = false }
			:: !report ->
				read_call(i, j, n, ROOM_EDGE, got, turned, stops, ends, over,
					  tell);
				got = 0;
				if
				:: over -> over = false; break
				:: else
				fi
			od
		:: else
		fi
	od
}

/* CANCEL of a pending timer; CANCEL of an expired one, with HWTIMER_REQ_DISCARD or without */
proctype canceller()
{
	byte i, j, n = CANCELS;
	bool tell;

	do
	:: atomic { n > 0 && pending > 0 ->
		n--;
		j = 0;
		do
		:: j < pending - 1 -> j++
		:: break
		od;
		state[wheel[j]] = FREE;
		remove(j);
		idle = false }
	:: atomic { n > 0 && tail > 0 ->
		n--;
		do
		:: j < tail - 1 -> j++
		:: break
		od;
		i = ring[j];
		idle = false;
		if
		:: i == DEAD || i == DROPPED
		:: i == 1 -> ending = true
		:: i != DEAD && i != DROPPED ->
			state[i] = FREE;
			told[i] = false;
			ring[j] = (j < next -> DROPPED : DEAD);
#ifndef FAULT_DISCARD_COUNTS
			unread = (j < next -> unread : unread - 1);
#endif
			i = 0;
			j = 0;
			tidy(i, j);
#ifndef FAULT_CANCEL_PARKED
			unpark();
#endif
			tell = DRAINED
		fi;
		i = 0;
		j = 0 };
		if
		:: tell -> atomic { wake(); tell = false }
		:: else
		fi
	:: n == 0 -> break
	od
}

/* SCHEDULE of the last timers */
proctype scheduler()
{
	byte i = TIMERS - LATE + 1;

	do
	:: atomic { i <= TIMERS && !stopped ->
		add(i);
		rearm();
		idle = false;
		i++ }
	:: i > TIMERS || stopped -> break
	od
}

#ifdef NEW_THRESHOLD
/* HWTIMER_IOC_NOTIFY */
proctype notifier()
{
	bool tell;

	atomic {
		threshold = NEW_THRESHOLD;
		overdue = false;
		idle = false;
#ifndef FAULT_NOTIFY_UNTOLD
		tell = ENOUGH;
#endif
#ifndef FAULT_NOTIFY_PARKED
		unpark()
#endif
	};
	if
	:: tell -> atomic { wake(); tell = false }
	:: else
	fi
}
#endif

/* hwtimer_notice_chores(): the delay of HWTIMER_IOC_NOTIFY passes. */
proctype chores()
{
	bool tell;

	do
	:: atomic { unread > 0 && threshold > 1 && !overdue ->
		tell = unread < threshold;
#ifdef FAULT_DELAY_UNTOLD
		tell = false;
#endif
		overdue = true };
		if
		:: tell -> atomic { wake(); tell = false }
		:: else
		fi
	od
}

/* hwtimer_notice_check_clock() */
proctype reporter()
{
	atomic { report = true };
	atomic { wake() }
}

/* HWTIMER_IOC_ACK: of one event, of all that were read, or of one too many */
proctype acknowledger()
{
	byte i, j, n;
	bool once = true;

	do
	:: atomic { read > 0 || once ->
		idle = false;
		if
		:: read > 0 -> n = 1
		:: read > 1 -> n = read
		:: once ->
			once = false;
			n = read + 1
		fi;
		if
#ifndef FAULT_ACK_PAST
		:: n > read -> n = 0
#endif
		:: else
		fi;
		do
		:: n > 0 ->
			i = ring[0];
			head_advance(j);
			if
			:: i == DEAD
			:: i == DROPPED ->
				n--;
				read--
			:: else ->
				n--;
				read--;
				finish(i)
			fi
		:: else -> break
		od;
		i = 0;
		tidy(i, j);
#ifndef FAULT_ACK_PARKED
		unpark()
#endif
		}
	od
}

/* HWTIMER_ACK_REWIND */
proctype rewinder()
{
	byte i, j;
	bool tell;

	atomic {
		/* Readers that have seen the end do not come back. */
		finished == 0;
		idle = false;
		do
#ifdef FAULT_REWIND_FORGETS
		:: next > 1 ->
#else
		:: next > 0 ->
#endif
			next--;
			if
			:: ring[next] == DROPPED -> ring[next] = DEAD
			:: ring[next] != DROPPED && ring[next] != DEAD ->
				told[ring[next]] = false;
				unread++
			:: ring[next] == DEAD
			fi
		:: else -> break
		od;
#ifdef FAULT_REWIND_FORGETS
		next = 0;
#endif
		read = 0;
		tidy(i, j);
#ifndef FAULT_REWIND_PARKED
		unpark();
#endif
#ifndef FAULT_REWIND_UNTOLD
		tell = ENOUGH
#endif
	};
	if
	:: tell -> atomic { wake(); tell = false }
	:: else
	fi
}

/* HWTIMER_IOC_CANCEL_ALL with HWTIMER_LIST_STOP, which then ends all timers */
proctype stopper()
{
	byte i, j;

	atomic {
		stopped = true;
		alarm = false;
		idle = false;
#ifdef FAULT_STOP_DROPS
		do
		:: tail > next ->
			tail--;
			ring[tail] = DEAD
		:: else -> break
		od;
		unread = 0
#endif
	};
#ifndef FAULT_STOP_UNTOLD
	atomic { wake() };
#endif
	atomic {
		do
		:: pending > 0 ->
			state[wheel[0]] = FREE;
			remove(j)
		:: else -> break
		od;
		ending = true
	}
}

init {
	byte i = 1;

	atomic {
		do
		:: i <= TIMERS - LATE ->
			add(i);
			i++
		:: else -> break
		od;
		i = 0;
		run worker();
		run clock();
		run reader(0);
#ifdef EXCLUSIVE
		run reader(1);
#else
		run edge_reader();
#endif
#if CANCELS
		run canceller();
#endif
#if LATE
		run scheduler();
#endif
#ifdef NEW_THRESHOLD
		run notifier();
#endif
#ifdef DELAY
		run chores();
#endif
#ifdef REPORT
		run reporter();
#endif
#ifdef AT_LEAST_ONCE
		run acknowledger();
#ifdef REWIND
		run rewinder();
#endif
#endif
#ifdef STOP
		run stopper();
#endif
	};
	atomic {
		timeout;
		/* All timers that were not stopped are due, and have expired. */
		assert(pending == 0);
#ifdef EXCLUSIVE
		/* The second one is told when events come, and at the bound. */
		assert(due == 0);
#else
#ifdef DELAY
		assert(unread == 0);
#else
		assert(unread == 0 || !ENOUGH);
#endif
		if
		:: unread == 0 ->
			i = 1;
			do
			:: i <= TIMERS ->
				assert(state[i] == FREE);
				i++
			:: else -> break
			od;
			assert(tail == 0 && read == 0)
		:: else
		fi;
		assert(!READABLE || stopped);
		/* The readers have seen the end. */
		assert(!stopped || finished + BUSY - busy_left == 2)
#endif
	}
}
