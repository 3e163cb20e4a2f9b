#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Tests hwtimerd's Redis Functions against real servers. Prints TAP.

    usage: functions.py [TEST...]       tests whose names begin so; HWTIMER_SEED repeats a run
"""

import os
import pathlib
import random
import subprocess
import tempfile
import threading
import time

import redis

from redis_server import Server
from shard import Daemon, Shard
from tap import expect_error, main, test

SEED = int(os.environ.get('HWTIMER_SEED', random.randrange(10 ** 9)))
SCALE = int(os.environ.get('HWTIMER_SCALE', 1))
FAR = 3600000


def fresh(key='{test:0}', **setup):
    """A shard on the server that the tests share, with nothing in it"""
    SHARED.client.flushall()
    SHARED.client.config_set('maxmemory', 0)
    SHARED.load()               # an empty cache
    shard = Shard(SHARED.client, key)
    shard.setup(**setup)
    return shard


def wait_until(condition, *daemons, limit=60):
    """
    Runs the daemons until the condition holds. The limit, in seconds, is no bound on lateness:
    only what this function sleeps counts.
    """
    for _ in range(limit * 200):
        if condition():
            return
        for daemon in daemons:
            daemon.settle()
        time.sleep(0.005)
    assert condition(), 'it never happens'


def fires(s, *names):
    """A condition: these timers, and no others, have fired"""
    return lambda: sorted(entry[1].decode() for entry in s.due()) == sorted(names)


# ---- single functions ----

@test
def schedule_counts_new():
    """hwt_schedule returns how many timers are new"""
    s = fresh()
    t = s.now() + FAR
    assert s.schedule('a', t, 'one') == 1
    assert s.schedule('a', t, 'two') == 0
    assert s.check() == {b'a': (t, b'two')}
    assert s.schedule('a', t + 5000, 'three') == 0
    assert s.schedule('a', t, 'x', 'b', t, 'y', 'c', t + 70000, 'z') == 2
    assert s.check() == {b'a': (t, b'x'), b'b': (t, b'y'), b'c': (t + 70000, b'z')}
    assert s.schedule('a', t + 9000, 'x', 'b', t + 9000, 'y') == 0
    assert s.check() == {b'a': (t + 9000, b'x'), b'b': (t + 9000, b'y'),
                         b'c': (t + 70000, b'z')}


@test
def last_of_batch_wins():
    """of timers with the same id in a batch, the last one wins"""
    s = fresh()
    t = s.now() + FAR
    assert s.schedule('a', t, '1', 'b', t, '2', 'a', t + 5000, '3') == 2
    assert s.check() == {b'a': (t + 5000, b'3'), b'b': (t, b'2')}
    assert s.schedule('a', t, '4', 'c', t, '5', 'a', t + 90000, '6', 'c', t + 1, '7') == 1
    assert s.check() == {b'a': (t + 90000, b'6'), b'b': (t, b'2'), b'c': (t + 1, b'7')}
    s.cancel('a', 'b', 'c')
    far = t - t % 1024 + 1024000
    assert s.schedule('d', far, '8', 'd', far + 1, '9') == 1        # a new slot
    assert s.check() == {b'd': (far + 1, b'9')}


@test
def deadlines_are_parsed():
    """deadlines are absolute or relative, 0 to 2^53-1"""
    s = fresh()
    largest = 2 ** 53 - 1
    s.schedule('a', 0, '', 'b', largest, '', 'c', '0001', '')
    assert s.query('a', 'b', 'c') == [[0, b''], [largest, b''], [1, b'']]
    before = s.now()
    s.schedule('d', '+0', '')
    s.schedule('e', '+5000', '', 'f', '+%d' % (10 ** 15), '')
    after = s.now()
    (d, _), (e, _), (f, _) = s.query('d', 'e', 'f')
    assert before <= d <= after and before <= e - 5000 <= after
    assert before <= f - 10 ** 15 <= after
    s.check()
    records = s.records()
    for bad in ('', '-1', '+', '+-1', '++1', '1.5', '1e3', '0x10', ' 1', '1 ', 'x', '1763889600123x',
                '1763889600\0', str(2 ** 53), str(2 ** 53 + 1), '9' * 16, '9' * 17, '0' * 17,
                '+%d' % largest, '+%d' % (2 ** 53), 'inf', 'nan', '1e12         '):
        expect_error('HWTDEADLINE', s.schedule, 'z', bad, '')
        expect_error('HWTDEADLINE', s.schedule, 'y', 5, '', 'z', bad, '')
    for _ in range(20):         # most are 2^53 exactly
        expect_error('HWTDEADLINE', s.schedule, 'z', '+%d' % (2 ** 53 - s.now()), '')
    assert s.records() == records


@test
def cancel_counts():
    """hwt_cancel returns how many timers it found, and leaves nothing of them"""
    s = fresh()
    assert s.cancel('a') == 0
    s.schedule('a', '+9000', '', 'b', '+9000', '', 'c', '+99000', '')
    assert s.cancel('a', 'a', 'x') == 1
    s.check()
    assert s.cancel('a', 'b', 'c') == 2
    assert s.check() == {} and s.slots() == {}
    assert s.client.zcard(s.sub('slots')) == 0


@test
def bytes_are_bytes():
    """ids and payloads have any bytes"""
    s = fresh(key='{a b\n\0%d%%c:0}', max_payload=100000)
    ids = [bytes([i]) for i in range(256)] + [b'\0\0', b'}', b'{x}', b'a b', b'\r\n', b'5 5',
                                              b'%s', b'%d%n', b' ', b'lua "quote" \\']
    timers = {name: (2000000000000 + i, name * i) for i, name in enumerate(ids)}
    timers[b'long'] = (3, bytes(range(256)) * 300)
    for name, (deadline, payload) in list(timers.items())[::2]:
        assert s.schedule(name, deadline, payload) == 1
    rest = [x for name, (d, p) in list(timers.items())[1::2] for x in (name, d, p)]
    s.schedule(*rest)
    assert s.check() == timers
    assert s.query(*timers) == [list(timer) for timer in timers.values()]
    assert s.cancel(*timers) == len(timers)
    for deadline, (name, (_, payload)) in enumerate(timers.items()):
        s.schedule(name, deadline, payload)
    daemon = Daemon(s)
    daemon.settle()
    assert {name: payload for _, name, _, payload in s.due()} == \
        {name: payload for name, (_, payload) in timers.items()}
    assert len(s.due()) == len(timers)


@test
def bad_keys_are_refused():
    """keys that are not one hash tag: HWTKEY"""
    s = fresh()
    calls = {'hwt_schedule': ('a', 5, ''), 'hwt_cancel': ('a',), 'hwt_query': ('a',),
             'hwt_stats': (), 'hwt_setup': (64, 10, 10), 'hwt_turn': ('d', '', 0, 0, 1),
             'hwt_lease': ('d', 5), 'hwt_release': ('d',), 'hwt_join': ('d', 5),
             'hwt_leave': ('d',), 'hwt_ack': ('g', '1-1'), 'hwt_trim': ()}
    run = s.client.execute_command
    for function, args in calls.items():
        for key in ('', 'a', '{a', 'a}', '{}', '{a}b', 'x{a}', '{a}{b}', '{{a}', '{a}}', '{a{b}'):
            expect_error('HWTKEY', run, 'FCALL', function, 1, key, *args)
        expect_error('HWTKEY', run, 'FCALL', function, 0, *args)
        expect_error('HWTKEY', run, 'FCALL', function, 2, s.key, '{b:0}', *args)
        run('FCALL', function, 1, s.key, *args)
        expect_error('HWTKEY', run, 'FCALL', function, 2, s.key, s.key, *args)
    assert {k.split(b'}')[0] for k in s.client.keys()} == {b'{test:0'}


@test
def limits_of_timers():
    """id, payload and batch: at the limit, and one beyond"""
    s = fresh(max_id=10, max_payload=20)
    s.schedule('i' * 10, FAR, 'p' * 20)
    text = expect_error('HWTID', s.schedule, 'i' * 11, 5, '')
    assert ' 10 ' in text, text
    text = expect_error('HWTPAYLOAD', s.schedule, 'i', 5, 'p' * 21)
    assert ' 20 ' in text, text
    expect_error('HWTID', s.schedule, '', 5, '')
    expect_error('HWTID', s.schedule, 'a', 5, '', 'i' * 11, 5, '')
    expect_error('HWTID', s.schedule, 'a', 5, '', '', 5, '')
    expect_error('HWTPAYLOAD', s.schedule, 'a', 5, '', 'i', 5, 'p' * 21)
    for function in s.cancel, s.query:
        expect_error('HWTID', function, '')
        expect_error('HWTID', function, 'a', '')
        expect_error('HWTBATCH', function)
        expect_error('HWTBATCH', function, *range(1001))
    expect_error('HWTBATCH', s.schedule)
    for args in ('a',), ('a', 5), ('a', 5, '', 'b'), ('a', 5, '', 'b', 5):
        expect_error('HWTARG', s.schedule, *args)
    batch = [x for i in range(1001) for x in (i, FAR, 'p')]
    expect_error('HWTBATCH', s.schedule, *batch)
    assert set(s.check()) == {b'i' * 10}
    assert s.schedule(*batch[3:]) == 1000
    assert len(s.query(*range(1, 1001))) == 1000 and None not in s.query(*range(1, 1001))
    # A thousand slots, too
    assert s.schedule(*[x for i in range(1, 1001) for x in (i, FAR + 2000 * i, 'p')]) == 0
    assert len(s.check()) == 1001
    assert s.cancel(*range(1, 1001)) == 1000
    # What is there may be longer than the limit is now.
    s.setup(max_id=5, max_payload=0)
    assert s.query('i' * 10) == [[FAR, b'p' * 20]] and s.cancel('i' * 10) == 1
    s.schedule('iiiii', 5, '')
    expect_error('HWTPAYLOAD', s.schedule, 'i', 5, 'p')


@test
def setup_checks():
    """hwt_setup: each argument's range, and no other width while there are timers"""
    s = fresh()
    for good in (1, 1, 0), (2 ** 30, 1024, 1048576), (1024, 256, 65536):
        assert s.setup(*good) in (b'OK', True)
        stats = s.stats()
        assert (stats['width'], stats['max_id'], stats['max_payload']) == good
    for bad in (0, 1, 1), (3, 1, 1), (1000, 1, 1), (2 ** 31, 1, 1), ('', 1, 1), (-1, 1, 1), \
            (64, 0, 1), (64, 1025, 1), (64, 1, 1048577), (64, 1, -1), (64, 'x', 1):
        expect_error('HWTARG', s.setup, *bad)
    expect_error('HWTARG', s.call, 'hwt_setup', 64)
    expect_error('HWTARG', s.call, 'hwt_setup', 64, 1, 1, 1)
    s.schedule('a', '+99999', '')
    text = expect_error('HWTCONFIG', s.setup, 64)
    assert '1024' in text
    s.setup(1024, 100, 100)
    s.cancel('a')
    s.setup(64)
    s.schedule('a', 6400000000063, '')
    assert list(s.slots()) == [6400000000000]
    s.check()


