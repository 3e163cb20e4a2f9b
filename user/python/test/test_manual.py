# SPDX-License-Identifier: MIT
"""Instances whose clock the program moves. Needs no /dev/hwtimer, and waits for nothing."""

import asyncio
import errno
import math
import os
import random
import select
import threading
import time
import unittest
from unittest import mock

import hwtimer
from test_instance import MS, WithInstance

SECOND = 10**9
START = 86400 * SECOND


class Manual(WithInstance):
    manual = True

    def test_never_early_and_in_order(self):
        rng = random.Random(1)
        for _ in range(20):
            tick = rng.randrange(10**4, 10**8)
            with hwtimer.Instance(manual=True, tick=tick) as timers:
                left = dict(enumerate(START + rng.randrange(1, 100 * tick)
                                      for _ in range(300)))
                timers.schedule_many(list(left.values()), absolute=True)
                latest = 0
                while left:
                    timers.advance(rng.randrange(20 * tick))
                    for event in timers.read(1000, timeout=0):
                        self.assertEqual(left.pop(event.user_data), event.deadline)
                        queued = event.deadline + event.lateness
                        self.assertLessEqual(max(latest, event.deadline), queued)
                        self.assertLessEqual(queued, timers.now())
                        latest = queued
                    self.assertGreater(min(left.values(), default=2**63),
                                       timers.now() - tick)
                self.assertEqual(timers.next_time(), hwtimer.NEVER)

    def test_time_stands(self):
        self.assertEqual(self.timers.now(), START)
        self.timers.schedule(0, 1)
        self.assertEqual(self.timers.read(timeout=10 * SECOND), [])
        self.assertEqual(select.select([self.timers], [], [], 0), ([], [], []))
        self.timers.advance(self.timers.next_time())
        self.assertEqual(select.select([self.timers], [], [], 0)[0], [self.timers])
        self.assertEqual([event.user_data for event in self.timers.read()], [1])
        self.fails(errno.EDEADLK, "advance()", self.timers.read)
        self.fails(errno.EDEADLK, "advance()", self.timers.dispatch)

    def test_iteration_ends_with_an_error(self):
        self.timers.schedule(MS, 1)
        self.timers.advance(MS)
        events = iter(self.timers)
        self.assertEqual(next(events).user_data, 1)
        self.fails(errno.EDEADLK, "advance()", next, events)

    def test_refused(self):
        self.fails(errno.EINVAL, "NEVER", self.timers.advance, hwtimer.NEVER)
        for wrong in (-1, 2**63):
            with self.assertRaises(ValueError):
                self.timers.advance(wrong)
        with self.assertRaisesRegex(TypeError, "seconds"):
            self.timers.advance(0.5)
        self.assertEqual(self.timers.now(), START)
        self.fails(errno.ENOTTY, "open /dev/hwtimer", hwtimer.Instance.from_fd,
                   self.timers.fileno())
        self.timers.close()
        self.fails(errno.EBADF, "closed", self.timers.advance, 1)
        self.fails(errno.EBADF, "closed", self.timers.now)

    def test_settings(self):
        with hwtimer.Instance(manual=True, clock=time.CLOCK_REALTIME, tick=5 * MS,
                              timers=3) as timers:
            self.assertEqual(timers.now(), START)
            self.assertEqual(timers.info().clock, time.CLOCK_REALTIME)
            self.fails(errno.EINVAL, "schedule_at", timers.schedule, MS)
            with self.assertRaises(hwtimer.BulkError) as caught:
                timers.schedule_many([START] * 5, absolute=True)
            self.assertEqual(caught.exception.results[3:], [-errno.ENOSPC] * 2)

    def test_callbacks(self):
        called = []
        timer = self.timers.timer(lambda timer: called.append(self.timers.now() - START))
        timer.start_every(10 * SECOND, count=3)
        for _ in range(6):
            self.timers.advance(5 * SECOND)
            self.timers.dispatch(timeout=0)
        self.assertEqual(called, [10 * SECOND, 20 * SECOND, 30 * SECOND])
        self.assertFalse(timer.active)
        timer.start(SECOND)
        self.assertTrue(timer.cancel())
        self.timers.advance(SECOND)
        self.assertEqual(self.timers.dispatch(timeout=0), 0)

    def test_another_thread_waits(self):
        got = []
        thread = threading.Thread(target=lambda: got.extend(self.timers.read()))
        thread.start()
        self.timers.schedule(SECOND, 5)
        self.timers.advance(SECOND)
        thread.join()
        self.assertEqual([event.user_data for event in got], [5])

    def test_fork(self):
        child = os.fork()
        if not child:
            try:
                self.fails(errno.EBADF, "forked", self.timers.advance, 1)
                self.timers.close()
                os._exit(0)
            finally:
                os._exit(1)
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        self.timers.schedule(SECOND, 1)
        self.timers.advance(SECOND)
        self.assertEqual(len(self.timers.read()), 1)


