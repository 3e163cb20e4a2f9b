# SPDX-License-Identifier: MIT
"""Timers with callbacks: exactly once, never early, and none after cancel()"""

import errno
import random
import select
import time

import hwtimer
from test_instance import HOUR, MS, WithInstance


class Callbacks(WithInstance):
    def setUp(self):
        super().setUp()
        self.called = []

    def note(self, timer):
        """A callback that checks that it is not early"""
        self.assertLessEqual(timer.event.deadline, time.monotonic_ns())
        self.called.append(timer)

    def dispatch_until(self, count):
        """Calls callbacks until there were @count."""
        while len(self.called) < count:
            self.timers.dispatch()

    def wait_ready(self, count):
        """Waits until @count events can be read."""
        while self.timers.stats().ready < count:
            time.sleep(0.001)

    def test_once(self):
        timer = self.timers.timer(self.note)
        self.assertFalse(timer.active)
        timer.start(2 * MS)
        self.assertTrue(timer.active)
        self.dispatch_until(1)
        self.assertFalse(timer.active)
        self.assertEqual(self.timers.dispatch(timeout=5 * MS), 0)
        self.assertEqual(self.called, [timer])
        timer.start(0)
        self.dispatch_until(2)

    def test_order(self):
        """Of timers that were not yet due when they were started: a machine that stands
        still gets more time."""
        timers = [self.timers.timer(self.note) for _ in range(200)]
        places = list(range(200))
        random.Random(1).shuffle(places)
        lead = 20 * MS
        start = 0
        while self.timers.now() >= start:
            lead *= 2
            start = self.timers.now() + lead
            for place in places:
                timers[place].start_at(start + place * MS)
        self.dispatch_until(200)
        self.assertEqual(self.called, timers)

    def test_cancel(self):
        timer = self.timers.timer(self.note)
        self.assertFalse(timer.cancel())
        timer.start(HOUR)
        self.assertTrue(timer.cancel())
        self.assertFalse(timer.cancel())
        self.assertEqual(self.timers.stats().pending, 0)

    def test_cancel_of_what_waits(self):
        timer = self.timers.timer(self.note)
        timer.start(0)
        self.wait_ready(1)
        self.assertTrue(timer.cancel())
        self.assertEqual(self.timers.dispatch(timeout=0), 0)
        self.assertEqual(self.called, [])

    def test_cancel_of_what_was_read(self):
        """All events are in the buffer when the first callback cancels the others."""
        def first(timer):
            self.note(timer)
            self.results = [other.cancel() for other in others]

        self.timers.timer(first).start(0)
        others = [self.timers.timer(self.note) for _ in range(20)]
        for timer in others[:10]:
            timer.start(0)
        for timer in others[10:]:
            timer.start_every(MS)
        self.wait_ready(21)
        self.timers.dispatch()
        self.assertEqual(self.results, [True] * 20)
        self.assertEqual(len(self.called), 1)
        self.assertEqual(self.timers.dispatch(timeout=10 * MS), 0)
        self.assertEqual(self.timers.stats().pending, 0)

    def test_start_of_what_was_read(self):
        """A timer that is started anew is not called for its earlier start."""
        def first(timer):
            self.note(timer)
            self.earliest = self.timers.now() + 5 * MS
            other.start(5 * MS)

        self.timers.timer(first).start(0)
        other = self.timers.timer(self.note)
        other.start(0)
        self.wait_ready(2)
        self.timers.dispatch()
        self.assertEqual(len(self.called), 1)
        self.dispatch_until(2)
        self.assertGreaterEqual(time.monotonic_ns(), self.earliest)
        self.assertEqual(self.timers.dispatch(timeout=10 * MS), 0)
        self.assertEqual(self.called[1:], [other])

    def test_start_again_whatever_the_state(self):
        timer = self.timers.timer(self.note)
        timer.start(HOUR)
        timer.start(2 * HOUR)
        self.assertEqual(self.timers.stats().scheduled, 1)
        timer.start_every(HOUR)
        timer.start(HOUR, slack=MS)
        self.assertEqual(self.timers.stats().pending, 1)
        timer.start(0)
        self.wait_ready(1)
        timer.start(0)
        self.dispatch_until(1)
        self.assertEqual(self.timers.dispatch(timeout=5 * MS), 0)
        self.assertEqual(len(self.called), 1)

    def test_periodic(self):
        timer = self.timers.timer(self.note)
        expirations = []

        def callback(timer):
            self.note(timer)
            expirations.append(timer.event.expirations)
            if sum(expirations) >= 10:
                self.assertTrue(timer.cancel())

        timer = self.timers.timer(callback)
        timer.start_every(MS, first=0)
        while timer.active:
            self.timers.dispatch()
        self.assertGreaterEqual(sum(expirations), 10)
        self.assertEqual(self.timers.dispatch(timeout=5 * MS), 0)

    def test_periodic_with_an_end(self):
        timer = self.timers.timer(self.note)
        expirations = 0
        timer.start_every(MS, count=4)
        while timer.active:
            expirations += self.timers.dispatch() and timer.event.expirations
        self.assertEqual(expirations, 4)
        self.assertFalse(timer.cancel())
        with self.assertRaises(ValueError):
            timer.start_every(0)

    def test_exceptions_lose_nothing(self):
        def fail(timer):
            self.note(timer)
            raise ZeroDivisionError

        for i in range(30):
            self.timers.timer(fail if i % 3 else self.note).start(0)
        self.wait_ready(30)
        failed = 0
        while len(self.called) < 30:
            try:
                self.timers.dispatch()
            except ZeroDivisionError:
                failed += 1
        self.assertEqual((failed, len(set(self.called))), (20, 30))

    def test_dispatch_in_a_callback(self):
        """It does not wait for what was read behind the event of the callback."""
        called = []

        def first(timer):
            called.append(timer)
            for _ in range(3):
                self.timers.dispatch(timeout=0, most=1)
            self.assertEqual(len(called), 4)

        def second(timer):
            called.append(timer)
            if len(called) == 2:
                self.timers.dispatch(timeout=0)

        self.timers.timer(first).start(0)
        for _ in range(3):
            self.timers.timer(second).start(0)
        while self.timers.stats().ready < 4:
            time.sleep(0.001)
        self.assertEqual(self.timers.dispatch(), 1)
        self.assertEqual(len(set(called)), 4)
        self.assertEqual(self.timers._running.read, [])

    def test_failure_leaves_the_earlier_plan(self):
        with hwtimer.Instance(timers=1) as timers:
            called = []
            timer = timers.timer(called.append)
            timer.start(50 * MS)
            other = timers.timer(called.append)
            self.fails(errno.ENOSPC, "limit", other.start, 0)
            self.assertFalse(other.active)
            self.fails(errno.ENOSPC, "limit", timer.start_every, HOUR)
            self.assertTrue(timer.active)
            timers.dispatch()
            self.assertEqual(called, [timer])

    def test_events_of_other_timers(self):
        events = []
        self.timers.timer(self.note).start(0)
        ident = self.timers.schedule(0, 5)
        while len(events) < 1 or len(self.called) < 1:
            self.timers.dispatch(callback=events.append)
        self.assertEqual([(event.id, event.user_data) for event in events], [(ident, 5)])
        self.fails(errno.EBUSY, "dispatch()", self.timers.read)

    def test_user_data_of_callbacks_is_taken(self):
        self.timers.timer(self.note).start(HOUR)
        taken = next(self.timers.list_timers()).user_data
        with self.assertRaises(ValueError):
            self.timers.schedule(0, taken)
        with self.assertRaises(ValueError):
            self.timers.schedule_many([0], [taken])

    def test_stop(self):
        timer = self.timers.timer(self.note)
        timer.start(HOUR)
        self.assertEqual(len(self.timers.stop()), 1)
        self.assertFalse(timer.active)
        self.assertFalse(timer.cancel())
        self.fails(errno.ESHUTDOWN, "stopped", timer.start, 0)
        self.fails(errno.ENOTCONN, "stopped", self.timers.dispatch)

    def test_most(self):
        for _ in range(10):
            self.timers.timer(self.note).start(0)
        self.wait_ready(10)
        self.assertEqual(self.timers.dispatch(most=3), 3)
        self.assertEqual(self.timers.stats().ready, 7)
        self.assertEqual(self.timers.dispatch(most=0), 0)
        self.dispatch_until(10)

    def test_random_against_an_oracle(self):
        """Starts, cancels and expirations in random order. Each start has one callback, or
        was replaced or cancelled with success before."""
        rng = random.Random(2)
        expected, got = {}, []

        def callback(timer):
            plan = expected.pop(timer, None)
            self.assertIsNotNone(plan, "called though nothing was due")
            self.assertGreaterEqual(time.monotonic_ns(), plan, "early")
            got.append(timer)
            act()

        def act():
            timer = rng.choice(timers)
            if rng.random() < 0.6:
                delay = rng.randrange(4 * MS)
                expected[timer] = time.monotonic_ns() + delay
                timer.start(delay)
            else:
                self.assertEqual(timer.cancel(), expected.pop(timer, None) is not None)

        timers = [self.timers.timer(callback) for _ in range(100)]
        for _ in range(3000):
            act()
            if rng.random() < 0.2:
                self.timers.dispatch(timeout=rng.choice((0, MS)))
        while expected:
            self.timers.dispatch()
        self.assertGreater(len(got), 100)
        self.assertEqual(self.timers.dispatch(timeout=10 * MS), 0)
        self.assertEqual(self.timers.stats().pending, 0)


class Readiness(WithInstance):
    def test_select_takes_an_instance(self):
        self.timers.timer(lambda timer: None).start(MS)
        select.select([self.timers], [], [])
        self.assertEqual(self.timers.dispatch(timeout=0), 1)