@test
def stats_tell():
    """hwt_stats tells what is there, and changes nothing"""
    SHARED.client.flushall()
    SHARED.load()
    s = Shard(SHARED.client)
    empty = s.stats()
    assert list(empty) == ['version', 'width', 'pending', 'slots', 'loaded', 'wake', 'first_slot',
                           'due', 'near', 'max_id', 'max_payload', 'time']
    assert empty['width'] == 1024 and empty['wake'] == empty['first_slot'] == -1
    assert not s.client.keys()
    s.schedule('a', 5000, '', 'b', 2 ** 52, '', 'c', 5001, '')
    daemon = Daemon(s)
    daemon.turn()
    daemon.turn('a')
    stats = s.stats()
    assert stats['version'] == b'1.0'
    assert (stats['pending'], stats['slots'], stats['due']) == (2, 2, 1)
    assert stats['near'] == s.near_length() and stats['first_slot'] == 4096
    assert stats['wake'] == 2 ** 52 and abs(stats['time'] // 1000 - s.now()) < 60000
    expect_error('HWTARG', s.call, 'hwt_stats', 'x')
    run = s.client.execute_command
    assert run('FCALL_RO', 'hwt_stats', 1, s.key)
    assert run('FCALL_RO', 'hwt_query', 1, s.key, 'b', 'x') == [[2 ** 52, b''], None]
    assert run('FCALL', 'hwt_version', 0) == run('FCALL_RO', 'hwt_version', 0) == b'1.0'


@test
def later_formats_are_refused():
    """a shard of a later format: HWTVERSION, and nothing is changed"""
    s = fresh()
    SHARED.load()
    s.client.hset(s.key, '', '2 1024 0 -1 256 65536 something new')
    for call in (lambda: s.schedule('a', 5, ''), lambda: s.cancel('a'), lambda: s.query('a'),
                 s.stats, s.setup, Daemon(s).turn):
        expect_error('HWTVERSION', call)
    assert s.client.keys() == [b'{test:0}'] and s.client.hlen(s.key) == 1


# ---- turns ----

@test
def turn_checks():
    """hwt_turn: its arguments, and its limits"""
    s = fresh()
    good = ['d', '', '0', '100', '10']
    for index, bad in (0, ''), (0, 'd' * 256), (1, '5'), (1, 'x-1'), (2, ''), (2, '-1'), \
            (2, '1:'), (2, ':1'), (2, str(2 ** 53 + 2)), (2, '1:' + '1' * 21), (3, '-1'), \
            (3, 86400001), (4, 0), (4, 10001):
        args = good[:index] + [bad] + good[index + 1:]
        expect_error('HWTARG', s.call, 'hwt_turn', *args)
    expect_error('HWTARG', s.call, 'hwt_turn', *good[:4])
    expect_error('HWTID', s.call, 'hwt_turn', *good, '')
    expect_error('HWTID', s.call, 'hwt_turn', *good, 'a', '')
    expect_error('HWTBATCH', s.call, 'hwt_turn', *good, *range(1001))
    assert s.near_length() == 0
    s.schedule(*[x for i in range(1000) for x in (i, i, '')])
    s.call('hwt_turn', 'd' * 255, '', '0', '86400000', '10000')
    assert len(s.call('hwt_turn', *good, *range(1000))[6]) == 1000
    assert len(s.due()) == 1000 and s.check() == {}


@test
def fires_once_and_not_early():
    """an id fires if it is due, once, whoever sends it and how often"""
    s = fresh()
    daemons = Daemon(s, 'd1', ahead=200000), Daemon(s, 'd2', ahead=200000)
    for d in daemons:
        d.settle()
    s.schedule('past', 5, 'p', 'later', '+60000', 'l', 'far', '+900000', 'f')
    later = s.query('later')[0][0]
    for d in daemons:
        d.turn()
    assert daemons[0].turn('past', 'past', 'later', 'far', 'none') == '10200'
    assert daemons[1].turn('past', 'later', 'far', 'none', 'later') == '02002'
    assert (b'later', later) in daemons[1].armed
    s.schedule('later', 6, 'l')
    assert daemons[1].turn('later', 'past', 'later') == '100'
    assert daemons[0].turn('later') == '0'
    assert [entry[1:] for entry in s.due()] == [(b'past', 5, b'p'), (b'later', 6, b'l')]
    assert set(s.check()) == {b'far'}


@test
def slots_are_loaded_in_parts():
    """a slot with more timers than `max` is loaded in parts, while timers come and go"""
    s = fresh(width=64)
    count, step = 3000, 500
    deadline = s.now() + 3000
    for i in range(0, count, step):
        s.schedule(*[x for j in range(i, i + step) for x in (j, deadline, '')])
    daemon = Daemon(s, ahead=60000, maximum=100)
    turns = 0
    extra = set()
    while daemon.more:
        before = len(daemon.armed)
        daemon.turn()
        assert len(daemon.armed) - before < 300
        turns += 1
        s.schedule('new%d' % turns, deadline, '')
        extra.add(b'new%d' % turns)
        s.schedule('early%d' % turns, deadline - 1000, '')
        extra.add(b'early%d' % turns)
        s.cancel(turns)
        assert turns < 1000
    assert turns >= 10
    daemon.settle()
    assert daemon.resets == 0
    known = {name for name, _ in daemon.armed}
    assert set(s.check()) <= known, set(s.check()) - known
    wait_until(lambda: len(s.due()) == count + len(extra) - turns, daemon)
    assert s.check() == {}


@test
def batches_are_loaded_in_parts():
    """slots are loaded up to `max` timers a turn"""
    s = fresh(width=1)
    for i in range(0, 2000, 1000):
        s.schedule(*[x for j in range(i, i + 1000) for x in (j, 5000 + j, '')])
    daemon = Daemon(s, maximum=64)
    while daemon.more:
        before = len(daemon.armed)
        daemon.turn()
        assert len(daemon.armed) - before <= 128
    assert len(daemon.armed) == 2000
    daemon.settle()
    assert len(s.due()) == 2000 and s.check() == {}


@test
def trimmed_near_resets():
    """a daemon whose place in near was trimmed is told, and reads all slots again"""
    s = fresh()
    daemon = Daemon(s)
    daemon.settle()
    s.schedule('a', '+1', '')
    s.client.xtrim(s.sub('near'), maxlen=0, approximate=False)
    time.sleep(0.01)
    assert not daemon.armed
    s.schedule('b', '+1', '')
    daemon.settle()
    assert daemon.resets == 1
    time.sleep(0.01)
    daemon.settle()
    assert len(s.due()) == 2 and s.check() == {}


@test
def near_is_trimmed():
    """a daemon trims what it has read and what is old, but neither its place nor news"""
    s = fresh()
    near = s.sub('near')
    for i in range(1, 1001):
        s.client.xadd(near, {'wake': '5'}, id='%d-0' % i)
    slow = Daemon(s, 'slow', maximum=10000)
    slow.turn()
    assert s.near_length() == 1001      # a reset trims nothing
    slow.cursor, slow.position = b'500-0', b'0'
    slow.maximum = 100
    slow.turn()
    assert slow.cursor == b'600-0' and s.near_length() <= 501
    assert s.client.xrange(near, '600-0', '600-0')
    first = s.client.xrange(near, count=1)[0][0]
    slow.settle()
    assert slow.resets == 0 and 1 <= s.near_length() <= 101, s.near_length()
    s.schedule(*[x for i in range(300) for x in (i, 5, '')])
    other = Daemon(s, 'other')
    other.settle()
    slow.settle()
    assert slow.resets == 0 and s.near_length() > 300 and first


@test
def near_is_bounded():
    """near and memory are bounded although no daemon reads"""
    s = fresh()
    daemon = Daemon(s)
    daemon.settle()
    pipe = s.client.pipeline(transaction=False)
    for i in range(130):
        batch = [x for j in range(1000) for x in (j, i + 1, '')]
        pipe.execute_command('FCALL', 'hwt_schedule', 1, s.key, *batch)
    assert pipe.execute()[1:] == [0] * 129
    assert 100000 <= s.near_length() <= 100200
    assert len(s.check()) == 1000
    daemon.settle()
    assert daemon.resets == 1 and len(s.due()) == 1000 and s.check() == {}


@test
def nothing_accumulates():
    """memory does not grow by moving a timer, or by scheduling and cancelling"""
    s = fresh(width=64)
    base = s.now() + FAR
    s.schedule('first', base, '', 'moved', base + 1, '')
    keys = s.client.dbsize()
    def run(commands):
        pipe = s.client.pipeline(transaction=False)
        for command in commands:
            pipe.execute_command('FCALL', command[0], 1, s.key, *command[1:])
        pipe.execute()

    def rounds():
        for i in range(10000 * SCALE):
            yield 'hwt_schedule', 'moved', base + i * 77, 'x' * 32
        for i in range(5000 * SCALE):
            yield 'hwt_schedule', 'id%d' % i, base + i * 77, 'x' * 32
            yield 'hwt_cancel', 'id%d' % i
        for i in range(200 * SCALE):
            yield ('hwt_schedule', *[x for j in range(10)
                                     for x in (j, base + i * 77 + j * 5000, '')])
        yield ('hwt_cancel', *range(10))

    run(rounds())
    before, near = s.memory(), s.near_length()
    run(rounds())
    run(rounds())
    assert s.memory() - before < 200000, s.memory() - before
    assert s.near_length() == near
    assert s.client.dbsize() <= keys + 2 and len(s.check()) == 2


@test
def lagging_daemon_silences_nobody():
    """while one daemon lags, another one is still told to wake up earlier"""
    s = fresh(width=64)
    leader = Daemon(s, 'leader', ahead=0)
    now = s.now()
    s.schedule('a', now - 5000, '', 'b', now - 3000, '', 'far', now + FAR, '')
    leader.turn()
    leader.turn()
    lagging = Daemon(s, 'lagging', ahead=0, maximum=1)
    lagging.turn()
    assert lagging.more == 1 and leader.alarm > now + FAR - 64
    leader.turn()
    while leader.has_news():
        leader.turn()
    s.schedule('sooner', now + 600, '')
    assert leader.has_news()
    wait_until(fires(s, 'a', 'b', 'sooner'), leader)


@test
def slots_are_corrected():
    """entries in the wrong slot, as an old cache leaves them, are told of and corrected"""
    s = fresh(width=64)
    now = s.now()
    soon, later = (t - t % 64 for t in (now + 2000, now + FAR))
    timers = {'soon': soon, 'later': later, 'past': now - 5000, 'gone': now, 'twice': soon}
    for name, deadline in timers.items():
        s.schedule(name, deadline, '')
    for start, names in s.slots().items():
        if set(names) - {b'twice'}:
            s.client.delete(s.sub(start))
            s.client.zrem(s.sub('slots'), start)
    wrong = now - now % 64 - 64

    def put(start, *names):
        s.client.hset(s.sub(start), mapping={'': '', **{name: '' for name in names}})
        s.client.zadd(s.sub('slots'), {start: start})

    put(wrong, 'soon', 'later', 'gone', 'twice')
    put(soon, 'twice')
    put(wrong + 64, 'past')
    s.client.hdel(s.key, 'gone')
    daemon = Daemon(s, ahead=60000)
    daemon.turn()
    assert {name for name, _ in daemon.armed} == {b'soon', b'twice', b'past'}
    assert set(s.check()) == {b'soon', b'later', b'twice', b'past'}
    wait_until(fires(s, 'past', 'soon', 'twice'), daemon)
    assert s.cancel('later') == 1 and s.slots() == {}


@test
def narrow_slots_are_all_loaded():
    """slots that are narrower than the settings say are loaded, all of them"""
    s = fresh(width=16)
    s.schedule('first', 32, '')
    s.client.flushall()         # the cache has 16, and the settings will have 1024
    start = s.now() + 20000
    names = ['t%d' % i for i in range(300)]
    for i, name in enumerate(names):
        s.schedule(name, start + 16 * i, '')
    for maximum in 1, 7, 100, 300:
        daemon = Daemon(s, ahead=60000, maximum=maximum)
        daemon.settle()
        assert {name.decode() for name, _ in daemon.armed} == set(names), maximum
    assert s.settings()['width'] == 1024 and len(s.check()) == 300


@test
def corrections_are_told():
    """a timer that one daemon puts into its slot is told to those who have passed that slot"""
    s = fresh()
    base = s.now() + 20000
    base -= base % 1024
    s.schedule('a', base + 800, '', 'b', base + 700, '')
    for name, start in (b'a', base + 512), (b'b', base + 256):      # as width 256 had it
        s.client.hset(s.sub(start), mapping={'': '', name: ''})
        s.client.zadd(s.sub('slots'), {start: start})
    s.client.delete(s.sub(base))
    s.client.zrem(s.sub('slots'), base)
    slow = Daemon(s, 'slow', ahead=60000, maximum=1)
    slow.turn()                         # b, and its place is between the two
    quick = Daemon(s, 'quick', ahead=60000)
    quick.settle()
    assert len(quick.armed) == 2
    slow.settle()
    assert {name for name, _ in slow.armed} == {b'a', b'b'}
    s.check()


@test
def idle_writes_nothing():
    """a timer in a slot that has one costs no entry in near"""
    s = fresh()
    daemon = Daemon(s)
    daemon.settle()
    s.schedule('a', '+%d' % FAR, '')
    daemon.settle()
    length = s.near_length()
    for i in range(100):
        s.schedule(i, '+%d' % (FAR + 2000 + 1000 * i), '')
    s.cancel('a', *range(50))
    assert s.near_length() == length and not daemon.step()
    s.schedule('b', '+%d' % (FAR // 2), '')
    assert s.near_length() == length + 1


@test
def less_ahead_unloads_nothing():
    """what one daemon has loaded is announced, although another one looks less far ahead"""
    s = fresh(width=4096)
    more, less = Daemon(s, 'more', ahead=60000), Daemon(s, 'less', ahead=0)
    for daemon in more, less, more:
        daemon.settle()
    start = s.now() + 20000
    start -= start % 4096
    s.schedule('mark', start + 4000, '')
    more.settle()
    less.settle()
    less.turn()
    assert not more.has_news()
    s.schedule('before', start + 10, '')
    assert more.has_news()
    more.settle()
    assert {name for name, _ in more.armed} == {b'mark', b'before'}


@test
def news_of_what_was_unloaded():
    """a daemon that goes back, as another one looks less far ahead, still hears the news"""
    s = fresh(width=64)
    more = Daemon(s, 'more', ahead=86400000)
    more.settle()
    Daemon(s, 'less').settle()
    s.schedule('soon', '+1', '', 'later', '+60000', '')
    more.turn()
    assert {name for name, _ in more.armed} == {b'soon', b'later'}


@test
def gone_back_unseen():
    """a daemon hears that what it had loaded was not announced, though all is loaded again"""
    s = fresh(width=64)
    more, less = Daemon(s, 'more', ahead=60000), Daemon(s, 'less', ahead=100)
    more.settle()
    less.settle()
    s.schedule('unseen', '+5000', '')
    less.ahead = 120000
    less.settle()
    more.settle()
    assert {name for name, _ in more.armed} == {b'unseen'}


@test
def far_ahead_goes_back():
    """a horizon that is far ahead comes back at a reset, for all daemons"""
    s = fresh(width=64)
    ahead = Daemon(s, 'ahead', ahead=86400000)
    ahead.settle()
    usual = Daemon(s, 'usual', ahead=100)
    usual.settle()
    now = s.now()
    assert s.settings()['loaded'] < now + 10000
    s.schedule('between', now + 2500, '')
    ahead.ahead = 100
    ahead.settle()
    length = s.near_length()
    s.schedule('x', now + 1000, '')
    assert s.near_length() == length + 1
    s.cancel('x')
    s.schedule('x', now + 60000, '')
    usual.settle()
    ahead.settle()
    s.schedule('y', now + 70000, '', 'z', now + 900, '')
    wait_until(fires(s, 'z'), usual)
    s.schedule('z2', now + 1800, '')
    wait_until(fires(s, 'z', 'z2', 'between'), ahead)
    assert set(s.check()) == {b'x', b'y'}


@test
def strange_data_are_skipped():
    """what others have written into the keys keeps no timer from firing"""
    s = fresh()
    daemon = Daemon(s)
    daemon.settle()
    s.schedule('good', '+1500', 'payload', 'far', '+3600000', '')
    (good, _), = s.query('good')
    slot = s.sub(good - good % 1024)
    records = {'a': '', 'b': 'garbage', 'c': '-5 x', 'd': '9' * 400 + ' x', 'e': '%d x' % 2 ** 53,
               'f': ' 5 x', 'g': 'nan x', 'h': 'inf'}
    for name, record in records.items():
        s.client.hset(s.key, name, record)
        s.client.hset(slot, name, '')
    s.client.hset(s.key, 'spaceless', good)
    s.client.hset(slot, 'spaceless', '')
    index = s.sub('slots')
    s.client.zadd(index, {'junk': good - 5000, '-inf': good, 'nan': good + 20000.5, 'last': 'inf'})
    for deadline in '-5', 'nan', '1e300', 'inf', '5.5', '0x10', '', 'x', 2 ** 53:
        s.client.xadd(s.sub('near'), {'id': 'k', 'deadline': deadline})
    s.client.xadd(s.sub('near'), {'id': '', 'deadline': 1})
    s.client.xadd(s.sub('near'), {'id': 'l'})
    s.client.xadd(s.sub('near'), {'reset': 'd', 'loaded': '-5'})
    s.client.xadd(s.sub('near'), {'reset': 'd', 'loaded': 'nan'})
    wait_until(fires(s, 'good', 'spaceless'), daemon)
    assert [entry[3] for entry in sorted(s.due())] in ([b'payload', b''], [b'', b'payload'])
    restarted = Daemon(s, 'd2')
    restarted.settle()
    assert s.stats()['first_slot'] <= good + 20001      # the far one is not hidden
    # Calls that meet them do their work, too.
    assert s.query(*records) == [None] * len(records)
    assert restarted.turn(*records) == '0' * len(records)
    assert s.schedule('a', '+3600000', '') == 0 and s.schedule('b', '+50000', '', 'a', 1, '') == 0
    assert s.cancel(*records) == len(records)
    s.client.zrem(index, 'nan', 'last')
    wait_until(lambda: not s.client.exists(slot), restarted)
    assert list(s.check()) == [b'far']


def overwrite(s, deadline, width=1024):
    """Somebody else writes the key of the slot with that deadline; returns the key"""
    key = s.sub(deadline - deadline % width)
    s.client.set(key, 'of somebody else')
    return key


@test
def overwritten_slots_fire():
    """the timers of a slot whose key somebody else has overwritten fire, as all others do"""
    s = fresh()
    far = s.now() + FAR
    far -= far % 1024
    s.schedule('past', 5, 'p', 'in', far + 5, 'x', 'in2', far + 1023, 'y', 'after', far + 1024, 'z',
               'leaves', far + 7, '', 'ends', far + 8, '', 'last', far + 9000, '')
    key = overwrite(s, far)
    # It can be left, and nothing can be added.
    assert s.schedule('leaves', far + 5000, '') == 0 and s.cancel('ends') == 1
    assert s.schedule('leaves', far + 9000, '', 'past', 6, 'p') == 0
    for args in ('new', far, ''), ('new', far, '', 'new2', far + 5000, ''), ('past', far + 9, ''):
        assert key in expect_error('WRONGTYPE', s.schedule, *args)
    assert set(s.records()) == {b'past', b'in', b'in2', b'after', b'leaves', b'last'}
    daemon = Daemon(s, ahead=0)
    daemon.settle()
    assert not daemon.foreign and fires(s, 'past')()
    for _ in range(2):
        daemon.ahead = FAR + 4000
        daemon.settle()
        assert {name for name, _ in daemon.armed} == {b'in', b'in2', b'after'}
        assert daemon.foreign == {key.encode()}
        daemon.reset()
    assert s.client.get(key) == b'of somebody else'
    # An ended timer leaves its slot, whatever that is.
    s.client.hset(s.key, 'in', '5 x')
    daemon.settle()
    assert daemon.turn('in', 'in2') == '12' and fires(s, 'past', 'in')()
    # When no timer is left, nobody speaks of the key again.
    assert s.cancel('in2') == 1
    daemon.reset()
    daemon.settle()
    daemon.foreign.clear()
    daemon.reset()
    daemon.settle()
    assert not daemon.foreign and {name for name, _ in daemon.armed} == {b'after'}
    s.client.delete(key)
    assert s.schedule('new', far + 1, '') == 1
    daemon.settle()
    assert (b'new', far + 1) in daemon.armed and set(s.check()) == {b'after', b'new', b'leaves',
                                                                    b'last'}


@test
def overwritten_slots_are_loaded_in_parts():
    """an overwritten slot's timers are found in parts, whatever becomes of the key meanwhile"""
    for becomes in 'stays', 'deleted', 'restored', 'overwritten late':
        s = fresh()
        start = s.now() + 20000
        start -= start % 1024
        ids = ['in%d' % i for i in range(700)]
        for i in range(0, 2100, 700):
            s.schedule(*[x for j in range(700) for x in ('before%d' % (i + j), start + FAR + i, '')])
        s.schedule(*[x for name in ids for x in (name, start + 5, '')])
        s.schedule(*[x for j in range(700) for x in ('after%d' % j, start + 1024, '')])
        key = s.sub(start)
        slot = s.client.dump(key)
        daemon = Daemon(s, ahead=60000, maximum=150)
        if becomes != 'overwritten late':
            overwrite(s, start)
        turns = 0
        while daemon.more:
            before = len(daemon.armed)
            daemon.turn()
            assert len(daemon.armed) - before <= 512
            turns += 1
            if turns == 3 and becomes == 'restored':
                s.client.restore(key, 0, slot, replace=True)
            elif turns == 3 and becomes == 'overwritten late':
                overwrite(s, start)
            elif turns == 3 and becomes == 'deleted':
                s.client.delete(key)
        assert turns > 10, turns
        armed = {name.decode() for name, _ in daemon.armed}
        assert armed == set(ids) | {'after%d' % j for j in range(700)}, (becomes, len(armed))
        assert daemon.resets == 0 and daemon.foreign == {key.encode()}
        if becomes in ('deleted', 'restored'):
            assert len(s.check()) == 3500


@test
def overwritten_slots_take_nothing():
    """a timer that belongs in an overwritten slot, but is in another one, is not lost"""
    s = fresh()
    base = s.now() + 20000
    base -= base % 1024
    s.schedule('a', base + 800, '', 'b', base + 700, '', 'c', base + FAR + 5, '', 'd', base, '')
    for name, start in (b'a', base + 512), (b'b', base - 4096), (b'c', base + 1024):
        s.client.hset(s.sub(start), mapping={'': '', name: ''})
        s.client.zadd(s.sub('slots'), {start: start})
    keys = overwrite(s, base), overwrite(s, base + FAR)
    for name in 'near', 'far':
        daemon = Daemon(s, name, ahead=60000)
        daemon.settle()
        assert {name for name, _ in daemon.armed} == {b'a', b'b', b'd'}
        assert daemon.foreign == {keys[0].encode()}
    daemon.ahead = FAR + 60000
    daemon.settle()
    assert {name for name, _ in daemon.armed} == {b'a', b'b', b'c', b'd'}
    # A key that no width explains, in the index
    s.client.set(s.sub(base + 3), 'x')
    s.client.zadd(s.sub('slots'), {base + 3: base + 3})
    daemon.reset()
    daemon.settle()
    assert {name for name, _ in daemon.armed} == {b'a', b'b', b'c', b'd'}


@test
def lost_slots_fire():
    """the timers of a slot whose key somebody else has deleted fire, as all others do"""
    s = fresh()
    far = s.now() + FAR
    far -= far % 1024
    s.schedule('in', far, '', 'in2', far + 1023, '', 'after', far + 1024, '', 'ends', far + 1, '')
    key = s.sub(far)
    s.client.delete(key)
    # Without the others, it is no reason to forget the slot.
    assert s.cancel('ends') == 1
    daemon = Daemon(s, ahead=FAR + 4000)
    daemon.settle()
    assert {name for name, _ in daemon.armed} == {b'in', b'in2', b'after'}
    assert set(s.check()) == {b'in', b'in2', b'after'} and not daemon.foreign
    # Others come before anybody has noticed.
    for names in ('new',), ('new2', 'new3'):
        s.client.delete(key)
        s.schedule(*[x for name in names for x in (name, far + 5, '')])
        for maximum in 1, 1000:
            daemon = Daemon(s, ahead=FAR + 4000, maximum=maximum)
            daemon.settle()
            assert {name for name, _ in daemon.armed} == set(s.check())
    assert len(s.check()) == 6
    # The last one is gone, too.
    s.client.delete(key)
    assert s.cancel('in', 'in2', 'new', 'new2', 'new3') == 5
    daemon.reset()
    daemon.settle()
    assert set(s.check()) == {b'after'}


@test
def lost_slots_that_are_filled_during_the_search():
    """a slot that gets a timer while its lost ones are sought stays in the index"""
    for i in range(20):
        s = fresh()
        start = s.now() + 20000
        start -= start % 1024
        s.schedule(*[x for j in range(600) for x in ('far%d' % j, start + FAR, '')])
        s.schedule('in', start, '')
        s.client.delete(s.sub(start))
        s.cancel('in')
        daemon = Daemon(s, ahead=60000, maximum=150)
        while b':n' not in daemon.position:
            assert daemon.more
            daemon.turn()
        # What the search has passed already, it does not find any more.
        daemon.turn()
        daemon.turn()
        assert b':n' in daemon.position
        s.schedule('late%d' % i, start + 5, '')
        # Another daemon removes the mark that the slot was lost.
        Daemon(s, 'd2', ahead=60000).settle()
        daemon.settle()
        assert len(s.check()) == 601
        third = Daemon(s, 'd3', ahead=60000)
        third.settle()
        assert {name for name, _ in third.armed} == {b'late%d' % i}


@test
def overwritten_due_is_named():
    """if `due` is no stream, a turn fires nothing, and says which key that is"""
    s = fresh()
    s.schedule('past', 5, '')
    s.client.set(s.sub('due'), 'x')
    assert s.sub('due') in expect_error('WRONGTYPE', Daemon(s).turn, 'past')
    s.client.delete(s.sub('due'))
    Daemon(s).settle()
    assert fires(s, 'past')() and s.check() == {}


@test
def chosen_ids_do_no_harm():
    """ids that a program has chosen do not share a chain of hwtimerd's table"""
    here = pathlib.Path(__file__).parent
    with tempfile.TemporaryDirectory() as where:
        built = where + '/table_test'
        subprocess.run(['cc', '-D_GNU_SOURCE', '-O2', '-o', built, here / 'table_test.c',
                        here.parent / 'record.c'], check=True)
        result = subprocess.run([built], capture_output=True, text=True, check=False)
        assert result.returncode == 0, result.stdout


# ---- leases, members, consumers ----

@test
def leases():
    """a lease is one daemon's, until it ends or is released"""
    s = fresh()
    assert s.call('hwt_lease', 'd1', 60000)[0] == 1
    ours, now, holder, left = s.call('hwt_lease', 'd2', 60000)
    assert (ours, holder) == (0, b'd1') and 0 < left <= 60000 and abs(now / 1000 - s.now()) < 60000
    assert s.call('hwt_release', 'd2') == 0
    assert s.call('hwt_lease', 'd1', 50000)[0] == 1
    assert s.call('hwt_lease', 'd2', 1)[3] <= 50000
    s.client.pexpire(s.sub('lease'), 1)
    wait_until(lambda: not s.client.exists(s.sub('lease')))
    assert s.call('hwt_lease', 'd2', 60000)[0] == 1 and s.call('hwt_lease', 'd1', 5)[0] == 0
    assert s.call('hwt_release', 'd2') == 1 and s.call('hwt_release', 'd2') == 0
    assert s.call('hwt_lease', 'd1', 86400000)[0] == 1
    for args in (('', 5), ('d' * 256, 5), ('d', 0), ('d', 86400001), ('d', 'x'), ('d',), ('d', 5, 5),
                 ('d', 5, ''), ('d', 5, '5-5', '5-5')):
        expect_error('HWTARG', s.call, 'hwt_lease', *args)
    for args in ('',), (), ('d', 5):
        expect_error('HWTARG', s.call, 'hwt_release', *args)


@test
def lease_tells_of_news():
    """the reply to a lease tells whether near has more than the daemon has read"""
    s = fresh()
    daemon = Daemon(s)
    daemon.settle()

    def lease(*args):
        return s.call('hwt_lease', 'd', 60000, *args)

    assert len(lease()) == 2 and lease(daemon.cursor)[2:] == [0]
    s.schedule('a', '+1000', '')
    assert lease(daemon.cursor)[2:] == [1] and len(lease()) == 2
    daemon.settle()
    assert lease(daemon.cursor)[2:] == [0]
    s.client.delete(s.sub('near'))      # as a failover may do it
    assert lease(daemon.cursor)[2:] == [1]
    assert len(s.call('hwt_lease', 'e', 5, daemon.cursor)) == 4
    wait_until(fires(s, 'a'), daemon)


@test
def members():
    """hwt_join returns the live daemons; changes tells who came and went"""
    q = fresh(key='{test}')
    assert q.call('hwt_join', 'b', 60000) == [b'b']
    assert q.call('hwt_join', 'a', 60000) == [b'a', b'b']
    assert q.call('hwt_join', 'c', 60000) == [b'a', b'b', b'c']
    assert q.call('hwt_join', 'b', 60000) == [b'a', b'b', b'c']
    assert 0 < q.client.zscore('{test}:daemons', 'c') - q.now() <= 60000
    q.client.zadd('{test}:daemons', {'c': q.now()})
    assert q.call('hwt_join', 'b', 60000) == [b'a', b'b']
    assert q.call('hwt_leave', 'a') == 1 and q.call('hwt_leave', 'a') == 0
    changes = [list(fields.items())[0] for _, fields in q.client.xrange('{test}:changes')]
    assert changes == [(b'joined', b'b'), (b'joined', b'a'), (b'joined', b'c'), (b'died', b'c'),
                       (b'left', b'a')], changes
    for i in range(1000):
        q.call('hwt_join', 'x', 60000)
        q.call('hwt_leave', 'x')
    assert 100 <= q.client.xlen('{test}:changes') <= 300
    expect_error('HWTARG', q.call, 'hwt_join', 'd')
    expect_error('HWTARG', q.call, 'hwt_leave')


def consume(s, group, count):
    entries = s.client.xreadgroup(group, 'c', {s.sub('due'): '>'}, count=count)
    return [name for name, _ in entries[0][1]] if entries else []


@test
def consumers_acknowledge():
    """hwt_ack removes what the only group has acknowledged, hwt_trim what all groups have"""
    s = fresh()
    due = s.sub('due')
    assert s.call('hwt_trim') == 0
    s.schedule(*[x for i in range(30) for x in (i, i + 1, '')])
    Daemon(s).settle()
    assert s.client.xlen(due) == 30 and s.call('hwt_trim') == 0
    s.client.xgroup_create(due, 'g1', '0')
    assert s.call('hwt_trim') == 0
    names = [name for name, _ in s.client.xrange(due)]
    assert s.call('hwt_ack', 'g1', *names) == 0         # not delivered yet
    taken = consume(s, 'g1', 10)
    assert s.call('hwt_ack', 'g1', *taken[:4], taken[0], names[20]) == 4
    assert s.client.xlen(due) == 26 and s.call('hwt_ack', 'g1', *taken[:4]) == 0
    assert s.call('hwt_ack', 'none', *taken) == 0 and s.client.xlen(due) == 26
    s.client.xgroup_create(due, 'g2', '0')
    assert s.call('hwt_ack', 'g1', *taken[4:]) == 6 and s.client.xlen(due) == 26
    assert s.call('hwt_trim') == 0
    others = consume(s, 'g2', 8)
    s.call('hwt_ack', 'g2', *others[:3], *others[4:])
    assert s.call('hwt_trim') == 3 and s.client.xrange(due, count=1)[0][0] == others[3]
    s.call('hwt_ack', 'g2', others[3])
    assert s.call('hwt_trim') == 3          # up to what g1 has acknowledged
    consume(s, 'g1', 100)
    assert s.call('hwt_trim') == 0 and s.client.xlen(due) == 20
    for args in (), ('g',), ('g', 'x'), ('g', '5'), ('g', '1-1', '1-'):
        expect_error('HWTARG' if len(args) > 1 else 'HWTBATCH', s.call, 'hwt_ack', *args)
    expect_error('HWTBATCH', s.call, 'hwt_ack', 'g', *['1-1'] * 1001)
    expect_error('HWTARG', s.call, 'hwt_trim', 'x')


@test
def trim_compares_entries():
    """hwt_trim compares ids of entries as 64-bit numbers"""
    s = fresh()
    due = s.sub('due')
    names = ['9-5', '10-1', '10-9', '10-10', '9007199254740993-1', '9007199254740994-0',
             '9007199254740994-9007199254740993', '9007199254740994-9007199254740994']
    for name in names:
        s.client.xadd(due, {'id': 'x'}, id=name)
    s.client.xgroup_create(due, 'all', '0')
    s.client.xgroup_create(due, 'g', '0')
    s.client.xreadgroup('all', 'c', {due: '>'}, noack=True)
    left = list(names)
    for name in names:
        s.client.xreadgroup('g', 'c', {due: '>'}, count=1, noack=True)
        s.call('hwt_trim')
        have = [x.decode() for x, _ in s.client.xrange(due)]
        left = left[1:]
        if '-90' not in name:           # beyond 2^53, the last one may stay
            assert have == left, (name, have, left)
        assert have in (left, [name] + left), (name, have)


def read_all(s, group, acknowledge=True):
    """The group reads all that it has not read, and perhaps acknowledges it"""
    return [name for name, _ in
            s.client.xreadgroup(group, 'c', {s.sub('due'): '>'}, noack=acknowledge)[0][1]]


@test
def trim_is_bounded():
    """hwt_trim removes about 1,000 entries a call, and all of them in the end"""
    s = fresh()
    due, count = s.sub('due'), 2550
    old = s.client.config_get('stream-node-max-*')
    # Debian's nodes, nodes of one entry, and a single one for all entries
    for entries, size, calls in (100, 4096, 3), (100, 1, 3), (0, 0, 1):
        s.client.config_set('stream-node-max-entries', entries)
        s.client.config_set('stream-node-max-bytes', size)
        s.client.delete(due)
        add = s.client.pipeline(transaction=False)
        for i in range(count + 1):
            add.xadd(due, {'id': i, 'deadline': i, 'payload': ''}, id='5-%d' % (i + 1))
        add.execute()
        s.client.xgroup_create(due, 'g', '5-%d' % count)
        removed = []
        while s.client.xlen(due) > 1:
            removed.append(s.call('hwt_trim'))
            assert removed[-1] > 0 and s.client.xlen(due) == count + 1 - sum(removed)
        assert len(removed) == calls, removed
        assert calls == 1 or max(removed) <= 1000, removed
        assert min(removed[:-1], default=500) >= 500, removed   # so the daemon calls again
        assert s.call('hwt_trim') == 0
        assert s.client.xrange(due)[0][1][b'id'] == b'%d' % count
    for name, value in old.items():
        s.client.config_set(name, value)


@test
def trim_is_replicated():
    """a replica removes the same entries as hwt_trim, and a server that reads its log does"""
    with Server(appendonly='yes') as master, Server(load=False) as replica:
        s = Shard(master.client, '{test:0}')
        due = s.sub('due')
        replica.replicate(master)
        for i in range(1234):
            master.client.xadd(due, {'id': i})
        master.client.xgroup_create(due, 'g', '$')
        for left in 0, 1, 2:
            s.call('hwt_trim')
            replica.wait_for_link(master)
            have = master.client.xrange(due)
            assert replica.client.xrange(due) == have and (not have) == (left > 0)
            master.client.wait(1, 0)
        master.client.execute_command('DEBUG', 'LOADAOF')
        assert master.client.xlen(due) == 0


@test
def trim_refuses_another_type():
    """if `due` is no stream, hwt_trim says so, and leaves it as it is"""
    s = fresh()
    due = s.sub('due')
    for make in (lambda: s.client.set(due, 'x'), lambda: s.client.rpush(due, 'x'),
                 lambda: s.client.zadd(due, {'x': 1})):
        s.client.delete(due)
        make()
        before = s.client.dump(due)
        expect_error('WRONGTYPE', s.call, 'hwt_trim')
        assert s.client.dump(due) == before


@test
def trim_asks_for_one_entry():
    """what hwt_trim costs does not depend on the number of consumers and their entries"""
    s = fresh()
    due, count = s.sub('due'), 3000
    for i in range(count):
        s.client.xadd(due, {'id': i})
    s.client.xgroup_create(due, 'g', '0')
    for i in range(count):
        s.client.xreadgroup('g', 'c%d' % i, {due: '>'}, count=1)
    seen = []
    with s.client.monitor() as monitor:
        assert s.call('hwt_trim') == 0
        s.client.ping()
        for command in monitor.listen():
            seen.append(command['command'])
            if command['command'] == 'PING':
                break
    asked = [text for text in seen if text.startswith('XPENDING')]
    assert asked == ['XPENDING %s g - + 1' % due], seen


@test
def trim_leaves_what_is_needed():
    """hwt_trim removes nothing that a group has not read, not acknowledged, or reads again"""
    s = fresh()
    due = s.sub('due')
    s.schedule(*[x for i in range(10) for x in (i, i + 1, '')])
    Daemon(s).settle()
    names = [name for name, _ in s.client.xrange(due)]

    def trimmed():
        s.call('hwt_trim')
        return len(names) - s.client.xlen(due)

    s.client.xgroup_create(due, 'g', '0')
    s.client.xgroup_create(due, 'late', '0')
    read_all(s, 'g')
    assert trimmed() == 0                               # late has read nothing
    assert read_all(s, 'late', acknowledge=False) == names
    s.client.xack(due, 'late', *names[:2])
    assert trimmed() == 2
    # Taken over, it is pending for another consumer.
    s.client.execute_command('XAUTOCLAIM', due, 'late', 'other', 0, '0', 'COUNT', 1)
    assert trimmed() == 2
    s.client.xack(due, 'late', *names[2:5], *names[6:])
    assert trimmed() == 5                               # names[5] is pending
    # A group that is set back reads again what it had acknowledged.
    s.client.xack(due, 'late', names[5])
    s.client.xgroup_setid(due, 'g', names[6])
    assert trimmed() == 7
    assert read_all(s, 'g', acknowledge=False) == names[7:]
    s.client.xack(due, 'g', names[7])
    # names[8] is pending, and names[7] is to be read again.
    s.client.xgroup_setid(due, 'g', names[6])
    assert trimmed() == 7
    assert read_all(s, 'g', acknowledge=False) == names[7:]
    # A group that is made later gets what is left; and a dead consumer counts.
    s.client.xgroup_create(due, 'new', '0')
    s.client.xack(due, 'g', *names[7:])
    assert trimmed() == 7 and read_all(s, 'new', acknowledge=False) == names[7:]
    assert trimmed() == 7
    s.client.xgroup_delconsumer(due, 'new', 'c')        # with what was pending
    assert trimmed() == 10
    # Without a group, nothing is known to be done.
    s.client.xgroup_destroy(due, 'g')
    s.client.xgroup_destroy(due, 'late')
    s.client.xgroup_destroy(due, 'new')
    s.schedule('x', 1, '')
    Daemon(s).settle()
    assert s.call('hwt_trim') == 0 and s.client.xlen(due) == 1


# What a user needs besides +fcall: a function may do only what its caller may do.
PRODUCER = 'hget hset hsetnx hmget hdel hlen del zadd zrem xadd time exists'.split()
READER = 'hget hmget hlen hexists zcard zrange xlen time'.split()
DAEMON = ('hget hset hmget hdel hlen hscan del zadd zrem zrange xadd xrange xtrim time exists '
          'get set pttl xread xpending xinfo|groups').split()
CONSUMER = 'exists xack xdel xtrim xpending xinfo|groups xreadgroup xautoclaim'.split()


def as_user(s, name, commands, key='{test:0}', keys=('~{test:0}*', '~{test}*')):
    """The shard as a user sees it who has these rights and no others"""
    s.client.execute_command('ACL', 'SETUSER', name, 'reset', 'on', '>secret',
                             *keys, '+client|setname', '+fcall', '+fcall_ro',
                             *['+' + command for command in commands])
    return Shard(redis.Redis(port=SHARED.port, username=name, password='secret'), key)


@test
def least_rights():
    """the rights that each kind of user needs suffice, and each of them is needed"""
    s = fresh()

    def produce(user):
        SHARED.load()
        user.schedule('a', '+60000', '')
        user.schedule('a', '+1', '', 'b', '+90000', '', 'c', '+99999', '')
        user.cancel('b', 'x')

    def read(user):
        user.query('a')
        user.stats()

    def serve(user):
        SHARED.load()
        Daemon(user).settle()
        s.schedule('a', 5, '')
        s.client.hset(s.sub(0), mapping={'': '', 'c': ''})
        s.client.zadd(s.sub('slots'), {'0': 0})
        daemon = Daemon(user)
        wait_until(lambda: s.client.xlen(s.sub('due')) > 0, daemon)
        daemon.reset()
        daemon.settle()
        s.client.xgroup_create(s.sub('due'), 'g', '0')
        consume(s, 'g', 1)
        user.call('hwt_trim')
        user.call('hwt_lease', 'd', 60000)
        user.call('hwt_lease', 'e', 60000)
        user.call('hwt_release', 'd')
        queue = Shard(user.client, '{test}')
        queue.call('hwt_join', 'd', 60000)
        s.client.zadd('{test}:daemons', {'old': 1})
        queue.call('hwt_join', 'd', 60000)
        queue.call('hwt_leave', 'd')

    def consume_all(user):
        due = s.sub('due')
        s.client.xgroup_create(due, 'g', '0', mkstream=True)
        s.schedule('x', 1, '', 'y', 2, '')
        Daemon(s).settle()
        first = consume(user, 'g', 1)
        user.client.execute_command('XAUTOCLAIM', due, 'g', 'c', 0, '0')
        user.call('hwt_trim')
        user.call('hwt_ack', 'g', *first)

    for work, commands in (produce, PRODUCER), (read, READER), (serve, DAEMON), \
            (consume_all, CONSUMER):
        for missing in [None] + commands:
            s.client.flushall()
            user = as_user(s, 'limited', [c for c in commands if c != missing])
            try:
                work(user)
                failed = None
            except redis.RedisError as error:
                failed = str(error)
            assert (failed is None) == (missing is None), (work.__name__, missing, failed)
    s.client.execute_command('ACL', 'DELUSER', 'limited')


# ---- Redis in trouble ----

@test
def full_memory():
    """when memory is full, hwt_schedule says so, and all that frees memory works"""
    s = fresh()
    t = s.now()
    s.schedule(*[x for i in range(1000) for x in (i, t + i % 2 * FAR, 'x' * 100)])
    # Redis may free some meanwhile, of connections that were closed, say.
    s.client.config_set('maxmemory', s.memory() // 2)
    s.client.config_set('maxmemory-policy', 'noeviction')
    expect_error('OOM', s.schedule, 'new', FAR, '')
    expect_error('OOM', s.schedule, 'a', 5, '', 'b', 5, '')
    expect_error('OOM', s.setup)
    daemon = Daemon(s, ahead=1000)
    daemon.settle()
    time.sleep(0.01)
    daemon.settle()
    assert len(s.due()) == 500
    s.call('hwt_lease', 'd', 5000)
    s.call('hwt_release', 'd')
    queue = Shard(s.client, '{test}')
    queue.call('hwt_join', 'd', 5000)
    queue.call('hwt_leave', 'd')
    s.client.config_set('maxmemory', 0)
    s.client.xgroup_create(s.sub('due'), 'g', '0')
    taken = consume(s, 'g', 100)
    s.client.config_set('maxmemory', 1000000)
    assert s.call('hwt_ack', 'g', *taken) == 100 and s.call('hwt_trim') == 0
    assert s.cancel(*range(1, 1000, 2)) == 500
    s.client.config_set('maxmemory', 0)
    assert s.check() == {}


@test
def replicas_read():
    """a replica refuses hwt_schedule, and answers hwt_query and hwt_stats"""
    with Server() as master, Server(load=False) as replica:
        s = Shard(master.client)
        s.schedule('a', 5, 'x', 'b', 5, '')
        replica.replicate(master)
        replica.wait_for_link(master)
        r = Shard(replica.client)
        expect_error('READONLY', r.schedule, 'c', 5, '')
        expect_error('READONLY', r.cancel, 'a')
        expect_error('READONLY', Daemon(r).turn)
        assert r.query('a', 'c') == [[5, b'x'], None] and r.stats()['pending'] == 2


@test
def flushed_and_forgotten():
    """after FLUSHALL, old settings in the cache lose no timer"""
    for reload in False, True:
        s = fresh(width=64)
        daemon = Daemon(s)
        s.schedule('far', '+%d' % FAR, '')
        daemon.settle()
        # A stream that begins anew in the same ms could have the entry at the daemon's
        # place.
        time.sleep(0.01)
        s.client.flushall()
        if reload:
            SHARED.load()
        t = s.now()
        s.schedule('a', t + 300, '')
        s.schedule('b', t + 200, '', 'c', t + 400, '')
        wait_until(fires(s, 'a', 'b', 'c'), daemon)
        s.schedule('d', '+99999', '')
        assert set(s.check()) == {b'd'}


@test
def failover_and_back():
    """after a failover and back, old settings in the cache lose no timer"""
    with Server() as a, Server(load=False) as b:
        sa, sb = Shard(a.client), Shard(b.client)
        sa.setup(width=1024)
        da = Daemon(sa, ahead=0)
        sa.schedule('x', '+60000', '')
        da.settle()                     # a's cache: width 1024
        b.replicate(a)
        b.wait_for_link(a)
        b.promote()
        a.replicate(b)
        sb.cancel('x')
        sb.setup(width=16)
        db = Daemon(sb, ahead=5000)
        db.settle()
        now = sb.now()
        sb.schedule(*[x for i in range(200) for x in ('b%d' % i, now + 1000 + i * 5, '')])
        sb.schedule('far', now + FAR, '')
        db.settle()                     # loaded is later than a believes
        a.wait_for_link(b)
        a.promote()
        b.replicate(a)
        # With the old width and the old horizon: new ones, and some that are in slots of
        # width 16
        for i in range(100, 150):
            sa.schedule('b%d' % i, now + 1500 + i * 5, 'moved')
            sa.schedule('a%d' % i, now + 1000 + i * 5, '')
        sa.schedule(*[x for i in range(150, 200)
                      for x in ('b%d' % i, now + 1700 + i * 5, 'moved', 'a%d' % i, now + 900, '')])
        sa.cancel('b0', 'a199')
        expected = set(sa.records()) - {b'far'}
        assert len(expected) == 298
        da = Daemon(sa, 'again', ahead=100)
        wait_until(lambda: set(sa.records()) == {b'far'}, da)
        due = sa.due()
        assert {entry[1] for entry in due} == expected and len(due) == 298
        assert all(ms >= deadline for ms, _, deadline, _ in due)
        assert set(sa.check(dead=True)) == {b'far'}
        # A reset finds what is left of timers that were in two slots.
        da.reset()
        da.settle()
        sa.cancel('far')
        assert sa.check() == {} and sa.slots() == {}


@test
def killed_with_aof():
    """with appendfsync always, no timer is lost when Redis is killed"""
    with Server(appendonly='yes', appendfsync='always') as server:
        s = Shard(server.client)
        s.setup(width=64)
        t = s.now()
        acknowledged = set()

        def produce():
            client = server.connect()
            i = 0
            try:
                while True:
                    i += 1
                    client.execute_command('FCALL', 'hwt_schedule', 1, s.key, i, t + 7 * i, 'x',
                                           'twin%d' % i, t + 9 * i, 'y')
                    acknowledged.update((b'%d' % i, b'twin%d' % i))
            except redis.ConnectionError:
                pass

        daemon = Daemon(s)
        thread = threading.Thread(target=produce)
        thread.start()
        wait_until(lambda: len(acknowledged) > 500 and len(daemon.fired) > 50, daemon)
        server.kill()
        thread.join()
        server.start()
        s = Shard(server.client)
        records = s.check()
        fired = [entry[1] for entry in s.due()]
        assert len(fired) == len(set(fired)) and not set(fired) & set(records)
        assert acknowledged <= set(fired) | set(records)
        assert set(daemon.fired) <= set(fired)
        daemon = Daemon(s, 'again')
        # None is left if the machine stood still until all were due.
        last = max((deadline for deadline, _ in records.values()), default=0)
        for name, (deadline, _) in records.items():
            if deadline > s.now() + 1000:
                s.cancel(name)
        rest = set(s.records())
        while daemon.step() or s.now() < min(last, t + 4000):
            time.sleep(0.001)
        due = [entry[1] for entry in s.due()]
        assert len(due) == len(set(due)) and set(due) <= set(fired) | rest
        s.check()


@test
def moving_slot():
    """while Cluster moves the shard's slot: TRYAGAIN or ASK, and nothing is in two places"""
    options = {'cluster_enabled': 'yes', 'cluster_node_timeout': '2000',
               'cluster_allow_replica_migration': 'no'}
    with Server(**options) as a, Server(**options) as b:
        run, run_b = a.client.execute_command, b.client.execute_command
        run('CLUSTER', 'ADDSLOTSRANGE', 0, 16383)
        run('CLUSTER', 'MEET', '127.0.0.1', b.port)
        ids = [x.execute_command('CLUSTER', 'MYID').decode() for x in (a.client, b.client)]
        wait_until(lambda: cluster_ok(a) and cluster_ok(b))
        s, t = Shard(a.client), Shard(b.client)
        slot = run('CLUSTER', 'KEYSLOT', s.key)
        now = s.now()

        def give(new, node):
            new.client.execute_command('CLUSTER', 'BUMPEPOCH')
            for server in a, b:
                server.client.execute_command('CLUSTER', 'SETSLOT', slot, 'NODE', node)

        # The other node has had the shard before, so it has settings in its cache.
        give(b, ids[1])
        t.schedule('warm', now + FAR // 2, '')
        run_b('FLUSHALL')
        give(a, ids[0])
        daemon = Daemon(s)
        s.schedule('a', now + FAR, 'x', 'b', now + FAR + 5000, '')
        daemon.settle()
        s.schedule('c', '+0', '')
        s.schedule('d', '+1', '', 'e', '+2', '')
        daemon.settle()
        time.sleep(0.01)
        daemon.settle()
        assert len(s.due()) == 3
        s.schedule('overdue', 5, '')
        s.check()
        expect_error('MOVED', t.schedule, 'a', 5, '')
        run_b('CLUSTER', 'SETSLOT', slot, 'IMPORTING', ids[0])
        run('CLUSTER', 'SETSLOT', slot, 'MIGRATING', ids[1])
        before = a.client.debug_object(s.key), set(run('CLUSTER', 'GETKEYSINSLOT', slot, 100))
        calls = (lambda x: x.schedule('new', now + 2 * FAR, ''),
                 lambda x: x.schedule('a', now + 2 * FAR, ''),
                 lambda x: x.schedule('a', now + FAR + 5000, ''),
                 lambda x: x.schedule('new', now + 10, ''),
                 lambda x: x.schedule('new', 6, ''),    # a slot that exists, but near?
                 lambda x: x.schedule('n1', now + FAR, '', 'n2', now + 2 * FAR, ''),
                 lambda x: x.cancel('a'), lambda x: x.call('hwt_lease', 'd', 5000),
                 lambda x: x.call('hwt_turn', 'd', '', '0', '0', '1', 'a'), lambda x: x.setup(),
                 lambda x: x.call('hwt_ack', 'g', '1-1'), lambda x: x.call('hwt_trim'))

        def asking(call):
            # redis-py's connections are pooled; ASKING is for the next command of one.
            client = redis.Redis(port=b.port, single_connection_client=True)
            client.execute_command('ASKING')
            return call(Shard(client))

        for call in calls:
            expect_error('TRYAGAIN', call, s)
        records = {name: value.split(b' ')[0] for name, value in a.client.hgetall(s.key).items()}
        assert set(records) == {b'', b'a', b'b', b'overdue'}
        assert set(run('CLUSTER', 'GETKEYSINSLOT', slot, 100)) == before[1]
        # A new timer in a slot that exists needs no other key.
        s.schedule('c', now + FAR, '')
        # The shard's key moves first, so the next calls go to the other node.
        run('MIGRATE', '127.0.0.1', b.port, s.key, 0, 5000)
        expect_error('ASK', s.schedule, 'new', 5, '')
        for call in calls:
            expect_error('TRYAGAIN', asking, call)
        assert run_b('CLUSTER', 'GETKEYSINSLOT', slot, 100) == [s.key.encode()]
        for name in run('CLUSTER', 'GETKEYSINSLOT', slot, 100):
            run('MIGRATE', '127.0.0.1', b.port, name, 0, 5000)
        run_b('CLUSTER', 'SETSLOT', slot, 'NODE', ids[1])
        run('CLUSTER', 'SETSLOT', slot, 'NODE', ids[1])
        expect_error('MOVED', s.schedule, 'a', 5, '')
        assert set(t.check()) == {b'a', b'b', b'c', b'overdue'}
        daemon = Daemon(t)
        daemon.settle()
        t.schedule('new', '+1', '', 'a', '+2', '')
        time.sleep(0.01)
        daemon.settle()
        assert len(t.due()) == 6 and set(t.check()) == {b'b', b'c'}


def cluster_ok(server):
    info = server.client.execute_command('CLUSTER', 'INFO')
    text = info if isinstance(info, dict) else dict(
        line.split(':') for line in info.decode().split())
    return text['cluster_state'] == 'ok' and text['cluster_known_nodes'] == '2'


@test
def replaced_under_load():
    """FUNCTION LOAD REPLACE under load loses nothing"""
    s = fresh(width=64)
    t = s.now()
    stop = threading.Event()
    count = [0]

    def produce():
        client = SHARED.connect()
        while not stop.is_set():
            pipe = client.pipeline(transaction=False)
            for i in range(count[0], count[0] + 50):
                pipe.execute_command('FCALL', 'hwt_schedule', 1, s.key, i, t + i % 3000, 'x')
            assert pipe.execute() == [1] * 50
            count[0] += 50

    thread = threading.Thread(target=produce)
    thread.start()
    daemon = Daemon(s)
    replaced = 0
    while s.now() < t + 2000 or replaced < 20 or count[0] < 1000:
        daemon.step()
        SHARED.load()
        replaced += 1
    stop.set()
    thread.join()
    wait_until(lambda: len(s.due()) >= count[0], daemon)
    due = [entry[1] for entry in s.due()]
    assert s.check() == {} and len(due) == len(set(due)) == count[0]
    assert daemon.resets == 0


@test
def many_shards():
    """more shards than the cache holds: their settings are right, and its memory is bounded"""
    s = fresh()
    keys = ['{many:%d}' % i for i in range(12300)]

    def run(*args):
        pipe = s.client.pipeline(transaction=False)
        for key in keys:
            pipe.execute_command('FCALL', 'hwt_schedule', 1, key, *args)
        assert pipe.execute() == [1] * len(keys)

    for i, key in enumerate(keys[::100]):
        Shard(s.client, key).setup(width=64 << i % 4)
    run('a', 6400000000, '')
    run('b', 6400001000, '')
    for key in keys[::1500]:
        assert len(Shard(s.client, key).check()) == 2
    assert s.client.info('memory')['used_memory_vm_functions'] < 9000000


# ---- clocks that are set ----

YEAR = 365 * 86400000


@test
def excursion_of_the_clock():
    """a clock that went ahead and came back leaves the daemon with what is due soon only"""
    with Server(clock=True) as server:
        s = Shard(server.client)
        s.setup(width=64)
        daemon = Daemon(s)
        daemon.settle()
        server.shift(YEAR)
        s.schedule('there', '+100', '', 'stays', '+60000', '')
        wait_until(fires(s, 'there'), daemon)
        server.shift(0)
        s.schedule('before', '+200', '')
        daemon.settle()
        assert s.settings()['loaded'] < s.now() + 10000
        s.schedule('later', '+%d' % FAR, '')
        s.schedule('soon', '+300', '')
        daemon.settle()
        assert {name for name, _ in daemon.armed} <= {b'stays', b'before', b'soon'}
        wait_until(fires(s, 'there', 'before', 'soon'), daemon)
        # A step back of a second does not make the daemon read everything again.
        server.shift(-1000)
        length = s.client.xinfo_stream(s.sub('near'))['last-generated-id']
        daemon.turn()
        assert s.client.xinfo_stream(s.sub('near'))['last-generated-id'] == length
        assert set(s.check()) == {b'stays', b'later'}


@test
def near_is_trimmed_after_an_excursion():
    """near, whose entries have the times of a clock that was ahead, is trimmed all the same"""
    with Server(clock=True) as server:
        s = Shard(server.client)
        other = Daemon(s, 'other')
        daemon = Daemon(s)
        server.shift(YEAR)
        daemon.settle()
        other.settle()
        server.shift(0)
        batch = [x for i in range(1000) for x in (i, 5, '')]
        for _ in range(30):
            s.schedule(*batch)
            daemon.settle()
            other.settle()
        resets = daemon.resets, other.resets
        assert s.near_length() < 12000, s.near_length()
        s.schedule(*batch)
        daemon.settle()
        other.settle()
        assert (daemon.resets, other.resets) == resets == (0, 0)
        # Neither does a daemon trim what it has not read.
        for _ in range(25):
            s.schedule(*batch)
        daemon.settle()
        assert daemon.resets == 0 and len(s.due()) == 32000 and s.check() == {}


@test
def members_outlive_no_excursion():
    """a member that died while the clock was ahead is not a member for as long as it was"""
    q = fresh(key='{test}')
    now = q.now()
    q.call('hwt_join', 'a', 5000)
    q.call('hwt_join', 'slow', 40000)
    q.client.zadd('{test}:daemons', {'dead': now + YEAR})
    before = q.client.zscore('{test}:daemons', 'slow')
    assert q.call('hwt_join', 'a', 5000) == [b'a', b'dead', b'slow']
    assert q.client.zscore('{test}:daemons', 'dead') - q.now() <= 50000
    assert q.client.zscore('{test}:daemons', 'slow') == before


@test
def leases_outlive_no_excursion():
    """a lease that was granted while the clock was ahead does not last for as long as it was"""
    with Server(clock=True) as server:
        s = Shard(server.client)
        server.shift(YEAR)
        assert s.call('hwt_lease', 'dead', 60)[0] == 1
        server.shift(0)
        ours, _, holder, left = s.call('hwt_lease', 'd', 60)
        assert (ours, holder) == (0, b'dead') and left <= 600 >= s.client.pttl(s.sub('lease'))
        wait_until(lambda: s.call('hwt_lease', 'd', 60)[0] == 1)
        # A daemon with a somewhat shorter lease does not shorten it.
        s.call('hwt_lease', 'd', 60000)
        assert s.call('hwt_lease', 'short', 6000)[3] > 50000 < s.client.pttl(s.sub('lease'))


# ---- calls that fail ----

def fail(function, *args):
    """Calls it, and returns whether Redis refused that"""
    try:
        function(*args)
    except redis.ResponseError:
        return True
    return False


KEYS = ('{test:0}', '{test:0}:[0-9]*', '{test:0}:slots', '{test:0}:near', '{test:0}:due')


def troubles(s, commands):
    """What can make a call fail half way: a right or a key that the user lacks, or a key that
    has another type. (what, user, the key)"""
    for missing in commands:
        yield missing, as_user(s, 'limited', [c for c in commands if c != missing]), None
    for missing in KEYS:
        keys = ['~' + key for key in KEYS if key != missing]
        yield missing, as_user(s, 'limited', commands, keys=keys), None
        keys += ['%R~' + missing]
        yield 'write to ' + missing, as_user(s, 'limited', commands, keys=keys), None
    for name in str(8000000000000 - 8000000000000 % 1024), 'near', 'slots', 'due':
        yield 'type of ' + name, s, s.sub(name)


@test
def failed_calls_leave_timers():
    """whatever makes hwt_schedule or hwt_cancel fail, each timer that is there fires, once"""
    far = 8000000000000
    calls = {
        'single': (lambda u: u.schedule('new', far, ''), {b'new'}),
        'batch': (lambda u: u.schedule('new', far, '', 'new2', far + 9000, ''), {b'new', b'new2'}),
        'twins': (lambda u: u.schedule('new', far + 9000, '', 'new', far, ''), {b'new'}),
        'twins in a slot': (lambda u: u.schedule('new', far, '', 'new', far + 1, ''), {b'new'}),
        'twins and one': (lambda u: u.schedule('new', far + 9000, '', 'new', far + 9001, '',
                                               'new2', far, ''), {b'new', b'new2'}),
        'near': (lambda u: u.schedule('new', 5, ''), {b'new'}),
        'near batch': (lambda u: u.schedule('new', 5, '', 'new2', far, ''), {b'new', b'new2'}),
        'move': (lambda u: u.schedule('old', far, 'x'), set()),
        'near move': (lambda u: u.schedule('old', 5, 'x'), set()),
        'batch move': (lambda u: u.schedule('old', far, 'x', 'old2', 5, ''), set()),
        'cancel': (lambda u: u.cancel('old', 'old2'), set())}
    failed = set()
    for name, (call, new) in calls.items():
        for trouble, user, wrong_key in troubles(fresh(), PRODUCER):
            s = fresh()
            daemon = Daemon(s)
            daemon.settle()
            if wrong_key != s.sub('slots'):     # what is lost there is lost
                s.schedule('old', far + 5000, 'x', 'old2', far + 90000, '')
            daemon.settle()
            if wrong_key:
                s.client.delete(wrong_key)
                s.client.set(wrong_key, 'x')
            where = name, trouble
            refused = fail(call, user)
            if refused:
                failed.add(where)
            if wrong_key:
                s.client.delete(wrong_key)
            records = s.records()
            # Without these rights, old slots are not left, after all else is done.
            if refused and trouble not in ('hdel', 'hlen', 'del', 'zrem'):
                assert not new & set(records), where
            # Others go on in the same slots.
            s.schedule('next', far, '')
            s.schedule('next2', far + 9000, '')
            pending = s.check(dead=True)
            near = {n for n, (deadline, _) in pending.items() if deadline < far}
            daemon.settle()
            assert {n for _, n, _, _ in s.due()} == near, where
            daemon.reset()
            daemon.settle()
            assert set(s.check(dead=True)) == set(pending) - near, where
            assert s.cancel(*pending) == len(pending) - len(near), where
    assert len(failed) > 50, failed
    s.client.execute_command('ACL', 'DELUSER', 'limited')


@test
def failed_turns_fire_once():
    """a turn that Redis refuses to carry out leaves no timer in due and pending"""
    timers = [x for i in range(5) for x in (i, 5 + i, '')]
    for trouble, user, wrong_key in troubles(fresh(), DAEMON):
        s = fresh()
        s.schedule(*timers)
        # In the wrong slot, which must be corrected
        s.client.hset(s.sub(1024), mapping={'': '', 'x': ''})
        s.client.hset(s.key, 'x', '3000 ')
        s.client.zadd(s.sub('slots'), {'1024': 1024})
        if wrong_key:
            s.client.delete(wrong_key)
            s.client.set(wrong_key, 'x')
        for _ in range(3):
            fail(Daemon(user).turn, *range(5))
        if wrong_key:
            s.client.delete(wrong_key)
        due = [entry[1] for entry in s.due()]
        assert not set(due) & set(s.records()) and len(due) == len(set(due)), trouble
        if wrong_key != s.sub('slots'):
            s.schedule('y', 3001, '')
            fired = {b'0', b'1', b'2', b'3', b'4', b'y'} | (set() if s.cancel('x') else {b'x'})
            Daemon(s).settle()
            assert {entry[1] for entry in s.due()} == fired, trouble
            assert s.check() == {} and len(s.due()) == len(fired), trouble
    s = fresh()
    s.schedule(*timers)
    # A stream that takes two more entries
    s.client.xadd(s.sub('due'), {'id': ''}, id='1-1')
    s.client.execute_command('XSETID', s.sub('due'), '%d-%d' % (2 ** 64 - 1, 2 ** 64 - 3))
    s.client.xtrim(s.sub('due'), maxlen=0, approximate=False)
    for _ in range(3):
        assert fail(Daemon(s).turn, *range(5))
        assert [entry[1] for entry in s.due()] == [b'0', b'1']
        assert set(s.check()) == {b'2', b'3', b'4'}
    s.client.delete(s.sub('due'))
    Daemon(s).settle()
    assert len(s.due()) == 3 and s.check() == {}
    s.client.execute_command('ACL', 'DELUSER', 'limited')


@test
def refused_setup_is_forgotten():
    """what a user without rights asks hwt_setup for does not become true for others"""
    s = fresh()
    user = as_user(s, 'limited', [c for c in PRODUCER if c != 'hset'])
    assert fail(user.setup, 1024, 1, 0)
    s.schedule('long', 8000000000000 + 64, 'payload')
    s.check()
    s.client.execute_command('ACL', 'DELUSER', 'limited')


@test
def ack_checks_all_entries_first():
    """hwt_ack of an entry that cannot be acknowledges none of the others"""
    s = fresh()
    s.schedule('a', 1, '', 'b', 2, '')
    Daemon(s).settle()
    s.client.xgroup_create(s.sub('due'), 'g', '0')
    a, b = (name.decode() for name in consume(s, 'g', 2))
    for bad in '%d-1' % 2 ** 64, '1-%d' % 2 ** 64, '9' * 20 + '-0', '9' * 21 + '-0', '1-1-1':
        expect_error('HWTARG', s.call, 'hwt_ack', 'g', a, bad, b)
        assert s.client.xpending(s.sub('due'), 'g')['pending'] == 2
    assert s.call('hwt_ack', 'g', '%d-%d' % (2 ** 64 - 1, 2 ** 64 - 1), a, '0' + b) == 2


@test
def large_batches_are_forgotten():
    """the functions keep nothing of a large batch in memory"""
    s = fresh()
    vm = lambda: s.client.info('memory')['used_memory_vm_functions']
    before = vm()
    s.schedule(*[x for i in range(1000) for x in (i, FAR, '%d' % i * 10000)])
    for i in range(2000):           # Redis collects Lua's garbage now and then
        s.schedule('a', FAR, '')
    assert vm() - before < 5000000, vm() - before


# ---- random operations ----

class Model:
    """What must be in the shard, and what happened"""

    def __init__(self, shard, rng):
        self.shard = shard
        self.rng = rng
        self.timers = {}
        self.scheduled = self.cancelled = 0
        self.foreign = []       # keys of slots that somebody else has written

    def ids(self, count):
        return [b'id%d' % self.rng.randrange(300) for _ in range(count)]

    def schedule(self, horizon):
        count = self.rng.choice((1, 1, 1, 2, 5, 40))
        args, new, now = [], {}, self.shard.now()
        for name in self.ids(count):
            delay = self.rng.choice((self.rng.randint(-500, horizon), self.rng.randint(-5, 200)))
            payload = b'%d' % self.rng.randrange(10 ** 9)
            args += [name, now + delay, payload]
            new[name] = (now + delay, payload)
        fresh_ids = set(new) - set(self.timers)
        try:
            assert self.shard.schedule(*args) == len(fresh_ids)
        except redis.ResponseError as error:
            assert self.foreign and str(error).startswith('WRONGTYPE '), error
            return
        self.scheduled += len(fresh_ids)
        self.timers.update(new)

    def cancel(self):
        ids = self.ids(self.rng.choice((1, 1, 5, 50)))
        gone = set(ids) & set(self.timers)
        assert self.shard.cancel(*ids) == len(gone)
        self.cancelled += len(gone)
        for name in gone:
            del self.timers[name]

    def query(self):
        ids = self.ids(20)
        wanted = [list(self.timers[name]) if name in self.timers else None for name in ids]
        assert self.shard.query(*ids) == wanted

    def fired(self, daemons):
        """Takes what daemons fired out of the model; each must have been in it, and due"""
        for daemon in daemons:
            for name in daemon.fired:
                self.due.append((name,) + self.timers.pop(name))
                assert self.due[-1][1] <= daemon.now, 'early: %r' % (self.due[-1],)
            daemon.fired = []

    def misplace(self):
        """Puts a timer into a slot of another width, as an old cache does, which no daemon has
        passed or will sleep through"""
        settings = self.shard.settings()
        name = self.rng.choice(sorted(self.timers) or [b''])
        deadline = self.timers.get(name, (0, b''))[0]
        home = deadline - deadline % settings['width']
        away = deadline - deadline % int(settings['width'] * self.rng.choice((1 / 32, 1 / 2, 4)))
        if home != away and min(home, away) >= max(settings['loaded'], settings['wake']) and \
                settings['wake'] >= 0 and \
                not {self.shard.sub(home), self.shard.sub(away)} & set(self.foreign):
            self.shard.client.hset(self.shard.sub(away), mapping={'': '', name: ''})
            self.shard.client.zadd(self.shard.sub('slots'), {away: away})
            self.shard.client.hdel(self.shard.sub(home), name)

    def lose(self):
        """Deletes or overwrites the slot of a timer, or deletes what has overwritten one"""
        settings, client = self.shard.settings(), self.shard.client
        name = self.rng.choice(sorted(self.timers) or [b''])
        deadline = self.timers.get(name, (0, b''))[0]
        slot = self.shard.sub(deadline - deadline % settings['width'])
        if self.foreign and self.rng.random() < 0.5:
            client.delete(self.foreign.pop(self.rng.randrange(len(self.foreign))))
        elif self.rng.random() < 0.5:
            client.delete(slot)
        elif slot not in self.foreign:
            client.set(slot, 'x')
            self.foreign.append(slot)

    due = ()


JUMPS = 0, 0, 40, -40, 700, -700, 30000, -30000, FAR, -FAR, YEAR


def make_trouble(rng, model, daemon, server, kinds):
    """What may happen to the daemon, and to all"""
    if rng.random() < 0.01:
        daemon.reset()
    if rng.random() < 0.05:
        model.fired([daemon])
        daemon.step_in_vain()
    if rng.random() < 0.005:
        server.load()
    if 'clock' in kinds and rng.random() < 0.01:
        server.shift(rng.choice(JUMPS))
    if 'slots' in kinds and rng.random() < 0.3:
        model.misplace()
    if 'lost' in kinds and rng.random() < 0.1:
        model.lose()


def random_operations(seed, width, count, ahead, seconds, trouble, server=None):
    rng = random.Random(seed)
    s = Shard(server.client) if server else fresh(width=width)
    server = server or SHARED
    s.setup(width)
    model = Model(s, rng)
    model.due = []
    daemons = [Daemon(s, 'd%d' % i, ahead, rng.choice((3, 50, 1000))) for i in range(count)]
    lagging = {daemon: 0 for daemon in daemons}
    end = time.monotonic() + seconds
    steps = 0
    while time.monotonic() < end:
        rng.choice((lambda: model.schedule(2000), lambda: model.schedule(2000),
                    lambda: model.schedule(20000), model.cancel, model.query))()
        for daemon in daemons:
            if rng.random() < 0.01:
                lagging[daemon] = time.monotonic() + rng.random() * 0.7
            if time.monotonic() >= lagging[daemon] and rng.random() < 0.7:
                daemon.step(rng.choice((1, 30, 1000)))
            if rng.random() < 0.05:
                # What hwtimerd never does; also a turn that was retried
                daemon.turn(*model.ids(20))
            if trouble:
                make_trouble(rng, model, daemon, server, trouble)
            model.fired([daemon])
        steps += 1
        if steps % 50 == 0:
            strange = 'slots' in trouble or 'lost' in trouble
            assert (s.records() if strange else s.check()) == model.timers
    # What lies far away need not be waited for.
    now = s.now()
    far = [name for name, (deadline, _) in model.timers.items() if deadline > now + 2000]
    for name in far:
        model.cancelled += s.cancel(name)
        del model.timers[name]
    # One daemon ends; the other one must know all.
    survivor = daemons[-1]
    for _ in range(6000):
        survivor.settle()
        model.fired([survivor])
        if not model.timers:
            break
        time.sleep(0.005)
    assert not model.timers, 'lost: %r, daemon %r' % (model.timers, vars(survivor))
    if 'lost' in trouble:
        # Slots that were lost leave the index when they are looked for.
        s.client.delete('none', *model.foreign)
        survivor.ahead = FAR
        survivor.reset()
        survivor.settle()
        assert s.client.zcard(s.sub('slots')) == 0
    # What is left of moved timers in slots of another width goes when they are loaded.
    assert s.check(dead='slots' in trouble) == {} and ('slots' in trouble or s.slots() == {})
    due = s.due()
    assert [entry[1:] for entry in due] == model.due
    assert all(ms >= deadline for ms, _, deadline, _ in due), 'early'
    assert model.scheduled == model.cancelled + len(due)
    return model


def define_random(name, doc, *args):
    def run():
        for i in range(SCALE):
            try:
                if 'clock' not in args[-1]:
                    random_operations(SEED + i, *args)
                    continue
                with Server(clock=True) as server:
                    random_operations(SEED + i, *args, server)
            except AssertionError:
                print('# repeat with HWTIMER_SEED=%d' % (SEED + i))
                raise
    run.__name__, run.__doc__ = 'random_' + name, 'random operations: ' + doc
    test(run)


define_random('one', 'one daemon', 64, 1, 100, 3, '')
define_random('one_wide', 'one daemon, wide slots', 4096, 1, 300, 3, '')
define_random('one_narrow', 'one daemon, slots of 1 ms, nothing ahead', 1, 1, 0, 3, '')
define_random('two', 'two daemons', 64, 2, 100, 4, '')
define_random('two_trouble', 'two daemons that reset, lost answers, and a library that is replaced',
              256, 2, 50, 4, 'trouble')
define_random('three_narrow', 'three daemons, slots of 8 ms', 8, 3, 20, 4, 'trouble')
define_random('clock', 'a clock that is set', 64, 2, 100, 6, 'clock')
define_random('clock_wide', 'a clock that is set, wide slots', 16384, 1, 300, 4, 'clock')
define_random('slots', 'slots of another width', 512, 2, 100, 4, 'slots')
define_random('lost', 'slots that somebody else deletes or overwrites', 64, 2, 100, 4, 'lost')
define_random('lost_slots', 'lost slots of another width, and daemons in trouble', 512, 3, 50, 4,
              'slots lost trouble')

if __name__ == '__main__':
    print('# HWTIMER_SEED=%d' % SEED)
    SHARED = Server()
    try:
        main('functions')
    finally:
        SHARED.end()
