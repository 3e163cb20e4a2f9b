// SPDX-License-Identifier: GPL-2.0
/*
 * Checks the end of each timer; see ledger.h.
 */
#include <err.h>
#include <stdlib.h>

#include "device.h"
#include "ledger.h"

/* Opens the ledger for @count timers, none of which has ended. */
void ledger_open(struct ledger *ledger, const struct hwtimer_wheel *wheel,
		 const struct timer *timers, u32 count)
{
	*ledger = (struct ledger){
		.wheel = wheel,
		.timers = timers,
		.ended = allocate(count, sizeof(*ledger->ended)),
		.left = count,
	};
}

static void end(struct ledger *ledger, u32 number)
{
	if (ledger->ended[number])
		errx(1, "timer %u has ended twice", number);
	ledger->ended[number] = true;
	ledger->left--;
}

void ledger_cancelled(struct ledger *ledger, u32 number)
{
	end(ledger, number);
}

static void check_time(const struct ledger *ledger, u32 number, u64 now)
{
	const struct timer *timer = &ledger->timers[number];
	u64 last = timer->deadline + timer->slack + ledger->wheel->shape.tick;

	if (now < timer->deadline)
		errx(1, "timer %u is early by %llu ns", number,
		     timer->deadline - now);
	if (now > last)
		errx(1, "timer %u is %llu ns later than allowed", number,
		     now - last);
}

static void check_order(struct ledger *ledger, u32 number)
{
	u64 tick = hwtimer_wheel_tick_of(ledger->wheel,
					 ledger->timers[number].deadline);

	if (tick < ledger->tick ||
	    (tick == ledger->tick && number < ledger->number))
		errx(1,
		     "timer %u of tick %llu comes after timer %u of tick %llu",
		     number, tick, ledger->number, ledger->tick);
	ledger->tick = tick;
	ledger->number = number;
}

/* @now: the time at which the timer expired, ns */
void ledger_expired(struct ledger *ledger, const struct event *event, u64 now)
{
	u32 number = event->number;

	end(ledger, number);
	check_time(ledger, number, now);
	if (!ledger->timers[number].slack)
		check_order(ledger, number);
}

/* Closes the ledger; all timers must have ended. */
void ledger_close(struct ledger *ledger)
{
	if (ledger->left)
		errx(1, "%u timers have never ended", ledger->left);
	free(ledger->ended);
}
