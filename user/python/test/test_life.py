# SPDX-License-Identifier: MIT
"""close(), threads, signals and fork(): no crash, no leak, and an error that says what it is"""

import collections
import errno
import gc
import os
import select
import signal
import subprocess
import sys
import threading
import time
import tracemalloc
import unittest
import warnings

import hwtimer
from test_instance import HOUR, MS, WithInstance
from test_loop import descriptors


def calls(timers):
    """All methods, as functions without an argument"""
    timer = timers.timer(print)
    return {
        "schedule": lambda: timers.schedule(HOUR),
        "schedule_at": lambda: timers.schedule_at(hwtimer.NEVER),
        "schedule_many": lambda: timers.schedule_many([HOUR]),
        "cancel": lambda: timers.cancel(1),
        "cancel_many": lambda: timers.cancel_many([1]),
        "reschedule": lambda: timers.reschedule(1, HOUR),
        "reschedule_at": lambda: timers.reschedule_at(1, HOUR),
        "cancel_all": timers.cancel_all,
        "next_time": timers.next_time,
        "rearm": lambda: timers.rearm(1, HOUR),
        "rearm_at": lambda: timers.rearm_at(1, HOUR),
        "reschedule_many": lambda: timers.reschedule_many([1], [HOUR]),
        "query": lambda: timers.query(1),
        "list_timers": lambda: list(timers.list_timers()),
        "stop": timers.stop,
        "stats": timers.stats,
        "info": timers.info,
        "now": timers.now,
        "notify": lambda: timers.notify(1),
        "read": timers.read,
        "read at once": lambda: timers.read(timeout=0),
        "dispatch": timers.dispatch,
        "iteration": lambda: next(iter(timers)),
        "timer.start": lambda: timer.start(HOUR),
        "timer.start_at": lambda: timer.start_at(hwtimer.NEVER),
        "timer.start_every": lambda: timer.start_every(HOUR),
    }


def nothing(_):
    """A callback"""


def errors(timers):
    """The errno that each method fails with"""
    said = {}
    for name, call in calls(timers).items():
        try:
            call()
        except OSError as error:
            said[name] = error.errno
        else:
            said[name] = 0
    return said


class Closing(WithInstance):
    def test_all_methods_are_safe_after_close(self):
        timer = self.timers.timer(print)
        timer.start(HOUR)
        self.timers.close()
        self.timers.close()
        self.assertTrue(self.timers.closed)
        self.assertEqual(set(errors(self.timers).values()), {errno.EBADF})
        self.fails(errno.EBADF, "closed", self.timers.fileno)
        self.assertFalse(timer.active)
        self.assertFalse(timer.cancel())
        self.assertIn("closed", repr(self.timers))
        with self.timers:
            pass

    def test_with(self):
        before = descriptors()
        with hwtimer.Instance() as timers:
            timers.schedule(HOUR)
        self.assertTrue(timers.closed)
        self.assertEqual(descriptors(), before)

    def test_close_in_a_callback(self):
        called = []

        def close(timer):
            called.append(timer)
            self.timers.close()

        for _ in range(5):
            self.timers.timer(close).start(0)
        while self.timers.stats().ready < 5:
            time.sleep(0.001)
        self.timers.dispatch()
        self.assertEqual(len(called), 1)

    def test_close_while_events_are_taken(self):
        """Another thread, or a signal handler, may close it between any two statements."""
        class Left(collections.deque):
            """Events that were given back, whose number was looked at before close()"""
            def popleft(left):
                self.timers.close()
                return super().popleft()

        event = hwtimer.Event(1, 2, 3, 4, 5)
        self.timers._give_back(collections.deque([event] * 3))
        self.timers._left = Left(self.timers._left)
        with self.assertRaises(OSError) as caught:
            self.timers.read()
        self.assertEqual(caught.exception.errno, errno.EBADF)

    def test_close_while_iterating(self):
        self.timers.schedule_many([0] * 3)
        with self.assertRaises(OSError) as caught:
            for _ in self.timers:
                self.timers.close()
        self.assertEqual(caught.exception.errno, errno.EBADF)

    def test_forgotten(self):
        before = descriptors()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            timers = hwtimer.Instance()
            timers.timer(print).start(HOUR)
            del timers
            gc.collect()
        self.assertEqual([one.category for one in caught], [ResourceWarning])
        self.assertEqual(descriptors(), before)

    def test_end_of_the_interpreter(self):
        run = subprocess.run(
            [sys.executable, "-X", "dev", "-c",
             "import hwtimer; t = hwtimer.Instance(); t.timer(print).start(10**12)\n"
             "import threading; threading.Thread(target=t.read, daemon=True)"],
            capture_output=True, text=True, check=False)
        self.assertEqual((run.returncode, run.stdout), (0, ""), run.stderr)