class InALoop(unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self):
        self.timers = hwtimer.LoopTimers(manual=True)
        self.addCleanup(self.timers.close)
        self.said = []

    def say(self, what):
        """Notes it with the time, s"""
        self.said.append((what, (self.timers.instance.now() - START) / SECOND))

    async def retry(self, delays):
        """A program under test, which knows nothing of the clock"""
        for delay in delays:
            await hwtimer.sleep(delay)
            self.say("try")

    async def test_tasks_sleep(self):
        task = asyncio.create_task(self.retry([1, 2, 4]))
        await self.timers.advance(6.999)
        self.assertEqual(self.said, [("try", 1), ("try", 3)])
        self.assertFalse(task.done())
        await self.timers.advance(0.001)
        self.assertEqual(self.said[2:], [("try", 7)])
        await task

    async def test_callbacks(self):
        hwtimer.call_later(5, self.say, "five")
        never = self.timers.call_later(4, self.say, "never")
        hwtimer.call_at(hwtimer.time() + 60, self.say, "sixty")
        hwtimer.call_later(5, hwtimer.call_later, 5, self.say, "ten")
        await self.timers.advance(3)
        self.assertTrue(never.cancel())
        await self.timers.advance(57)
        self.assertEqual(self.said, [("five", 5), ("ten", 10), ("sixty", 60)])

    async def test_push(self):
        handle = self.timers.call_later(1, self.say, "pushed")
        self.assertTrue(handle.reschedule(handle.when() + 2.1))
        await self.timers.advance(3)
        self.assertEqual(self.said, [])
        await self.timers.advance(0.1)
        self.assertEqual(self.said, [("pushed", 3.1)])
        self.timers.call_at(self.timers.time() + 0.1, self.say, "at")
        await self.timers.advance(0.1)
        self.assertEqual(self.said[1:], [("at", 3.2)])

    async def test_to_the_tick(self):
        """Whatever the loop's time is to which delays are added, a timer comes at the tick for
        which it was asked, and one that is asked for later than that comes with the next."""
        rng = random.Random(2)
        asyncio.get_running_loop().slow_callback_duration = math.inf
        for start in (0, 5700.123456789, 3e6 + 0.1, 1e8 + 0.3):
            with mock.patch.object(asyncio.get_running_loop(), "time", return_value=start), \
                    hwtimer.LoopTimers(manual=True) as self.timers:
                for _ in range(300):
                    await self.timers.advance(rng.randrange(5000) / 1000)
                    delay = rng.randrange(1, 5000) / 1000
                    self.timers.call_later(delay, self.say, "at")
                    self.timers.call_later(delay + 4e-7, self.say, "after")
                    await self.timers.advance(round(delay - 0.001, 3))
                    self.assertEqual(self.said, [])
                    await self.timers.advance(0.001)
                    self.assertEqual([what for what, _ in self.said], ["at"])
                    await self.timers.advance(0.001)
                    self.assertEqual([what for what, _ in self.said], ["at", "after"])
                    self.said.clear()

    async def test_push_by_hwtimers_time(self):
        """The program under test knows nothing of the clock, so asks for the time of its timers."""
        handle = hwtimer.call_later(30, self.say, "idle")
        begin = hwtimer.time()
        await self.timers.advance(20)
        self.assertAlmostEqual(hwtimer.time(), begin + 20, 6)
        self.assertEqual(hwtimer.time(), self.timers.time())
        self.assertTrue(handle.reschedule(hwtimer.time() + 30))
        await self.timers.advance(29.999)
        self.assertEqual(self.said, [])
        await self.timers.advance(0.001)
        self.assertEqual(self.said, [("idle", 50)])
        hwtimer.call_at(hwtimer.time() + 60, self.say, "sixty")
        await self.timers.advance(60)
        self.assertEqual(self.said[1:], [("sixty", 110)])

    async def test_many_are_due(self):
        for i in range(1000):
            hwtimer.call_later(1 + i % 2, self.say, i)
        await self.timers.advance(2)
        self.assertEqual([what for what, _ in self.said],
                         list(range(0, 1000, 2)) + list(range(1, 1000, 2)))

    async def test_closed(self):
        sleeper = asyncio.create_task(hwtimer.sleep(10))
        hwtimer.call_later(5, self.timers.close)
        await self.timers.advance(20)
        with self.assertRaises(OSError) as caught:
            await sleeper
        self.assertEqual(caught.exception.errno, errno.ECANCELED)
        with self.assertRaises(OSError):
            self.timers.instance.advance(1)
