/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A model of the rings' protocol for spin, which tries every order in which its steps can
 * happen. It checks that the worker and the consumer sleep and are woken such that no
 * request or event is left waiting. vm/litmus.sh runs it with all fences, and without
 * each one.
 *
 * The modelled machine buffers stores, each word's in a queue of its own, so that stores
 * to different words pass each other. That is weaker than x86, which has one queue. A
 * store reaches memory at any time; a fence waits until all stores of its side have.
 * Loads happen in program order, as both sides' are acquire loads. One process at a time
 * holds the lock; it sees all that the last holder did, but no other process does.
 *
 * One thread of the program submits REQUESTS requests. Another one takes EVENTS events
 * out of a ring of one slot; once it has emptied the ring, it sleeps until the kernel
 * wakes it for an event: an edge. The worker polls the rings POLLS times in vain before
 * it goes idle. From then on it polls only after a kick, or when it is told to.
 *
 * -DNO_IDLE_FENCE and similar options remove one of the fences, and spin must find an
 * error. With -DNO_FLUSH_EDGE, nobody wakes the consumer for events that move from the
 * kernel's queue into the ring.
 */
#define REQUESTS 2
#define EVENTS 2
#define POLLS 1

/* The words in memory, and stores to them that have not arrived yet */
#define TAIL 0    /* by the program: submission_tail */
#define HEAD 1    /* by the program: completion_head */
#define FLAGS 2   /* by the kernel; 1 where HWTIMER_RING_NEED_KICK is not set */
#define WAITING 3 /* by the kernel */
#define CTAIL 4   /* by the kernel: completion_tail */
#define WORDS 5

byte memory[WORDS];
byte stored[WORDS];	/* the value that the word's writer sees */
bool on_its_way[WORDS];

/* A new store to a word replaces one that has not arrived yet. */
#define STORE(word, value)                                      \
	d_step {                                                \
		stored[word] = value;                           \
		on_its_way[word] = memory[word] != stored[word] \
	}
#define ARRIVE(word)                                            \
	d_step { memory[word] = stored[word]; on_its_way[word] = false }
#define LOAD(word) memory[word]
/* The writer of a word sees its own store at once. */
#define OWN(word) stored[word]

#define KERNEL_WORDS_ARRIVED \
	(!on_its_way[FLAGS] && !on_its_way[WAITING] && !on_its_way[CTAIL])

#ifdef NO_IDLE_FENCE
#define IDLE_FENCE skip
#else
#define IDLE_FENCE KERNEL_WORDS_ARRIVED
#endif
#ifdef NO_PUBLISH_EVENTS_FENCE
#define PUBLISH_EVENTS_FENCE skip
#else
#define PUBLISH_EVENTS_FENCE KERNEL_WORDS_ARRIVED
#endif
#ifdef NO_PUBLISH_FENCE
#define PUBLISH_FENCE skip
#else
#define PUBLISH_FENCE !on_its_way[TAIL]
#endif
#ifdef NO_CONSUME_FENCE
#define CONSUME_FENCE skip
#else
#define CONSUME_FENCE !on_its_way[HEAD]
#endif

/* The instance's state, protected by its lock */
bool locked;
byte done;		/* requests done */
byte unexpired = EVENTS;
byte ready;		/* events waiting in the kernel */
bool polling;
byte polls;
bool poll;		/* the worker must poll the rings */

/* Wakes the consumer, as hwtimer_notice_wake() does, which is a full fence. */
bool edge;
#define TELL KERNEL_WORDS_ARRIVED; edge = true
#ifdef NO_FLUSH_EDGE
#define TELL_OF_FLUSH skip
#else
#define TELL_OF_FLUSH TELL
#endif

#define LOCK atomic { !locked -> locked = true }
#define UNLOCK locked = false

/* hwtimer_ring_has_room(), for a ring of one slot */
#define ROOM (OWN(CTAIL) == LOAD(HEAD))

/* hwtimer_completion_publish() */
inline publish_events()
{
	STORE(WAITING, ready);
	if
	:: ready ->
		PUBLISH_EVENTS_FENCE;
		if
		:: ROOM -> poll = true
		:: else
		fi
	:: else
	fi
}

