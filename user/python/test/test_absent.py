# SPDX-License-Identifier: MIT
"""What a program is told without the module or without access. Needs no /dev/hwtimer."""

import asyncio
import errno
import os
import random
import unittest

import hwtimer


@unittest.skipIf(os.path.exists("/dev/hwtimer"), "the module is loaded")
class Absent(unittest.TestCase):
    def test_no_device(self):
        with self.assertRaises(FileNotFoundError) as caught:
            hwtimer.Instance()
        self.assertEqual(caught.exception.errno, errno.ENOENT)
        self.assertEqual(caught.exception.filename, "/dev/hwtimer")
        self.assertIn("modprobe hwtimer", str(caught.exception))

    def test_no_device_in_a_loop(self):
        with self.assertRaisesRegex(FileNotFoundError, "modprobe hwtimer"):
            asyncio.run(hwtimer.sleep(1))

    def test_nothing_stays_open(self):
        before = os.listdir("/proc/self/fd")
        for _ in range(10):
            with self.assertRaises(FileNotFoundError):
                hwtimer.Instance()
        self.assertEqual(os.listdir("/proc/self/fd"), before)


class Seconds(unittest.TestCase):
    def test_are_rounded_up(self):
        for number, expected in ((0, 0), (1, 10**9), (1.5, 1500000000), (0.1, 100000000),
                                 (2.1, 2100000000), (86400.3, 86400300000000),
                                 (1e-9, 1), (1e-10, 1), (123456789.25, 123456789250000000),
                                 (-1, -10**9), (-0.5, -500000000)):
            with self.subTest(number):
                self.assertEqual(hwtimer.seconds(number), expected)

    def test_go_by_what_was_written(self):
        rng = random.Random(4)
        for digits in range(13):
            for _ in range(2000):
                number = rng.randrange(10 ** rng.randrange(1, min(digits + 6, 15) + 1))
                self.assertEqual(hwtimer.seconds(number / 10**digits),
                                 -(-number * 10**9 // 10**digits), (number, digits))
