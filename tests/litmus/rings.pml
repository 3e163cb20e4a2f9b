/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The protocol of the rings as a model for spin, which looks at every order in
 * which it can happen: who sleeps, who kicks, and that nothing is left lying.
 * Run by vm/litmus.sh, with the fences and without either of them.
 *
 * Memory is that of a machine that buffers stores, each in a queue of its own
 * for each word, so that stores to different words pass each other: weaker than
 * x86, where there is one queue. A store gets to memory at any time; a fence
 * waits until those of its side have. Loads are done in their order, as both
 * sides' are acquire loads. What is locked is done by one at a time; a lock
 * lets the next holder see all that the last one did, but nobody else.
 *
 * The program submits REQUESTS requests in one thread, and takes EVENTS events
 * out of a ring of one slot in another, which sleeps when it has emptied the ring
 * until it is told of an event: an edge. The worker looks LOOKS times in vain
 * before it dozes off; from then on only a kick helps, or the look that it is
 * told to take.
 *
 * With -DNO_DOZE_FENCE and its like one of the fences is missing, and spin has to
 * find out; with -DNO_FLUSH_EDGE nobody is told of events that move into the ring.
 */
#define REQUESTS 2
#define EVENTS 2
#define LOOKS 1

/* The words in memory, and the stores to them on their way. */
#define TAIL 0    /* by the program: submission_tail */
#define HEAD 1    /* by the program: completion_head */
#define FLAGS 2   /* by the kernel; 1 where HWTIMER_RING_NEED_KICK is not set */
#define WAITING 3 /* by the kernel */
#define CTAIL 4   /* by the kernel: completion_tail */
#define WORDS 5

byte memory[WORDS];
byte stored[WORDS];	/* what its writer knows it to be */
bool on_its_way[WORDS];

/* The latest store to a word replaces one that is still on its way. */
#define STORE(word, value)                                      \
	d_step {                                                \
		stored[word] = value;                           \
		on_its_way[word] = memory[word] != stored[word] \
	}
#define ARRIVE(word)                                            \
	d_step { memory[word] = stored[word]; on_its_way[word] = false }
#define LOAD(word) memory[word]
/* Whoever wrote it sees it at once. */
#define OWN(word) stored[word]

#define KERNEL_WORDS_ARRIVED \
	(!on_its_way[FLAGS] && !on_its_way[WAITING] && !on_its_way[CTAIL])

#ifdef NO_DOZE_FENCE
#define DOZE_FENCE skip
#else
#define DOZE_FENCE KERNEL_WORDS_ARRIVED
#endif
#ifdef NO_TOLD_FENCE
#define TOLD_FENCE skip
#else
#define TOLD_FENCE KERNEL_WORDS_ARRIVED
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

/* The instance, under its lock. */
bool locked;
byte done;		/* requests done */
byte unexpired = EVENTS;
byte ready;		/* events that wait in the kernel */
bool awake;
byte looks;
bool look;		/* the worker is to look */

/* The consumer is told of an event, as hwtimer_notice_wake() does: a full fence. */
bool edge;
#define TELL KERNEL_WORDS_ARRIVED; edge = true
#ifdef NO_FLUSH_EDGE
#define TELL_OF_FLUSH skip
#else
#define TELL_OF_FLUSH TELL
#endif

#define LOCK atomic { !locked -> locked = true }
#define UNLOCK locked = false

/* hwtimer_ring_has_room(): a ring of one slot */
#define ROOM (OWN(CTAIL) == LOAD(HEAD))

/* hwtimer_exchange_told() */
inline told()
{
	STORE(WAITING, ready);
	if
	:: ready ->
		TOLD_FENCE;
		if
		:: ROOM -> look = true
		:: else
		fi
	:: else
	fi
}

/* exchange_flush(): one event at the most, as there is one slot */
inline flush()
{
	LOCK;
	if
	:: ready && ROOM ->
		d_step { ready--; served = true }
		STORE(CTAIL, OWN(CTAIL) + 1);
		told();
		UNLOCK;
		TELL_OF_FLUSH
	:: else ->
		UNLOCK
	fi
}

/* worker_drain(), exchange_drain(): drain is a mutex of its own; done under lock */
inline drain()
{
	LOCK;
	if
	:: done < LOAD(TAIL) -> done = LOAD(TAIL); served = true
	:: else
	fi;
	UNLOCK
}

/* exchange_stay_awake() */
inline stay_awake()
{
	d_step { awake = true; looks = LOOKS };
	STORE(FLAGS, 1);
	look = true
}

/* An event expires: hwtimer_harvest_at_once(), or it is queued. */
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
		told();
		UNLOCK;
		TELL
	:: else -> break
	od
}

/* hwtimer_exchange_look() */
active proctype worker()
{
	bool served;

end:	do
	:: look ->
		look = false;
		served = false;
		drain();
		flush();
		LOCK;
		if
		:: served -> looks = LOOKS
		:: !served && looks -> looks--
		:: else
		fi;
		if
		:: awake && looks -> look = true
		:: awake && !looks ->
			/* hwtimer_exchange_doze() */
			awake = false;
			STORE(FLAGS, 0);
			DOZE_FENCE;
			if
			:: done < LOAD(TAIL) || (ready && ROOM) -> stay_awake()
			:: else
			fi
		:: else
		fi;
		UNLOCK
	od
}

/* HWTIMER_IOC_KICK, by whoever wrote to @word: he sees what he wrote. */
inline kick(word)
{
	!on_its_way[word];
	LOCK;
	if
	:: awake -> looks = LOOKS
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

/* One thread submits, and another one takes events. */
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
	/* The end of the program's interest: the result has come. */
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

/* Stores arrive, each word's when it likes. */
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
