# SPDX-License-Identifier: MIT
"""Timers in a loop of asyncio"""

import asyncio
import contextvars
import errno
import gc
import logging
import math
import os
import random
import threading
import time
import unittest
import warnings
from unittest import mock

import hwtimer

# In debug mode, it complains of each callback that takes longer on a busy machine.
logging.getLogger("asyncio").setLevel(logging.ERROR)

variable = contextvars.ContextVar("variable", default=0)


def descriptors():
    """Number of open descriptors"""
    return len(os.listdir("/proc/self/fd"))


class Sleep(unittest.IsolatedAsyncioTestCase):
    async def test_not_early(self):
        before = time.monotonic()
        self.assertEqual(await hwtimer.sleep(0.02, "result"), "result")
        self.assertGreaterEqual(time.monotonic(), before + 0.02)

    async def test_zero_and_less(self):
        self.assertEqual(await hwtimer.sleep(0, 1), 1)
        self.assertEqual(await hwtimer.sleep(-1, 2), 2)

    async def test_what_is_no_number(self):
        for delay in (math.nan, -math.nan):
            with self.assertRaises(ValueError):
                await hwtimer.sleep(delay)
            with self.assertRaises(ValueError):
                hwtimer.call_later(delay, print)
            with self.assertRaises(ValueError):
                hwtimer.call_at(delay, print)
        for delay in (None, "1", 1j):
            with self.assertRaises(TypeError):
                await hwtimer.sleep(delay)
            with self.assertRaises(TypeError):
                hwtimer.call_later(delay, print)

    async def test_for_ever(self):
        """asyncio takes times without end, too."""
        task = asyncio.ensure_future(hwtimer.sleep(math.inf))
        never = [hwtimer.call_later(math.inf, print), hwtimer.call_at(math.inf, print),
                 hwtimer.call_later(1e300, print)]
        called = asyncio.get_running_loop().create_future()
        hwtimer.call_later(-math.inf, called.set_result, None)
        await called
        await hwtimer.sleep(0.01)
        self.assertFalse(task.done())
        self.assertTrue(all(handle.cancel() for handle in never))
        task.cancel()
        with self.assertRaises(asyncio.CancelledError):
            await task
        self.assertEqual(hwtimer._loop._running().instance.stats().pending, 0)
        with self.assertRaises(ValueError):
            hwtimer.call_later(math.nan, print)

    async def test_many(self):
        delays = [random.Random(i).random() / 10 for i in range(2000)]
        results = await asyncio.gather(*(hwtimer.sleep(delay, i)
                                         for i, delay in enumerate(delays)))
        self.assertEqual(results, list(range(2000)))

    async def test_cancelled(self):
        task = asyncio.ensure_future(hwtimer.sleep(3600))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        task.cancel()
        with self.assertRaises(asyncio.CancelledError):
            await task
        self.assertEqual(hwtimer._loop._running().instance.stats().pending, 0)

    async def test_with_a_timeout(self):
        with self.assertRaises(asyncio.TimeoutError):
            await asyncio.wait_for(hwtimer.sleep(3600), 0.01)
        self.assertEqual(hwtimer._loop._running().instance.stats().pending, 0)