/* exchange_flush(): moves at most one event, as the ring has one slot */
inline flush()
{
	LOCK;
	if
	:: ready && ROOM ->
		d_step { ready--; served = true }
		STORE(CTAIL, OWN(CTAIL) + 1);
		publish_events();
		UNLOCK;
		TELL_OF_FLUSH
	:: else ->
		UNLOCK
	fi
}

/*
 * hwtimer_submission_try(): one batch, which may end before the ring does. It runs under the
 * mutex exchange.drain, for which the model uses its one lock, as it does for drain().
 */
inline drain_some()
{
	LOCK;
	if
	:: done < LOAD(TAIL) -> done++; served = true
	:: else
	fi;
	UNLOCK
}

/* hwtimer_submission_drain() */
inline drain()
{
	LOCK;
	if
	:: done < LOAD(TAIL) -> done = LOAD(TAIL); served = true
	:: else
	fi;
	UNLOCK
}

/* exchange_start_polling() */
inline stay_awake()
{
	d_step { polling = true; polls = POLLS };
	STORE(FLAGS, 1);
	poll = true
}

/* An event expires: hwtimer_harvest_at_once() puts it into the ring, or it is queued. */
active proctype wheel()
{
	do
	:: unexpired ->
		LOCK;
		unexpired--;
		if
		:: !ready && ROOM -> STORE(CTAIL, OWN(CTAIL) + 1)
		:: else -> ready++
		fi;
		publish_events();
		UNLOCK;
		TELL
	:: else -> break
	od
}

/* hwtimer_exchange_poll() */
active proctype worker()
{
	bool served;

end:	do
	:: poll ->
		poll = false;
		served = false;
		drain_some();
		flush();
		LOCK;
		if
		:: served -> polls = POLLS
		:: !served && polls -> polls--
		:: else
		fi;
		if
		:: polling && polls -> poll = true
		:: polling && !polls ->
			/* hwtimer_exchange_stop_polling() */
			polling = false;
			STORE(FLAGS, 0);
			IDLE_FENCE;
			if
			:: done < LOAD(TAIL) || (ready && ROOM) -> stay_awake()
			:: else
			fi
		:: else
		fi;
		UNLOCK
	od
}

/* HWTIMER_IOC_KICK by the writer of @word: the call sees its caller's stores. */
inline kick(word)
{
	!on_its_way[word];
	LOCK;
	if
	:: polling -> polls = POLLS
	:: else -> stay_awake()
	fi;
	UNLOCK;
	drain();
	flush()
}

inline kick_if_needed(word)
{
	if
	:: !LOAD(FLAGS) -> kick(word)
	:: else
	fi
}

/* One thread submits requests, another one takes events. */
active proctype producer()
{
	bool served;
	byte published;

	do
	:: published < REQUESTS ->
		published++;
		STORE(TAIL, published);
		PUBLISH_FENCE;
		kick_if_needed(TAIL)
	:: else -> break
	od;
	/* The producer ends when its results have come. */
	done == REQUESTS
}

active proctype consumer()
{
	bool served;
	byte taken;

	do
	:: taken < EVENTS ->
		atomic { edge -> edge = false };
		do
		:: LOAD(CTAIL) > taken -> taken++
		:: else -> break
		od;
		skip; /* no loop may end in a d_step */
		STORE(HEAD, taken);
		CONSUME_FENCE;
		if
		:: LOAD(WAITING) -> kick_if_needed(HEAD)
		:: else
		fi
	:: else -> break
	od
}

/* Stores arrive in memory, each word's at any time. */
active proctype machine()
{
end:	do
	:: on_its_way[TAIL] -> ARRIVE(TAIL)
	:: on_its_way[HEAD] -> ARRIVE(HEAD)
	:: on_its_way[FLAGS] -> ARRIVE(FLAGS)
	:: on_its_way[WAITING] -> ARRIVE(WAITING)
	:: on_its_way[CTAIL] -> ARRIVE(CTAIL)
	od
}
