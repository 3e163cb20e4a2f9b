# SPDX-License-Identifier: MIT
"""Timers by their ids: what each method does, and what it says if it cannot"""

import errno
import os
import resource
import select
import time
import unittest

import hwtimer

MS = 10**6
HOUR = 3600 * 10**9


class WithInstance(unittest.TestCase):
    """Tests that have an instance, and a way to name an errno"""

    manual = False

    def setUp(self):
        self.timers = hwtimer.Instance(manual=self.manual)
        self.addCleanup(self.timers.close)

    def fails(self, number, text, function, *args, **named):
        """@function must fail with errno @number, and its message have @text."""
        with self.assertRaises(OSError) as caught:
            function(*args, **named)
        self.assertEqual(caught.exception.errno, number, caught.exception)
        self.assertIn(text, str(caught.exception))

    def read_all(self, count):
        """Reads until there were @count events."""
        events = []
        while len(events) < count:
            events += self.timers.read()
        return events


class Settings(WithInstance):
    def test_defaults(self):
        info = self.timers.info()
        self.assertEqual(info.clock, time.CLOCK_MONOTONIC)
        self.assertEqual(info.tick, MS)
        self.assertEqual(info.abi_version, 1)
        self.assertFalse(info.started)

    def test_chosen(self):
        with hwtimer.Instance(clock=time.CLOCK_BOOTTIME, tick=5 * MS, buckets=100,
                              timers=7) as timers:
            info = timers.info()
            self.assertEqual((info.clock, info.tick, info.buckets, info.timers),
                             (time.CLOCK_BOOTTIME, 5 * MS, 128, 7))
            before = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
            self.assertLessEqual(before, timers.now())

    def test_refused(self):
        before = len(os.listdir("/proc/self/fd"))
        self.fails(errno.EINVAL, "out of range", hwtimer.Instance, tick=1)
        self.fails(errno.EINVAL, "out of range", hwtimer.Instance,
                   clock=time.CLOCK_PROCESS_CPUTIME_ID)
        with self.assertRaises(ValueError):
            hwtimer.Instance(timers=-1)
        self.assertEqual(len(os.listdir("/proc/self/fd")), before)

    def test_clocks_that_may_be_set_take_deadlines_only(self):
        for clock in (time.CLOCK_REALTIME, time.CLOCK_TAI):
            with self.subTest(clock), hwtimer.Instance(clock=clock) as timers:
                self.assertEqual(timers.info().clock, clock)
                self.assertLessEqual(time.clock_gettime_ns(clock), timers.now() + MS)
                self.fails(errno.EINVAL, "schedule_at", timers.schedule, MS)
                self.fails(errno.EINVAL, "fixed_delay", timers.schedule_at, 0, interval=MS,
                           fixed_delay=True)
                ident = timers.schedule_at(timers.now() + 2 * MS)
                self.fails(errno.EINVAL, "reschedule_at", timers.reschedule, ident, MS)
                event, = timers.read()
                self.assertEqual(event.id, ident)
                self.assertLessEqual(event.deadline, timers.now())

    def test_no_descriptor_left(self):
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        self.addCleanup(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
        resource.setrlimit(resource.RLIMIT_NOFILE, (0, hard))
        self.fails(errno.EMFILE, "ulimit -n", hwtimer.Instance)
        # With room for one of the two that it needs
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        free = os.dup(0)
        os.close(free)
        resource.setrlimit(resource.RLIMIT_NOFILE, (free + 1, hard))
        self.fails(errno.EMFILE, "ulimit -n", hwtimer.Instance)


class Timers(WithInstance):
    def test_expires_once_and_not_early(self):
        before = time.monotonic_ns()
        ident = self.timers.schedule(5 * MS, 42)
        event, = self.timers.read()
        self.assertEqual((event.id, event.user_data, event.expirations), (ident, 42, 1))
        self.assertGreaterEqual(event.deadline, before + 5 * MS)
        self.assertGreaterEqual(time.monotonic_ns(), event.deadline)
        self.assertEqual(self.timers.read(timeout=5 * MS), [])

    def test_order_is_that_of_deadlines(self):
        lead, start, idents = 10 * MS, 0, []
        # Those that are due when they are scheduled have no set place.
        while self.timers.now() >= start:
            self.timers.cancel_many(idents, discard=True)
            lead *= 2
            start = self.timers.now() + lead
            idents = [self.timers.schedule_at(start + i * 2 * MS, i)
                      for i in (5, 3, 9, 1, 7)]
        self.assertEqual([event.user_data for event in self.read_all(5)], [1, 3, 5, 7, 9])

    def test_all_values_arrive(self):
        for value in (0, 1, 2**32, 2**63, 2**64 - 1):
            self.timers.schedule(0, value)
            event, = self.timers.read()
            self.assertEqual(event.user_data, value)

    def test_values_that_do_not_fit(self):
        for arguments in ((0, -1), (0, 2**64)):
            with self.assertRaises(ValueError):
                self.timers.schedule(*arguments)
        for named in ({"interval": 2**63}, {"slack": 2**63}, {"slack": -1}, {"count": 2**32}):
            with self.assertRaises(ValueError):
                self.timers.schedule(0, **named)
        with self.assertRaisesRegex(TypeError, "seconds"):
            self.timers.schedule(0.5)
        self.assertEqual(self.timers.stats().scheduled, 0)

    def test_times_at_the_ends(self):
        self.timers.schedule(hwtimer.NEVER)
        self.assertEqual(self.timers.next_time(), hwtimer.NEVER)
        self.assertEqual(self.timers.info().until_next, hwtimer.NEVER)
        for schedule, reschedule in ((self.timers.schedule, self.timers.reschedule),
                                     (self.timers.schedule_at, self.timers.reschedule_at)):
            for never in (hwtimer.NEVER, 2**64 - 1, 2**70):
                ident = schedule(never)
                self.assertEqual(self.timers.query(ident).deadline, hwtimer.NEVER)
                reschedule(ident, self.timers.now() + HOUR)
                reschedule(ident, never)
                self.assertEqual(self.timers.query(ident).deadline, hwtimer.NEVER)
                self.timers.cancel(ident)
            for past in (0, -1, -2**70):
                schedule(past, 3)
                self.assertEqual(self.read_all(1)[0].user_data, 3)

    def test_periodic(self):
        self.timers.schedule(MS, 1, interval=MS, count=5)
        expirations = 0
        while expirations < 5:
            event, = self.timers.read()
            expirations += event.expirations
        self.assertEqual(expirations, 5)
        self.assertEqual(self.timers.stats().pending, 0)

    def test_an_interval_shorter_than_a_tick(self):
        self.timers.schedule(0, interval=MS // 10, count=1000)
        expirations = events = 0
        while expirations < 1000:
            event, = self.timers.read()
            expirations += event.expirations
            events += 1
        self.assertEqual(expirations, 1000)
        self.assertLess(events, 150)

    def test_a_slack_longer_than_the_delay(self):
        ident = self.timers.schedule(MS, slack=hwtimer.NEVER)
        self.timers.cancel(ident)

    def test_limit(self):
        with hwtimer.Instance(timers=1) as timers:
            ident = timers.schedule(HOUR)
            self.fails(errno.ENOSPC, "limit of timers", timers.schedule, HOUR)
            timers.cancel(ident)
            timers.schedule(HOUR)

    def test_cancel(self):
        ident = self.timers.schedule(HOUR)
        self.assertIs(self.timers.cancel(ident), True)
        self.fails(errno.ENOENT, "no such timer", self.timers.cancel, ident)
        self.fails(errno.ENOENT, "no such timer", self.timers.cancel, ident, discard=True)
        ident = self.timers.schedule(0)
        select.select([self.timers], [], [])
        self.assertIs(self.timers.cancel(ident), False)
        self.assertIs(self.timers.cancel(ident, discard=True), True)
        self.assertEqual(self.timers.read(timeout=0), [])
        self.assertEqual(self.timers.stats().discarded, 1)

    def test_rearm(self):
        ident = self.timers.rearm(0, HOUR, 1)
        self.assertEqual(self.timers.rearm(ident, 2 * HOUR, 2, interval=HOUR, count=3), ident)
        query = self.timers.query(ident)
        self.assertEqual((query.user_data, query.interval, query.expirations_left),
                         (2, HOUR, 3))
        self.assertEqual(self.timers.rearm_at(ident, hwtimer.NEVER, 3), ident)
        self.timers.cancel(ident)
        other = self.timers.rearm(ident, 0, 4)
        self.assertNotEqual(other, ident)
        event, = self.timers.read()
        self.assertEqual((event.id, event.user_data), (other, 4))
        with hwtimer.Instance(timers=1) as timers:
            ident = timers.rearm(0, HOUR)
            self.fails(errno.ENOSPC, "limit of timers", timers.rearm, 0, HOUR)
            self.assertEqual(timers.rearm(ident, HOUR), ident)

    def test_cancel_all_and_next_time(self):
        self.assertEqual(self.timers.next_time(), hwtimer.NEVER)
        for i in range(1000):
            self.timers.schedule(HOUR)
        self.assertTrue(0 < self.timers.next_time() <= HOUR + 2 * MS)
        self.assertEqual(self.timers.cancel_all(), 1000)
        self.timers.schedule(0)
        select.select([self.timers], [], [])
        self.assertEqual(self.timers.next_time(), 0)
        self.assertEqual(self.timers.info().until_next, 0)
        self.assertEqual(self.timers.cancel_all(), 0)
        self.assertEqual(len(self.timers.read(timeout=0)), 1)
        self.timers.schedule(0)
        select.select([self.timers], [], [])
        self.assertEqual(self.timers.cancel_all(discard=True), 0)
        self.assertEqual(self.timers.read(timeout=0), [])
        self.timers.schedule(0)
        self.read_all(1)

    def test_reschedule(self):
        ident = self.timers.schedule(HOUR)
        self.timers.reschedule(ident, 2 * HOUR)
        self.assertGreater(self.timers.query(ident).remaining, HOUR)
        deadline = self.timers.now() + 3 * HOUR
        self.timers.reschedule_at(ident, deadline)
        self.assertEqual(self.timers.query(ident).deadline, deadline)
        self.timers.reschedule(ident, 0)
        self.assertEqual(self.read_all(1)[0].id, ident)
        self.fails(errno.ENOENT, "no such timer", self.timers.reschedule, ident, 0)

    def test_query_and_list(self):
        idents = {self.timers.schedule(HOUR, i, interval=HOUR, slack=MS) for i in range(700)}
        listed = list(self.timers.list_timers())
        self.assertEqual({timer.id for timer in listed}, idents)
        self.assertEqual(len(listed), 700)
        self.assertEqual(sorted(timer.user_data for timer in listed), list(range(700)))
        one = self.timers.query(listed[0].id)
        self.assertEqual((one.interval, one.expired, one.fixed_delay), (HOUR, False, False))
        self.assertIn(one._replace(remaining=0),
                      [timer._replace(remaining=0) for timer in listed])
        ident = self.timers.schedule(0, interval=HOUR, count=3, fixed_delay=True)
        select.select([self.timers], [], [])
        one = self.timers.query(ident)
        self.assertEqual((one.expired, one.fixed_delay, one.expirations_left, one.expirations),
                         (True, True, 3, 1))
        self.fails(errno.ENOENT, "no such timer", self.timers.query, 1)

    def test_notify(self):
        self.timers.notify(3)
        for i in range(2):
            self.timers.schedule(0, i)
        while self.timers.stats().ready < 2:
            time.sleep(0.001)
        self.assertEqual(select.select([self.timers], [], [], 0)[0], [])
        self.timers.schedule(0, 2)
        self.assertEqual([event.user_data for event in self.timers.read()], [0, 1, 2])
        self.fails(errno.EINVAL, "4,096", self.timers.notify, 4097)
        self.timers.schedule(0)
        self.timers.notify(3, 5 * MS)
        select.select([self.timers], [], [])
        self.assertEqual(len(self.timers.read()), 1)
        self.timers.notify(1)
        self.timers.schedule(0)
        select.select([self.timers], [], [])

    def test_stats_add_up(self):
        idents = self.timers.schedule_many([HOUR] * 10)
        self.timers.cancel_many(idents[:4])
        self.timers.schedule(0)
        self.read_all(1)
        stats = self.timers.stats()
        self.assertEqual((stats.scheduled, stats.cancelled, stats.expired, stats.delivered,
                          stats.pending), (11, 4, 1, 1, 6))
        self.assertEqual(sum(stats.lateness), 1)


class Many(WithInstance):
    def test_each_arrives_once(self):
        idents = self.timers.schedule_many([i % 50 * MS for i in range(20000)])
        self.assertEqual(len(set(idents)), 20000)
        events = self.read_all(20000)
        self.assertEqual(sorted(event.id for event in events), sorted(idents))
        self.assertEqual(sorted(event.user_data for event in events), list(range(20000)))
        self.assertTrue(all(event.deadline <= time.monotonic_ns() for event in events))
        self.assertEqual(self.timers.read(timeout=0), [])

    def test_user_data_and_deadlines(self):
        deadline = self.timers.now() + HOUR
        idents = self.timers.schedule_many([deadline, deadline + 1], [2**64 - 1, 5],
                                           absolute=True)
        self.assertEqual(self.timers.query(idents[0]).user_data, 2**64 - 1)
        self.assertEqual(self.timers.query(idents[1]).deadline, deadline + 1)

    def test_slack(self):
        idents = self.timers.schedule_many([HOUR] * 300, slack=MS * 64)
        for number, ident in enumerate(idents):
            timer = self.timers.query(ident)
            self.assertEqual(timer.user_data, number)
            self.assertGreater(timer.slack, 0)
        self.assertEqual(len(self.timers.schedule_many([HOUR, MS], slack=hwtimer.NEVER)), 2)
        with self.assertRaises(ValueError):
            self.timers.schedule_many([HOUR], slack=hwtimer.NEVER + 1)

    def test_what_is_refused(self):
        with hwtimer.Instance(timers=3) as timers:
            with self.assertRaises(hwtimer.BulkError) as caught:
                timers.schedule_many([HOUR] * 5)
            self.assertEqual(caught.exception.errno, errno.ENOSPC)
            self.assertIn("limit of timers", str(caught.exception))
            results = caught.exception.results
            self.assertEqual([result for result in results if result < 0],
                             [-errno.ENOSPC] * 2)
            self.assertEqual(timers.cancel_many(results[:3]), [0] * 3)

    def test_reschedule_and_cancel(self):
        idents = self.timers.schedule_many([HOUR] * 3)
        self.timers.cancel(idents[1])
        self.assertEqual(self.timers.reschedule_many(idents, [2 * HOUR] * 3),
                         [0, -errno.ENOENT, 0])
        self.assertGreater(self.timers.query(idents[2]).remaining, HOUR)
        self.assertEqual(self.timers.cancel_many(idents), [0, -errno.ENOENT, 0])
        self.timers.schedule(0)
        select.select([self.timers], [], [])
        waiting = [timer.id for timer in self.timers.list_timers()]
        self.assertEqual(self.timers.reschedule_many(waiting, [0]), [-errno.EALREADY])
        self.assertEqual(self.timers.cancel_many(waiting), [1])
        self.assertEqual(self.timers.cancel_many(waiting, discard=True), [0])

    def test_times_at_the_ends(self):
        for absolute in (False, True):
            idents = self.timers.schedule_many([2**70, -1], absolute=absolute)
            self.assertEqual([event.id for event in self.read_all(1)], idents[1:])
            self.assertEqual(self.timers.query(idents[0]).deadline, hwtimer.NEVER)
            self.timers.reschedule_many(idents[:1], [-2**70], absolute=absolute)
            self.assertEqual([event.id for event in self.read_all(1)], idents[:1])

    def test_none(self):
        self.assertEqual(self.timers.schedule_many([]), [])
        self.assertEqual(self.timers.cancel_many([]), [])
        # As many as there are ids, whatever else the argument may count
        self.assertEqual(self.timers.cancel_many(bytes(16)), [-errno.ENOENT] * 2)

    def test_lengths_differ(self):
        with self.assertRaisesRegex(ValueError, "1 timers and 2 times"):
            self.timers.schedule_many([1, 2], [1])
        self.assertEqual(self.timers.stats().scheduled, 0)


class AtLeastOnce(unittest.TestCase):
    def test_events_stay_until_they_are_acknowledged(self):
        with hwtimer.Instance(at_least_once=True) as timers:
            for i in range(10):
                timers.schedule(0, i)
                while timers.stats().ready <= i:
                    time.sleep(0.001)
            self.assertEqual([event.user_data for event in timers.read(4)], [0, 1, 2, 3])
            self.assertEqual(timers.ack(1), 1)
            self.assertEqual(timers.stats().ready, 9)
            with self.assertRaises(OSError) as caught:
                timers.ack(4)
            self.assertEqual(caught.exception.errno, errno.EINVAL)
            self.assertIn("fewer events", str(caught.exception))
            with hwtimer.Instance.from_fd(os.dup(timers.fileno())) as other:
                other.rewind()
                self.assertEqual([event.user_data for event in other.read()],
                                 list(range(1, 10)))
                self.assertEqual(other.ack(9), 9)
            self.assertEqual(timers.read(timeout=0), [])
            self.assertEqual(timers.stats().delivered, 10)

    def test_what_an_iteration_has_left_comes_once(self):
        with hwtimer.Instance(at_least_once=True) as timers:
            timers.schedule_many([0] * 10)
            while timers.stats().ready < 10:
                time.sleep(0.001)
            for _ in timers:
                break
            timers.rewind()
            self.assertEqual(len(timers.read(20)), 10)
            self.assertEqual(timers.read(20, timeout=0), [])
            # Nothing is left that would wake who waits.
            self.assertEqual(timers.ack(10), 10)
            self.assertEqual(timers.dispatch(timeout=1000), 0)

    def test_others_refuse(self):
        with hwtimer.Instance() as timers:
            for call in (timers.rewind, lambda: timers.ack(1)):
                with self.assertRaisesRegex(OSError, "at_least_once"):
                    call()

    def test_no_callbacks(self):
        with hwtimer.Instance(at_least_once=True) as timers:
            with self.assertRaisesRegex(OSError, "callbacks"):
                timers.timer(print).start(0)
            self.assertEqual(timers.stats().scheduled, 0)


class Ending(WithInstance):
    def test_stop_hands_back(self):
        idents = set(self.timers.schedule_many([HOUR] * 600))
        self.timers.schedule(0, 9)
        select.select([self.timers], [], [])
        stopped = self.timers.stop()
        self.assertEqual({timer.id for timer in stopped}, idents)
        self.assertEqual(len(stopped), 600)
        self.assertTrue(all(0 < timer.remaining <= HOUR for timer in stopped))
        self.assertFalse(any(timer.expired for timer in stopped))
        self.assertEqual(self.timers.stats().cancelled, 600)
        self.assertEqual([event.user_data for event in self.timers], [9])
        self.fails(errno.ENOTCONN, "stopped", self.timers.read)
        self.fails(errno.ESHUTDOWN, "open another", self.timers.schedule, 0)

    def test_stop_hands_back_periodic_ones_whose_events_wait(self):
        ident = self.timers.schedule(0, 1, interval=HOUR)
        last = self.timers.schedule(0, 2, interval=HOUR, count=1)
        while self.timers.stats().ready < 2:
            time.sleep(0.001)
        stopped = self.timers.stop()
        self.assertEqual([(timer.id, timer.interval) for timer in stopped], [(ident, HOUR)])
        self.assertEqual({event.id for event in self.timers}, {ident, last})
        self.assertEqual(self.timers.stop(), [])

    def test_iteration_leaves_what_it_has_not_yielded(self):
        self.timers.schedule_many([0] * 10)
        while self.timers.stats().ready < 10:
            time.sleep(0.001)
        for event in self.timers:
            self.assertEqual(event.user_data, 0)
            break
        self.assertEqual([event.user_data for event in self.read_all(9)],
                         list(range(1, 10)))