class CallLater(unittest.IsolatedAsyncioTestCase):
    async def test_arguments_and_time(self):
        called = asyncio.get_running_loop().create_future()
        before = asyncio.get_running_loop().time()
        handle = hwtimer.call_later(0.01, lambda *args: called.set_result(args), 1, 2)
        self.assertGreaterEqual(handle.when(), before + 0.01)
        self.assertEqual(await called, (1, 2))
        self.assertGreaterEqual(asyncio.get_running_loop().time(), before + 0.01)
        self.assertFalse(handle.cancel())

    async def test_time(self):
        loop = asyncio.get_running_loop()
        before = loop.time()
        now = hwtimer.time()
        self.assertLessEqual(before, now)
        self.assertLessEqual(now, loop.time())

    async def test_call_at(self):
        loop = asyncio.get_running_loop()
        called = loop.create_future()
        when = loop.time() + 0.01
        hwtimer.call_at(when, called.set_result, None)
        await called
        self.assertGreaterEqual(loop.time(), when)

    async def test_a_loop_with_a_time_of_its_own(self):
        """As that of uvloop, and those of programs that set it"""
        loop = asyncio.get_running_loop()
        for ahead in (-0.5, 0.5):
            with mock.patch.object(loop, "time", lambda: time.monotonic() + ahead):
                with hwtimer.LoopTimers() as timers:
                    await timers.sleep(0.001)
                    when = loop.time() + 0.1
                    called = [timers.call_at(when, lambda: called.append(loop.time()))]
                    while len(called) < 2:
                        await asyncio.sleep(0)
            self.assertGreaterEqual(called[1], when)

    async def test_order(self):
        loop = asyncio.get_running_loop()
        lead, start, called, handles = 0.01, 0, [], []
        # Those that are due when they are scheduled have no set place.
        while loop.time() >= start:
            for handle in handles:
                handle.cancel()
            lead *= 2
            start = loop.time() + lead
            handles = [hwtimer.call_at(start + i * 0.003, called.append, i)
                       for i in (4, 2, 0, 3, 1)]
        while len(called) < 5:
            await hwtimer.sleep(0.01)
        self.assertEqual(called, [0, 1, 2, 3, 4])

    async def test_order_when_the_machine_stands_still(self):
        """It does between call_at() and the kernel, for the timer that is due first."""
        loop = asyncio.get_running_loop()
        lead, start, called, handles = 0.05, 0, [], []
        request = hwtimer._loop._request

        def slow(*arguments):
            time.sleep(0.01)
            return request(*arguments)

        while loop.time() >= start:
            for handle in handles:
                handle.cancel()
            lead *= 2
            start = loop.time() + lead
            with mock.patch.object(hwtimer._loop, "_request", slow):
                handles = [hwtimer.call_at(start, called.append, 0)]
            handles.append(hwtimer.call_at(start + 0.003, called.append, 1))
        while len(called) < 2:
            await hwtimer.sleep(0.01)
        self.assertEqual(called, [0, 1])

    async def test_cancel(self):
        called = []
        handle = hwtimer.call_later(0.001, called.append, 1)
        self.assertFalse(handle.cancelled())
        self.assertTrue(handle.cancel())
        self.assertTrue(handle.cancelled())
        await hwtimer.sleep(0.01)
        self.assertEqual(called, [])

    async def test_cancel_of_what_was_read(self):
        """The loop stands still until all are due: the first callback cancels the others."""
        called = []

        def first():
            called.append(0)
            self.results = [handle.cancel() for handle in handles]

        hwtimer.call_later(0.001, first)
        handles = [hwtimer.call_later(0.002, called.append, i) for i in range(1, 100)]
        time.sleep(0.01)
        await hwtimer.sleep(0.01)
        self.assertEqual(called, [0])
        self.assertEqual(self.results, [True] * 99)

    async def test_handles_are_those_of_asyncio(self):
        handle = hwtimer.call_later(3600, print, "argument")
        self.assertIsInstance(handle, asyncio.TimerHandle)
        self.assertIn("print('argument')", repr(handle))
        self.assertIn(f"when={handle.when()}", repr(handle))
        self.assertLess(hwtimer.call_later(1, print), handle)
        handles = {handle}
        handle.reschedule(handle.when() + 1)
        self.assertIn(handle, handles)
        handle.cancel()
        self.assertIn("cancelled", repr(handle))

    async def test_pushed_out_by_a_store(self):
        """It calls the library when the timer in the kernel has expired."""
        loop = asyncio.get_running_loop()
        called = loop.create_future()
        handle = hwtimer.call_later(0.02, called.set_result, None)
        timers = hwtimer._loop._running()
        # The first library that a call would find
        with mock.patch.object(hwtimer._instance, "lib", None):
            for i in range(1000):
                self.assertTrue(handle.reschedule(loop.time() + 0.04))
            self.assertTrue(handle.reschedule(handle.when() - 0.001))
        when = handle.when()
        self.assertEqual(timers.instance.stats().scheduled, 1)
        await called
        self.assertGreaterEqual(loop.time(), when)
        self.assertLessEqual(timers.instance.stats().scheduled, 2)
        self.assertFalse(handle.reschedule(loop.time()))
        self.assertEqual(handle.when(), when)

    async def test_pulled_in(self):
        loop = asyncio.get_running_loop()
        called = loop.create_future()
        handle = hwtimer.call_later(3600, called.set_result, None)
        self.assertTrue(handle.reschedule(loop.time() + 7200))
        when = loop.time() + 0.01
        self.assertTrue(handle.reschedule(when))
        await called
        self.assertGreaterEqual(loop.time(), when)

    async def test_reschedule_what_was_read(self):
        """The loop stands still until all are due: the first callback moves the others."""
        loop = asyncio.get_running_loop()
        called = []

        def first():
            called.append("first")
            self.assertTrue(later.reschedule(loop.time() + 0.02))
            self.assertTrue(never.reschedule(loop.time() + 3600))
            self.assertTrue(sooner.reschedule(loop.time() - 1))
            self.assertFalse(self.handle.reschedule(loop.time()))

        self.handle = hwtimer.call_later(0.001, first)
        later = hwtimer.call_later(0.002, called.append, "later")
        never = hwtimer.call_later(0.002, called.append, "never")
        sooner = hwtimer.call_later(0.002, called.append, "sooner")
        time.sleep(0.01)
        while "sooner" not in called:
            await asyncio.sleep(0)
        self.assertTrue(never.cancel())
        self.assertFalse(never.reschedule(loop.time()))
        while len(called) < 3:
            await asyncio.sleep(0.001)
        self.assertEqual(called, ["first", "sooner", "later"])
        self.assertEqual(hwtimer._loop._running().instance.stats().pending, 0)

    async def test_reschedule_that_fails(self):
        """It changes nothing. If it is the kernel's timer that cannot get the later time, the
        program is told."""
        said = []
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda loop, context: said.append(str(context["exception"])))
        timers = hwtimer._loop._running()
        handle = hwtimer.call_later(3600, print)
        for wrong, error in ((math.nan, ValueError), ("1", TypeError)):
            with self.assertRaises(error):
                handle.reschedule(wrong)
        pushed = hwtimer.call_later(0.001, print)
        pushed.reschedule(pushed.when() + 3600)
        with mock.patch.object(timers.instance, "_start_timer", side_effect=OSError(28, "full")):
            when = handle.when()
            with self.assertRaises(OSError):
                handle.reschedule(loop.time())
            self.assertEqual(handle.when(), when)
            while not said:
                await asyncio.sleep(0.001)
        self.assertEqual(said, ["[Errno 28] full"])
        self.assertFalse(pushed.cancel())
        self.assertTrue(handle.cancel())

    async def test_context(self):
        loop = asyncio.get_running_loop()
        variable.set(1)
        seen = loop.create_future()
        hwtimer.call_later(0.001, lambda: seen.set_result(variable.get()))
        variable.set(2)
        self.assertEqual(await seen, 1)
        other = contextvars.copy_context()
        seen = loop.create_future()
        variable.set(3)
        hwtimer.call_later(0.001, lambda: seen.set_result(variable.get()), context=other)
        self.assertEqual(await seen, 2)

    async def test_exceptions_go_to_the_loop(self):
        said = []
        asyncio.get_running_loop().set_exception_handler(
            lambda loop, context: said.append(context))
        called = []
        for i in range(3):
            hwtimer.call_later(0.001, lambda: 1 / 0)
            hwtimer.call_later(0.001, called.append, i)
        while len(called) < 3 or len(said) < 3:
            await hwtimer.sleep(0.001)
        self.assertEqual({type(context["exception"]) for context in said},
                         {ZeroDivisionError})
        self.assertEqual(len(said), 3)

    async def test_other_work_gets_its_turn(self):
        """Timers that start each other do not keep the loop to themselves."""
        running = True

        def again():
            if running:
                hwtimer.call_later(0, again)

        for _ in range(hwtimer._loop.TURN * 2):
            again()
        for _ in range(20):
            await asyncio.sleep(0)
        running = False

    async def test_random_against_an_oracle(self):
        rng = random.Random(3)
        due, handles = {}, []

        def callback(i):
            self.assertGreaterEqual(time.monotonic(), due.pop(i))

        for i in range(3000):
            delay = rng.random() / 100
            due[i] = time.monotonic() + delay
            handles.append((i, hwtimer.call_later(delay, callback, i)))
            if rng.random() < 0.5:
                which, handle = handles.pop(rng.randrange(len(handles)))
                self.assertEqual(handle.cancel(), due.pop(which, None) is not None)
            if handles and rng.random() < 0.5:
                which, handle = rng.choice(handles)
                when = time.monotonic() + rng.random() / 50
                self.assertEqual(handle.reschedule(when), which in due)
                if which in due:
                    due[which] = when
            if rng.random() < 0.05:
                await asyncio.sleep(0)
        while due:
            await hwtimer.sleep(0.001)
        self.assertFalse(any(handle.cancel() for _, handle in handles))