class Leaks(unittest.TestCase):
    def test_descriptors(self):
        before = descriptors()
        for _ in range(200):
            with hwtimer.Instance() as timers:
                timers.schedule(HOUR)
        self.assertEqual(descriptors(), before)

    def test_memory(self):
        """What a hundred rounds leave is not what one leaves a hundred times."""
        def rounds(count):
            for _ in range(count):
                for _ in range(100):
                    timers.timer(nothing).start(HOUR)
                for timer in list(timers._timers.values()):
                    timer.cancel()
                idents = timers.schedule_many([0] * 100)
                timers.cancel_many(idents, discard=True)
                timers.dispatch(timeout=0, callback=nothing)

        with hwtimer.Instance() as timers:
            rounds(5)
            gc.collect()
            tracemalloc.start()
            before = tracemalloc.get_traced_memory()[0]
            rounds(50)
            gc.collect()
            grown = tracemalloc.get_traced_memory()[0] - before
            tracemalloc.stop()
            self.assertEqual(timers._timers, {})
        self.assertLess(grown, 20000)


class Threads(WithInstance):
    def run_all(self, *functions):
        """Runs the functions in threads, and raises what one of them raises."""
        failed = []

        def guard(function):
            try:
                function()
            except BaseException as error:  # shown by the thread that asked
                failed.append(error)

        threads = [threading.Thread(target=guard, args=(function,))
                   for function in functions]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for error in failed:
            raise error

    def test_each_event_has_one_reader(self):
        count, lock, seen = 3000, threading.Lock(), []

        def read():
            while True:
                try:
                    events = self.timers.read(7)
                except OSError as error:
                    self.assertEqual(error.errno, errno.ENOTCONN)
                    return
                with lock:
                    seen.extend(events)

        def schedule():
            for i in range(0, count // 2, 10):
                self.timers.schedule_many([0] * 10, range(i, i + 10))
            while self.timers.stats().pending:
                time.sleep(0.001)

        def both():
            self.run_all(schedule, schedule)
            self.timers.stop()

        self.run_all(read, read, read, both)
        self.assertEqual(len(seen), count)
        self.assertEqual(len({event.id for event in seen}), count)

    def test_callbacks_in_threads(self):
        """Two threads start and cancel, two call callbacks. A callback may come only for a
        start that cancel() did not take back."""
        lock, called, done = threading.Lock(), [], threading.Event()
        taken_back = []

        def callback(timer):
            with lock:
                called.append(timer)

        def start():
            for i in range(1500):
                timer = self.timers.timer(callback)
                timer.start(i % 3 * MS)
                if i % 2 and timer.cancel():
                    with lock:
                        taken_back.append(timer)

        def dispatch():
            while not done.is_set():
                self.timers.dispatch(timeout=5 * MS)

        def starters():
            self.run_all(start, start)
            while len(called) + len(taken_back) < 3000:
                time.sleep(0.001)
            time.sleep(0.02)
            done.set()

        self.run_all(dispatch, dispatch, starters)
        self.assertEqual(len(set(called)), len(called))
        self.assertEqual(set(called) & set(taken_back), set())
        self.assertEqual(len(called) + len(taken_back), 3000)
        self.assertEqual(self.timers.stats().pending, 0)
        self.assertEqual(self.timers._timers, {})

    def test_events_given_back_wake_who_waits(self):
        """A callback that fails leaves events to a thread that waits already."""
        called, failed = [], threading.Event()
        started = threading.Event()

        def fail(timer):
            called.append(timer)
            started.wait()
            time.sleep(0.02)  # the other one waits by then, mostly
            raise ZeroDivisionError

        def first():
            self.assertRaises(ZeroDivisionError, self.timers.dispatch)
            failed.set()

        def second():
            while not called:
                time.sleep(0.001)
            started.set()
            while len(called) < 4:
                self.timers.dispatch()

        self.timers.timer(fail).start(0)
        for _ in range(3):
            self.timers.timer(called.append).start(0)
        while self.timers.stats().ready < 4:
            time.sleep(0.001)
        self.run_all(first, second)
        self.assertEqual(len(set(called)), 4)

    def test_close_wakes_who_waits(self):
        for wait in (self.timers.read, self.timers.dispatch):
            with hwtimer.Instance() as timers:
                said = []

                def waits(wait=getattr(timers, wait.__name__), said=said):
                    try:
                        wait()
                    except OSError as error:
                        said.append(error.errno)

                threads = [threading.Thread(target=waits) for _ in range(4)]
                for thread in threads:
                    thread.start()
                time.sleep(0.02)
                timers.close()
                for thread in threads:
                    thread.join()
                self.assertEqual(said, [errno.EBADF] * 4)

    def test_close_beside_all_calls(self):
        """Whatever the other threads do, they end with EBADF, and the descriptors are
        closed. Without the count of users, this crashes."""
        before = descriptors()
        for _ in range(20):
            timers = hwtimer.Instance()
            started = threading.Barrier(4)

            def work(timers=timers, started=started):
                timer = timers.timer(nothing)
                started.wait()
                try:
                    while True:
                        timer.start(0)
                        timers.schedule_many([0] * 50)
                        timers.stats()
                        timers.dispatch(timeout=0)
                        timer.cancel()
                except OSError as error:
                    self.assertEqual(error.errno, errno.EBADF)

            def close(timers=timers, started=started):
                started.wait()
                time.sleep(0.005)
                timers.close()

            self.run_all(work, work, work, close)
        self.assertEqual(descriptors(), before)


class Signals(WithInstance):
    def test_a_handler_runs_while_another_call_waits(self):
        """The handler runs, and the wait goes on. A handler may use the instance, too."""
        called = []

        def handler(*_):
            called.append("signal")
            if len(called) == 3:
                self.timers.schedule(0, 7)

        self.addCleanup(signal.signal, signal.SIGALRM,
                        signal.signal(signal.SIGALRM, handler))
        self.addCleanup(signal.setitimer, signal.ITIMER_REAL, 0)
        signal.setitimer(signal.ITIMER_REAL, 0.005, 0.005)
        event, = self.timers.read()
        self.assertEqual(event.user_data, 7)
        self.assertGreaterEqual(len(called), 3)

    def test_close_in_a_handler(self):
        """Wherever it interrupts the calls, they end with EBADF."""
        self.addCleanup(signal.signal, signal.SIGALRM, signal.getsignal(signal.SIGALRM))
        self.addCleanup(signal.setitimer, signal.ITIMER_REAL, 0)
        before = descriptors()
        for i in range(50):
            timers = hwtimer.Instance()
            signal.signal(signal.SIGALRM, lambda *_, timers=timers: timers.close())
            signal.setitimer(signal.ITIMER_REAL, 0.001 + i * 0.00003)
            timer = timers.timer(nothing)
            with self.assertRaises(OSError) as caught:
                while True:
                    timer.start(0)
                    timers.stats()
                    timers.dispatch(timeout=0)
            self.assertEqual(caught.exception.errno, errno.EBADF)
            timer.cancel()
        self.assertEqual(descriptors(), before)


class Forks(WithInstance):
    def in_child(self, function):
        """Runs @function in a child, where it must return True, and no thread goes on."""
        child = os.fork()
        if not child:
            status = 1
            try:
                status = 0 if function() else 1
            finally:
                os._exit(status)
        self.assertEqual(os.waitpid(child, 0)[1], 0)

    def test_a_child_is_told(self):
        timer = self.timers.timer(print)
        timer.start(HOUR)
        said = {}

        def child():
            said.update(errors(self.timers))
            if set(said.values()) != {errno.EBADF}:
                print("#", said)
            try:
                self.timers.stats()
            except OSError as error:
                told = "from_fd" in str(error)
            timer.cancel()
            self.timers.close()
            return told and set(said.values()) == {errno.EBADF} and self.timers.closed

        self.in_child(child)
        self.assertTrue(timer.active)
        self.assertEqual(self.timers.stats().pending, 1)

    def test_a_child_takes_no_events(self):
        self.timers.schedule(0, 5)
        select.select([self.timers], [], [])
        self.in_child(lambda: errors(self.timers)["read at once"] == errno.EBADF)
        self.assertEqual(self.timers.read()[0].user_data, 5)

    def test_a_child_takes_nothing_that_the_parent_has_read(self):
        called = []

        def fails(_):
            raise ZeroDivisionError

        def child():
            self.fails(errno.EBADF, "from_fd", self.timers.dispatch, timeout=0, most=1,
                       callback=called.append)
            return not called

        # What a callback that fails leaves, and what comes behind one in which it is forked
        for _ in range(3):
            self.timers.schedule(0)
        while self.timers.stats().ready < 3:
            time.sleep(0.001)
        self.assertRaises(ZeroDivisionError, self.timers.dispatch, callback=fails)
        self.in_child(child)
        parent = os.getpid()

        def fork_once(_):
            called.append(os.getpid())
            if len(called) == 1 and not os.fork():
                called.clear()

        try:
            done = self.timers.dispatch(timeout=0, callback=fork_once)
        except OSError as error:
            os._exit(0 if os.getpid() != parent and error.errno == errno.EBADF and
                     not called else 1)
        finally:
            if os.getpid() != parent:
                os._exit(1)
        self.assertEqual((done, called), (2, [parent] * 2))
        self.assertEqual(os.wait()[1], 0)

    def test_a_child_that_shares_on_purpose(self):
        def child():
            with hwtimer.Instance.from_fd(os.dup(self.timers.fileno())) as shared:
                self.timers.close()
                shared.schedule(0, 6)
            return True

        self.in_child(child)
        self.assertEqual(self.timers.read()[0].user_data, 6)

    def test_fork_while_a_thread_has_the_locks(self):
        stop = threading.Event()

        def work():
            timer = self.timers.timer(nothing)
            while not stop.is_set():
                timer.start(HOUR)
                timer.cancel()

        def child():
            timer = self.timers.timer(nothing)
            timer.cancel()
            self.timers.close()
            with hwtimer.Instance() as timers:
                timers.timer(nothing).start(0)
                return timers.dispatch() == 1

        thread = threading.Thread(target=work)
        thread.start()
        try:
            for _ in range(30):
                self.in_child(child)
        finally:
            stop.set()
            thread.join()

    def test_a_child_does_not_wake_the_parent(self):
        said = []
        thread = threading.Thread(target=lambda: said.extend(self.timers.read()))
        thread.start()
        time.sleep(0.01)
        self.in_child(lambda: self.timers.close() is None)
        time.sleep(0.01)
        self.assertEqual(said, [])
        # It would spin from now on.
        self.assertEqual(select.select([self.timers._handle.wake], [], [], 0)[0], [])
        self.timers.schedule(0, 1)
        thread.join()
        self.assertEqual([event.user_data for event in said], [1])


class Descriptors(WithInstance):
    def test_from_fd(self):
        ident = self.timers.schedule(HOUR, 4)
        with hwtimer.Instance.from_fd(os.dup(self.timers.fileno())) as shared:
            self.assertEqual([(one.id, one.user_data) for one in shared.list_timers()],
                             [(ident, 4)])
            shared.reschedule(ident, 0)
        self.assertEqual(self.timers.read()[0].id, ident)

    def test_wrong_descriptors(self):
        """ctypes would cut off what does not fit, and take another descriptor."""
        before = descriptors()
        fd = os.dup(self.timers.fileno())
        for wrong in ("3", None, 3.0, b"3"):
            with self.assertRaises(TypeError):
                hwtimer.Instance.from_fd(wrong)
        for wrong in (fd + 2**32, fd - 2**32, -2**64, 2**31):
            with self.assertRaises(ValueError):
                hwtimer.Instance.from_fd(wrong)
        os.close(fd)
        self.assertEqual(descriptors(), before)

    def test_what_is_no_instance(self):
        with open("/dev/null", "rb") as file:
            self.fails(errno.ENOTTY, "not an open /dev/hwtimer", hwtimer.Instance.from_fd,
                       file.fileno())
            self.assertEqual(file.read(), b"")
        self.fails(errno.EBADF, "not open", hwtimer.Instance.from_fd, -1)

    def test_callbacks_of_a_former_program_are_nobodys(self):
        """The ids of another process's timers mean nothing here, and call nothing."""
        self.timers.timer(print).start(0)
        called = []
        with hwtimer.Instance.from_fd(os.dup(self.timers.fileno())) as shared:
            shared.timer(called.append).start(20 * MS)
            while not called:
                shared.dispatch(callback=called.append)
        self.assertEqual(len(called), 1)
        self.assertIsInstance(called[0], hwtimer.Timer)