class Threads(unittest.IsolatedAsyncioTestCase):
    async def test_another_thread_starts_and_stops_a_timer(self):
        """By the loop's own way: call_soon_threadsafe()"""
        loop = asyncio.get_running_loop()
        called = asyncio.Event()
        stopped = hwtimer.call_later(3600, print)

        def post():
            loop.call_soon_threadsafe(stopped.cancel)
            loop.call_soon_threadsafe(hwtimer.call_later, 0, called.set)

        thread = threading.Thread(target=post)
        thread.start()
        await called.wait()
        thread.join()
        self.assertTrue(stopped.cancelled())
        self.assertEqual(hwtimer._loop._running().instance.stats().pending, 0)


class OwnTimers(unittest.IsolatedAsyncioTestCase):
    async def test_tick(self):
        with hwtimer.LoopTimers(tick=5 * 10**6) as timers:
            self.assertEqual(timers.instance.info().tick, 5 * 10**6)
            await timers.sleep(0.001)

    async def test_plain_timers_in_the_loop(self):
        with hwtimer.LoopTimers() as timers:
            called = asyncio.get_running_loop().create_future()
            timers.instance.timer(called.set_result).start(10**6)
            await called

    async def test_close_tells_who_sleeps(self):
        timers = hwtimer.LoopTimers()
        called = []
        timers.call_later(0.001, called.append, 1)
        task = asyncio.ensure_future(timers.sleep(3600))
        await asyncio.sleep(0)
        timers.close()
        timers.close()
        with self.assertRaises(OSError) as caught:
            await task
        self.assertEqual(caught.exception.errno, errno.ECANCELED)
        with self.assertRaises(OSError) as caught:
            timers.call_later(0, called.append, 1)
        self.assertEqual(caught.exception.errno, errno.EBADF)
        await asyncio.sleep(0.01)
        self.assertEqual(called, [])

    async def test_an_instance_that_fails_is_told_and_does_not_spin(self):
        said = []
        asyncio.get_running_loop().set_exception_handler(
            lambda loop, context: said.append(str(context["exception"])))
        timers = hwtimer.LoopTimers()
        timers.call_later(3600, said.append, "called")
        task = asyncio.ensure_future(timers.sleep(3600))
        await asyncio.sleep(0)
        # The timers stay where they are, and nobody can read what has expired.
        timers.instance._read = lambda most: (_ for _ in ()).throw(OSError(5, "broken"))
        timers.call_later(0, said.append, "called")
        with self.assertRaisesRegex(OSError, "broken"):
            await task
        self.assertEqual(said, ["[Errno 5] broken"])
        with self.assertRaisesRegex(OSError, "broken"):
            timers.call_later(0, said.append, "called")
        timers.close()


class Loops(unittest.TestCase):
    def test_nothing_is_left_of_a_loop(self):
        async def use():
            hwtimer.call_later(3600, print)
            await hwtimer.sleep(0.001)

        asyncio.run(use())
        gc.collect()
        before = descriptors()
        with warnings.catch_warnings():
            warnings.simplefilter("error", ResourceWarning)
            gc.disable()
            try:
                for _ in range(10):
                    asyncio.run(use())
                self.assertEqual(descriptors(), before)
            finally:
                gc.enable()
            gc.collect()
        self.assertEqual(len(hwtimer._loop._of_loop), 0)

    def test_closed_with_the_loop(self):
        """Without loop.shutdown_asyncgens(), without the collector, whatever is pending, and
        though the program keeps exceptions and handles"""
        kept = []

        async def use():
            asyncio.get_running_loop().set_exception_handler(
                lambda loop, context: kept.append(context))
            kept.append(hwtimer.call_later(3600, print))
            kept.append(asyncio.ensure_future(hwtimer.sleep(3600)))
            hwtimer.call_later(0.001, lambda: 1 / 0)
            await hwtimer.sleep(0.002)
            kept.append(hwtimer._loop._running())

        for debug in (False, True):
            before = descriptors()
            gc.disable()
            try:
                loop = asyncio.new_event_loop()
                loop.set_debug(debug)
                loop.run_until_complete(use())
                loop.close()
                self.assertEqual(descriptors(), before)
            finally:
                gc.enable()
            self.assertIsInstance(kept[2]["exception"], ZeroDivisionError)
            self.assertTrue(kept[3].instance.closed)
            self.assertFalse(kept[0].cancel())
            kept[1]._log_destroy_pending = False
            kept.clear()

    def test_a_loop_that_is_not_closed(self):
        before = descriptors()
        loop = asyncio.new_event_loop()
        loop.run_until_complete(hwtimer.sleep(0.001))
        del loop
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ResourceWarning)
            gc.collect()
        self.assertEqual(descriptors(), before)

    def test_a_loop_that_is_run_again(self):
        """A callback ends the loop; the events behind it come in the next run."""
        loop = asyncio.new_event_loop()
        called = []

        def end():
            called.append("end")
            raise SystemExit

        async def start():
            for _ in range(3):
                hwtimer.call_later(0.001, end)
            for i in range(3):
                hwtimer.call_later(0.002, called.append, i)
            time.sleep(0.01)
            await asyncio.Event().wait()

        async def wait():
            while len(called) < 6:
                await asyncio.sleep(0.001)

        for coroutine in (start(), wait(), wait()):
            task = loop.create_task(coroutine)
            with self.assertRaises(SystemExit):
                loop.run_until_complete(task)
        loop.run_until_complete(wait())
        self.assertEqual(called, ["end"] * 3 + [0, 1, 2])
        for task in asyncio.all_tasks(loop):
            task.cancel()
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()

    def test_a_child_leaves_the_loop_of_the_parent_alone(self):
        """Both have the same epoll: what the child's end removes from it, the parent would
        never hear of again."""
        async def use():
            called = asyncio.Event()
            hwtimer.call_later(0.02, called.set)
            child = os.fork()
            if not child:
                raise SystemExit
            self.assertEqual(os.waitpid(child, 0)[1], 0)
            await asyncio.wait_for(called.wait(), 10)

        parent = os.getpid()
        try:
            asyncio.run(use())
        finally:
            if os.getpid() != parent:
                os._exit(0)

    def test_outside_of_a_loop(self):
        with self.assertRaises(RuntimeError):
            hwtimer.call_later(1, print)
