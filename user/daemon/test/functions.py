#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Tests hwtimerd's Redis Functions against real servers. Prints TAP.

    usage: functions.py [TEST...]       tests whose names begin so; HWTIMER_SEED repeats a run
"""

import os
import random
import threading
import time

import redis

from redis_server import Server, cluster_of_two
from shard import KEYS, NEVER, Daemon, Shard, batch, flat, random_operations
from tap import expect_error, fails, main, test

SEED = int(os.environ.get('HWTIMER_SEED', random.randrange(10 ** 9)))
SCALE = int(os.environ.get('HWTIMER_SCALE', 1))
FAR = 3600000
DAY = 86400000         # the longest life of a daemon
YEAR = 365 * DAY
FIRST, LAST = 100000000000, 253402300799999     # of all deadlines

# Calls that succeed
CALLS = {'hwt_schedule': ('a', '+0', ''), 'hwt_add': ('a', '+0', ''), 'hwt_update': ('a', '+0', ''),
         'hwt_move': ('a', '+0'), 'hwt_cancel': ('a',), 'hwt_query': ('a',), 'hwt_list': ('', 5),
         'hwt_purge': (), 'hwt_stats': ()}
FIRE = ('d', 5000, 1000, 1000000, 1, 256, 65536)
ALL_CALLS = {**CALLS, 'hwt_fire': FIRE, 'hwt_leave': ('d',)}


def fresh(key='{test:0}', **limits):
    """A shard on the server that the tests share, with nothing in it"""
    SHARED.client.flushall()
    SHARED.client.config_set('maxmemory', 0)
    shard = Shard(SHARED.client, key)
    Daemon(shard, 'setup', **limits).fire()
    return shard


def wait_until(condition, *daemons):
    """Runs the daemons until the condition holds. It is no bound on lateness: only what this
    function sleeps counts."""
    for _ in range(12000):
        if condition():
            return
        for daemon in daemons:
            daemon.settle()
        time.sleep(0.005)
    raise AssertionError('it never happens')


def fires(s, *names):
    """A condition: these timers, and no others, have fired"""
    return lambda: sorted(entry[1].decode() for entry in s.entries()) == sorted(names)


# ---- what programs call ----

@test
def timers_are_scheduled():
    """hwt_schedule counts new timers; hwt_add takes only new ones, hwt_update and _move others"""
    s = fresh()
    t = s.now() + FAR
    assert s.schedule('a', t, 'one') == 1
    assert s.schedule('a', t + 5, '', 'b', t, 'y') == 1
    assert s.check() == {b'a': (t + 5, b''), b'b': (t, b'y')}
    assert s.add('a', t + 1, 'x', 'c', t + 1, 'three') == 1
    assert s.update('x', t, 'y', 'a', t + 2, 'two') == 1
    assert s.move('b', t + 3, 'x', t, 'c', t + 4) == 2
    timers = {b'a': (t + 2, b'two'), b'b': (t + 3, b'y'), b'c': (t + 4, b'three')}
    assert s.check() == timers
    assert s.add('a', t, 'x') == s.update('x', t, 'x') == s.move('x', t) == 0
    assert s.check() == timers
    # An id twice: the last one counts, but the first one of those that are new only.
    assert s.schedule('a', t, '4', 'd', t, '5', 'a', t + 9, '6', 'd', t + 1, '7') == 1
    assert s.add('e', t + 5, '1', 'e', t, '2') == 1
    assert s.query('a', 'd', 'e') == [[t + 9, b'6'], [t + 1, b'7'], [t + 5, b'1']]
    assert s.update('d', t, '3', 'd', t + 6, '4') == s.move('e', t, 'e', t + 7) == 1
    assert s.query('d', 'e') == [[t + 6, b'4'], [t + 7, b'1']]
    s.check()


@test
def deadlines_are_parsed():
    """deadlines are ms from 1973 to 9999, so no s or us; +ms is rounded up"""
    s = fresh()
    now = s.now()
    s.schedule('a', FIRST, '', 'b', LAST, '', 'c', '0%d' % FIRST, '')
    assert s.query('a', 'b', 'c') == [[FIRST, b''], [LAST, b''], [FIRST, b'']]
    timers = s.check()
    for bad in ('', '0', '-1', '+', '+-1', '++1', '%d.5' % now, '1e12', '0x174876e8000',
                ' %d' % now, '%d ' % now, '%dx' % now, 'x', '%d\0' % now, 'inf', 'nan', FIRST - 1,
                LAST + 1, now // 1000, now * 1000, now * 10 ** 6, '9' * 17, '0' * 17,
                '+%d' % LAST, '+%d' % (LAST - now + 1), '+%d' % 2 ** 64):
        expect_error('HWTDEADLINE', s.schedule, 'y', now, '', 'z', bad, '')
        for function, *payload in (s.schedule, ''), (s.add, ''), (s.update, ''), (s.move,):
            expect_error('HWTDEADLINE', function, 'a', bad, *payload)
    assert s.check() == timers
    for _ in range(50):
        seconds, us = s.client.time()
        delays = 0, 7, LAST - seconds * 1000 - 60000
        s.schedule(*flat((delay, '+%d' % delay, '') for delay in delays))
        for delay, (deadline, _) in zip(delays, s.query(*delays)):
            assert seconds * 1000 + us / 1000 <= deadline - delay <= s.now() + 1


@test
def cancel_and_purge_count():
    """hwt_cancel and hwt_purge return how many timers they found, and leave nothing of them"""
    s = fresh()
    assert s.cancel('a') == s.purge() == 0
    s.schedule('a', LAST, 'x', 'b', LAST, 'y', 'c', FAR + s.now(), '')
    assert s.cancel('a', 'a', 'x') == 1 and set(s.check()) == {b'b', b'c'}
    assert s.cancel('a', 'b', 'c') == 2 and s.check() == {}
    s.schedule(*batch(range(500), LAST, 'x'), *batch(range(500, 1000), FIRST, 'x'))
    daemon = Daemon(s, count=10)
    assert daemon.fire() == s.due_length() == 10
    assert s.purge() == 990 and s.check(daemon) == {} and s.due_length() == 10
    expect_error('HWTARG', s.call, 'hwt_purge', 'x')


@test
def bytes_are_bytes():
    """ids and payloads have any bytes"""
    s = fresh(key='{a b\n\0%d%%c:0}', max_payload=100000)
    ids = [bytes([i]) for i in range(256)] + [b'\0\0', b'}', b'a b', b'\r\n', b'5 5', b'+5', b'%s',
                                              b'%d%n', b'  ', b'lua "quote" \\', b'-inf', b'long']
    timers = {name: (FIRST + i % 7, name * i * (i % 2)) for i, name in enumerate(ids)}
    timers[b'long'] = (FIRST, bytes(range(256)) * 300)
    args = flat((name, *timer) for name, timer in timers.items())
    assert s.add(*args) == len(timers) and s.schedule(*args) == 0
    assert s.check() == timers
    assert s.query(*timers) == [list(timer) for timer in timers.values()]
    in_order = sorted((deadline, name) for name, (deadline, _) in timers.items())
    for count in 1, 2, 1000:
        assert s.list_all(count) == [(name, deadline) for deadline, name in in_order]
    Daemon(s).settle()
    assert s.due() == [(name, deadline, timers[name][1]) for deadline, name in in_order]
    assert s.check() == {} and s.schedule(*batch(timers, LAST)) == s.cancel(*timers) == len(timers)


@test
def list_is_exact():
    """hwt_list tells each timer that stays once and in order, while others come and go"""
    s = fresh()
    rng = random.Random(SEED)
    stays = {b'stay%d' % i: LAST - rng.choice((0, 0, 5, i)) for i in range(200)}
    s.schedule(*flat((*timer, '') for timer in stays.items()))
    wanted = sorted(stays.items(), key=lambda timer: timer[::-1])

    def between():
        ids = [b'%sx%d' % (rng.choice((b'', b'stay1', b'z')), rng.randrange(50)) for _ in range(9)]
        if rng.random() < 0.5:
            s.cancel(*ids)
        else:
            s.schedule(*batch(ids, LAST - rng.choice((0, 5, 99))))

    for count in 1, 2, 3, 7, 50, 200, 1000:
        found = s.list_all(count, between)
        assert [timer for timer in found if timer[0] in stays] == wanted
    assert s.purge() and s.list() == (b'', [])
    s.schedule(*batch('abcd', LAST))
    cursor, _ = s.list(count=2)
    s.cancel('b', 'c')          # the one at the cursor is gone, and the next one
    assert s.list(cursor, 2) == (b'', [(b'd', LAST)])
    for args in ('', 0), ('', 1001), ('', ''), ('',), (), ('', 5, 5), ('x', 5), ('5', 5):
        expect_error('HWTARG', s.call, 'hwt_list', *args)


@test
def bad_shards_are_refused():
    """a key that is not one hash tag: HWTKEY; a shard of a later format: HWTVERSION"""
    s = fresh()
    run = s.client.execute_command
    for function, args in ALL_CALLS.items():
        for key in ('', 'a', '{a', 'a}', '{}', '{a}b', 'x{a}', '{a}{b}', '{{a}', '{a}}', '{a{b}'):
            expect_error('HWTKEY', run, 'FCALL', function, 1, key, *args)
        expect_error('HWTKEY', run, 'FCALL', function, 0, *args)
        for key in s.key, '{b:0}':
            expect_error('HWTKEY', run, 'FCALL', function, 2, s.key, key, *args)
        s.call(function, *args)
    keys = set(s.client.keys())
    for text in '2 256 65536 5', '2 256 65536 5 something new', 'x', '':
        s.client.set(s.key, text)
        for function, args in ALL_CALLS.items():
            expect_error('HWTVERSION', s.call, function, *args)
        assert set(s.client.keys()) == keys and s.client.get(s.key).decode() == text


@test
def unserved_shards_are_refused():
    """a shard with a wrong number or name: HWTSHARD; and so in a database without a daemon"""
    s, other = fresh(), Shard(redis.Redis(port=SHARED.port, db=1))
    daemon, its = Daemon(s), Daemon(other)
    daemon.settle()
    for wrong in Shard(s.client, '{test:99}'), Shard(s.client, '{Test:0}'), other:
        for function, args in CALLS.items():
            expect_error('HWTSHARD', wrong.call, function, *args)
    assert s.client.keys() == [b'{test:0}'] and other.client.dbsize() == 0
    # What is scheduled in database 1 does nothing to the timers of database 0.
    its.settle()
    other.schedule('a', FIRST, 'of 1')
    assert not daemon.news() and s.settings()['next'] == NEVER
    s.schedule('a', '+50', 'of 0', 'b', '+60', '')
    wait_until(fires(s, 'a', 'b'), daemon)
    its.settle()
    assert [timer[2] for timer in s.due() + other.due()] == [b'of 0', b'', b'of 1']


@test
def limits_of_timers():
    """id, payload and batch: at the limit, and one beyond"""
    s = fresh(max_id=10, max_payload=20)
    s.schedule('i' * 10, LAST, 'p' * 20)
    good = 'a', LAST, ''
    for function in s.schedule, s.add, s.update:
        for bad in '', 'i' * 11:
            assert ' 10 ' in expect_error('HWTID', function, *good, bad, LAST, '')
            expect_error('HWTID', s.move, 'a', LAST, bad, LAST)
        assert ' 20 ' in expect_error('HWTPAYLOAD', function, *good, 'i', LAST, 'p' * 21)
        for args in good[:1], good[:2], good + good[:1], good + good[:2]:
            expect_error('HWTARG', function, *args)
        expect_error('HWTBATCH', function)
        expect_error('HWTBATCH', function, *batch(range(1001), LAST))
    expect_error('HWTARG', s.move, *good)
    for function in s.move, s.cancel, s.query:
        expect_error('HWTBATCH', function)
        expect_error('HWTBATCH', function, *range(2002 if function == s.move else 1001))
    assert set(s.check()) == {b'i' * 10}
    ids = range(1000)
    assert s.schedule(*batch(ids, LAST, 'p')) == s.update(*batch(ids, LAST, 'q')) == 1000
    assert s.move(*flat((i, LAST - i) for i in ids)) == 1000
    assert s.query(*ids) == [[LAST - i, b'q'] for i in ids] and s.cancel(*ids) == 1000
    # What is there may be longer than the limits are now.
    Daemon(s, max_id=5, max_payload=0).fire()
    assert s.query('i' * 10) == [[LAST, b'p' * 20]] and s.cancel('i' * 10) == 1
    expect_error('HWTPAYLOAD', s.schedule, 'i', LAST, 'p')
    assert s.schedule('iiiii', LAST, '') == 1


@test
def stats_tell():
    """hwt_stats tells what is there, and hwt_fire and hwt_leave check their arguments"""
    s = fresh()
    for index, bad in ((0, ''), (0, 'd' * 256), (1, -1), (1, DAY + 1), (1, ''), (2, 0), (2, 1001),
                       (3, 0), (3, 67108865), (5, 0), (5, 1025), (6, -1), (6, 1048577), (6, 'x')):
        expect_error('HWTARG', s.call, 'hwt_fire', *FIRE[:index], bad, *FIRE[index + 1:])
    for function, args in (('hwt_fire', FIRE[:6]), ('hwt_fire', FIRE + (5,)), ('hwt_leave', ()),
                           ('hwt_leave', ('a', 'b')), ('hwt_stats', ('x',))):
        expect_error('HWTARG', s.call, function, *args)
    t = s.now()
    s.schedule('a', t, '', 'b', t + FAR, '', 'c', t + FAR + 5, '')
    s.client.zadd(s.sub('daemons'), {'dead': t - 1})
    assert s.stats()['daemons'] == []
    name = b'd' * 255
    s.call('hwt_fire', name, DAY, 1000, 67108864, 1, 1024, 1048576)
    run, stats = s.client.execute_command, s.stats()
    assert t <= stats.pop('time') // 1000 <= s.now()
    assert stats == {'version': run('FCALL_RO', 'hwt_version', 0), 'pending': 2, 'next': t + FAR,
                     'due': 1, 'max_id': 1024, 'max_payload': 1048576, 'daemon': name,
                     'daemons': [name], 'groups': []}
    for function in 'hwt_query', 'hwt_list', 'hwt_stats':
        run('FCALL_RO', function, 1, s.key, *CALLS[function])


# ---- firing, and daemons ----

@test
def fires_once_and_not_early():
    """each timer fires once, in order and not early, although two daemons fire at all times"""
    s = fresh()
    daemons = Daemon(s, 'd1'), Daemon(s, 'd2')
    now = daemons[0].now = s.now()
    timers = [(b'%03d' % i, now + i * 2, b'p%d' % i) for i in range(200)]
    s.schedule(*flat(timers), 'far', now + FAR, '')
    while daemons[0].now <= now + 400:
        for daemon in daemons:
            if daemon.fire():
                assert s.due()[-1][1] <= daemon.now
    assert s.due() == timers and set(s.check()) == {b'far'}


@test
def calls_are_bounded():
    """a call fires so many timers at most, with so many bytes of payloads, but at least one"""
    s = fresh()
    largest = 65536
    for total, count, size, length in ((1500, 1000, 1000000, largest), (300, 1000, 100000, largest),
                                       (9, 1000, 1, largest), (9, 1000, largest + 1, largest),
                                       (3000, 1000, 20000, 100), (3000, 64, 20000, 20)):
        s.client.delete(s.sub('due'))
        for i in range(0, total, 100):
            s.schedule(*[x for j in range(i, min(i + 100, total))
                         for x in (j, FIRST + j // 3, 'x' * length)])
        daemon = Daemon(s, count=count, size=size)
        while s.client.zcard(s.sub('deadlines')):
            fired = daemon.fire()
            assert 0 < fired <= count and fired * length < size + largest
            assert fired * length >= min(size, count * length) or daemon.fired == total
            assert total - daemon.fired == s.client.zcard(s.sub('deadlines'))
        deadlines = [int(entry[2]) for entry in s.entries()]
        assert deadlines == [FIRST + i // 3 for i in range(total)]
    assert s.check(daemon) == {} and daemon.alarm == NEVER


@test
def poisoned_values_harm_nobody():
    """what others have written into the sorted set keeps no timer from firing"""
    s = fresh()
    daemon = Daemon(s)
    daemon.settle()
    t = s.now()
    strange = {'half': t - 4999.5, 'negative': -5, 'least': '-inf', 'most': 'inf', '': 5,
               'large': 1e300, 'seconds': t // 1000, 'beyond': 2 ** 53 + 2, 'soon': t + 20.5}
    s.schedule('good', t + 10, 'payload', 'late', LAST, '')
    s.client.zadd(s.sub('deadlines'), strange)
    for count in 1, 2, 1000:
        assert {name.decode() for name, _ in s.list_all(count)} == set(strange) | {'good', 'late'}
    assert s.query('least', 'negative', 'most', 'large', 'soon', '') == \
        [[0, b''], [0, b''], [NEVER, b''], [NEVER, b''], [t + 20, b''], [5, b'']]
    fired = set(strange) - {'most', 'large', 'beyond'} | {'good'}
    wait_until(fires(s, *fired), daemon)
    assert [entry[3] for entry in s.entries() if entry[1] == b'good'] == [b'payload']
    assert s.schedule('most', LAST, '', 'x', FIRST, '') == 1 and s.cancel('large', 'beyond') == 2
    wait_until(fires(s, 'x', *fired), daemon)
    assert set(s.check(daemon)) == {b'late', b'most'}


@test
def lost_payloads_fire_empty():
    """a timer whose payload somebody has deleted fires with an empty one"""
    s = fresh()
    s.schedule('a', FIRST, 'x', 'b', LAST, 'y', 'c', LAST, 'z')
    s.client.delete(s.sub('payloads'))
    assert s.query('a') == [[FIRST, b'']]
    assert s.move('b', FIRST) == s.update('c', FIRST, 'new') == 1
    Daemon(s).settle()
    assert s.due() == [(b'a', FIRST, b''), (b'b', FIRST, b''), (b'c', FIRST, b'new')]


@test
def earlier_deadlines_are_told():
    """the daemons are told of what is earlier than all else, and of nothing else"""
    s = fresh()
    daemon = Daemon(s)
    t = s.now() + FAR
    s.schedule('a', t, '')
    daemon.settle()
    calls = daemon.calls
    for i in range(100):
        s.schedule(i, t + i, '')
        s.add('a%d' % i, t, '')
    s.update(5, t + 1, '')
    s.move(5, t + 2)
    s.cancel(*range(50))
    assert not daemon.news()
    for call in (lambda d: s.schedule('b', d, ''), lambda d: s.add('c', d, ''),
                 lambda d: s.update(60, d, ''), lambda d: s.move(61, d),
                 lambda d: s.schedule('x', t, '', 'd', d, '', 'y', t, '')):
        t -= 10
        # Later news stand for those before, which are gone.
        s.schedule('z', t + 5, '')
        call(t)
        s.cancel('z')
        assert daemon.news() and s.check(daemon)
        daemon.settle()
        assert (daemon.alarm, daemon.calls) == (t, calls)


@test
def flushed_shards_come_back():
    """after FLUSHALL, hwt_fire says that it wrote the limits again, and timers fire"""
    s = fresh()
    daemon = Daemon(s, max_id=10, max_payload=20)
    s.schedule('old', FIRST, '')
    daemon.settle()
    assert daemon.fresh == 0
    s.client.flushall()
    expect_error('HWTSHARD', s.schedule, 'a', '+0', '')
    for expected in 1, 0, 0:
        daemon.renew()
        assert (daemon.fresh, daemon.alarm) == (expected, NEVER)
        assert s.settings() == {'version': 1, 'max_id': 10, 'max_payload': 20, 'next': NEVER}
    s.schedule('a', '+20', '')
    s.check(daemon)
    wait_until(fires(s, 'a'), daemon)


@test
def daemons_share_the_shards():
    """each daemon has its share of the shards; when one goes, no others change hands"""
    s = fresh()
    shards = [Shard(s.client, '{many:%d}' % i) for i in range(300)]
    daemons = {name: [Daemon(shard, name, life=DAY) for shard in shards] for name in 'abc'}

    def served_by(names):
        for name in names * 2:
            for daemon in daemons[name]:
                daemon.settle()
        together = list(zip(*(daemons[name] for name in names)))
        assert all(len({d.chosen for d in those}) == 1 for those in together)
        assert all(those[0].shard.stats()['daemon'] == those[0].chosen for those in together)
        return [those[0].chosen.decode() for those in together]

    three = served_by('abc')
    assert all(70 <= three.count(name) <= 130 for name in 'abc'), three
    assert all(daemon.leave() == 1 for daemon in daemons['b'])
    two = served_by('ac')
    assert all(before in ('b', after) for before, after in zip(three, two))
    assert all(110 <= two.count(name) <= 190 for name in 'ac'), two
    for daemon in daemons['a']:         # c dies
        s.client.zadd(daemon.shard.sub('daemons'), {'c': s.now()})
        daemon.renew()
    assert served_by('a') == ['a'] * 300


@test
def daemons_take_over():
    """the daemon that is chosen fires what is due; another one does when it leaves or dies"""
    s = fresh()
    a, b = Daemon(s, 'a', life=DAY), Daemon(s, 'b', life=DAY)
    for daemon in a, b, a, b:
        daemon.settle()
    assert a.serves != b.serves and a.chosen == b.chosen
    serving, waiting = (a, b) if a.serves else (b, a)
    s.schedule('x', FIRST, '')
    assert waiting.renew() == 0 and serving.step() and fires(s, 'x')()
    s.schedule('y', '+1', '')
    assert serving.leave() == 1 and serving.leave() == 0
    wait_until(fires(s, 'x', 'y'), waiting)
    assert waiting.serves and s.stats()['daemons'] == [waiting.name.encode()]
    serving.renew()
    waiting.settle()
    assert serving.serves and not waiting.serves
    s.client.zadd(s.sub('daemons'), {serving.name: s.now()})
    s.schedule('z', FIRST, '')
    assert not waiting.step() and waiting.renew() == 1 and waiting.serves


@test
def lives_of_all_lengths():
    """daemons with short and with long lives let each other live, and come to rest"""
    s = fresh()
    daemons = [Daemon(s, 'd%d' % life, life=life) for life in (DAY, 1000000, 60000)]
    rounds = 0
    while any([daemon.step() for daemon in daemons]):
        rounds += 1
        assert rounds < 10, s.client.xrange(s.sub('news'))
    assert len({daemon.chosen for daemon in daemons}) == 1 and len(s.stats()['daemons']) == 3
    # A daemon that died while the clock was ahead does not live for as long as it was.
    s.client.zadd(s.sub('daemons'), {'dead': s.now() + YEAR})
    daemons[2].renew()
    assert (s.client.zscore(s.sub('daemons'), 'dead') or 0) <= s.now() + 600000


# ---- consumers ----

def fire_some(s):
    """Fires ten timers; returns the entries"""
    s.schedule(*batch(range(10), FIRST))
    Daemon(s).settle()
    return [entry[0] for entry in s.entries()]


def trim(s):
    daemon = Daemon(s)
    daemon.fire()
    return daemon.trimmed


@test
def trim_leaves_what_is_needed():
    """hwt_fire removes nothing that a group has not read, not acknowledged, or reads again"""
    s = fresh()
    due = s.sub('due')
    assert trim(s) == 0
    names = fire_some(s)

    def trimmed():
        before = s.due_length()
        assert trim(s) == before - s.due_length()
        return len(names) - s.due_length()

    def reads(group, first):
        return [entry for entry, _ in s.read(group)] == names[first:]

    assert trimmed() == 0                               # no group
    s.client.xgroup_create(due, 'g', '0')
    s.client.xgroup_create(due, 'late', '0')
    s.read('g', acknowledge=True)
    assert trimmed() == 0 and reads('late', 0)
    s.client.xack(due, 'late', *names[:2])
    assert Daemon(s, trim=0).fire() == 0 and s.due_length() == 10 and trimmed() == 2
    # Taken over, it is pending for another consumer.
    s.client.execute_command('XAUTOCLAIM', due, 'late', 'other', 0, '0', 'COUNT', 1)
    s.client.xack(due, 'late', *names[3:5], *names[6:])
    assert trimmed() == 2
    s.client.xack(due, 'late', names[2])
    assert trimmed() == 5                               # names[5] is pending
    s.client.xack(due, 'late', names[5])
    # A group that is set back reads again what it had acknowledged.
    s.client.xgroup_setid(due, 'g', names[6])
    assert trimmed() == 7 and reads('g', 7)
    s.client.xack(due, 'g', names[7])
    s.client.xgroup_setid(due, 'g', names[6])           # names[8] is pending
    assert trimmed() == 7 and reads('g', 7)
    # A group that is made later gets what is left.
    s.client.xgroup_create(due, 'new', '0')
    s.client.xack(due, 'g', *names[7:])
    assert trimmed() == 7 and reads('new', 7)
    # An entry that a user has deleted is pending until it is acknowledged.
    s.client.xdel(due, names[7])
    assert trimmed() == 8
    s.client.xgroup_delconsumer(due, 'new', 'c')        # with what was pending
    assert trimmed() == 10
    for group in 'g', 'late', 'new':
        s.client.xgroup_destroy(due, group)
    assert len(fire_some(s)) == 10 and trim(s) == 0     # no group again


@test
def trim_is_bounded():
    """a call removes about 1,000 entries, and repeated ones all in the end"""
    s = fresh()
    due, count = s.sub('due'), 2550
    for i in range(count + 1):
        s.client.xadd(due, {'id': i}, id='5-%d' % (i + 1))
    s.client.xgroup_create(due, 'g', '5-%d' % count)
    removed = []
    while s.due_length() > 1:
        removed.append(trim(s))
        assert s.due_length() == count + 1 - sum(removed) and 0 < removed[-1] <= 1000, removed
    assert min(removed[:-1]) >= 500, removed            # so the daemon calls again


@test
def many_groups_cost_nothing():
    """10,000 groups make no program, consumer or daemon slower, nor many consumers hwt_fire"""
    s = fresh()
    due = s.sub('due')
    seen = []
    for count in 1, 10000:
        s.client.delete(due)
        names = fire_some(s)
        pipe = s.client.pipeline(transaction=False)
        for i in range(count):
            pipe.xgroup_create(due, 'g%d' % i, '0')
        for i in range(10):
            pipe.xreadgroup('g0', 'c%d' % i, {due: '>'}, count=1)
        pipe.execute()
        daemon = Daemon(s, trim=0)
        daemon.fire()
        seen.append([SHARED.commands(*call) for call in (
            (s.schedule, 'a', LAST, ''), (s.update, 'a', LAST, ''), (s.query, 'a'), (s.cancel, 'a'),
            (s.add, 'a', LAST, ''), (s.move, 'a', FIRST), (daemon.fire,),
            (s.client.xack, due, 'g0', *names[1:]))])
        if count == 1:
            assert 'XPENDING %s g0 - + 1' % due in SHARED.commands(trim, s)
    assert [[text.split()[0] for text in texts] for texts in seen[0]] == \
        [[text.split()[0] for text in texts] for texts in seen[1]]
    asked = [text for text in SHARED.commands(s.stats) if text.startswith('XRANGE')]
    assert len(asked) == len(s.stats()['groups']) == 100


@test
def unread_entries_are_told():
    """hwt_stats tells since when a group has unread entries, also if Redis knows no lag"""
    s = fresh()
    for i in range(10):
        s.client.xadd(s.sub('due'), {'id': i}, id='%d-5' % (1000 + i))
    s.client.xgroup_create(s.sub('due'), 'g', '0')
    assert s.stats()['groups'] == [[b'g', 0, 1000, 10]]
    s.read('g', 3)
    assert s.stats()['groups'] == [[b'g', 3, 1003, 7]]
    s.client.xdel(s.sub('due'), '1003-5', '1006-5')
    assert s.stats()['groups'] == [[b'g', 3, 1004, -1]]
    s.read('g', 4)
    assert s.stats()['groups'][0][:3] == [b'g', 7, 1009]
    s.read('g')
    assert s.stats()['groups'] == [[b'g', 8, 0, 0]]
    s.client.xgroup_setid(s.sub('due'), 'g', '0')
    assert s.stats()['groups'][0][:3] == [b'g', 8, 1000]


# ---- rights, and calls that fail ----

# What a user needs besides +fcall: a function may do only what its caller may do.
PRODUCER = ('time exists get set hset hdel hmget zadd zrem zmscore zrange zcard zcount unlink '
            'xadd').split()
DAEMON = ('time exists get set zadd zrem zrange zcard zremrangebyscore zremrangebyrank hmget hdel '
          'xadd xread xrange xlen xtrim xpending xinfo|groups').split()


def without(rights, missing):
    return Shard(SHARED.as_user([right for right in rights if right != missing], ['~{test:0}*']))


@test
def least_rights():
    """the rights that each kind of user needs suffice, and each of them is needed"""
    def produce(_, user):
        user.schedule('a', LAST, '', 'b', LAST, '')
        user.add('c', '+1', '')
        user.update('a', '+5', '')
        user.move('a', '+6')
        user.query('a')
        user.cancel('a', 'x')
        assert len(user.list_all(1)) == 2 and user.purge() == 2

    def serve(s, user):
        names = fire_some(s)
        s.client.xgroup_create(s.sub('due'), 'g', '0')
        s.read('g', 5)
        s.client.xack(s.sub('due'), 'g', names[0])
        s.schedule('a', FIRST, '')
        daemon = Daemon(user, life=DAY)
        daemon.settle()
        assert daemon.fired == 1 == daemon.trimmed
        assert user.stats()['daemon'] == b'd1' and daemon.leave() == 1

    for work, rights in (produce, PRODUCER), (serve, DAEMON):
        for missing in [None] + rights:
            s = fresh()
            SHARED.load()       # so that this user is the first one that calls
            refused = fails(work, s, without(rights, missing))
            assert refused == (missing is not None), (work.__name__, missing)


def troubles(rights):
    """What can make a call fail half way: a right or a key that the user lacks, or a key that
    has another type. A fresh shard, what it is, and a function that tries a call for the
    user, and returns whether Redis refused that"""
    for missing in rights:
        user = without(rights, missing)
        yield fresh(), missing, lambda call: fails(call, user)
    keys = [Shard(None).key] + [Shard(None).sub(name) for name in KEYS]
    for missing in keys:
        others = ['~' + key for key in keys if key != missing]
        for also in [], ['%R~' + missing]:
            user = Shard(SHARED.as_user(rights, others + also))
            yield fresh(), (missing, also), lambda call: fails(call, user)
        s = fresh()
        yield s, 'type of ' + missing, lambda call: s.with_other_type(missing, fails, call, s)


@test
def failed_calls_leave_timers():
    """whatever makes a program's call fail, all that is there fires in time, once"""
    calls = {
        'single': lambda u: u.schedule('new', FIRST, ''),
        'batch': lambda u: u.schedule('new', FIRST, '', 'new2', LAST, ''),
        'add': lambda u: u.add('new', FIRST, '', 'old', FIRST, '', 'new2', LAST, ''),
        'moves': lambda u: u.schedule('old', LAST, 'x', 'old2', FIRST, 'y'),
        'update': lambda u: u.update('new', FIRST, '', 'old', FIRST, 'x'),
        'move': lambda u: u.move('old', FIRST, 'new', FIRST, 'old2', FIRST + 1),
        'cancel': lambda u: u.cancel('old', 'old2')}
    for name, call in calls.items():
        failed = 0
        for s, trouble, fails_in_trouble in troubles(PRODUCER):
            daemon = Daemon(s)
            s.schedule('old', LAST - 5, 'x', 'old2', LAST - 4, 'y')
            daemon.settle()
            refused = fails_in_trouble(call)
            where = name, trouble, refused
            timers = s.timers()
            failed += refused
            if name != 'cancel':
                assert not refused or set(timers) == {b'old', b'old2'}, where
                s.cancel('new', 'new2')         # their payloads may be there
                s.check(daemon)
            assert all(payload for _, payload in s.timers().values()), where
            # Somebody else's timer is not waited for.
            s.schedule('other', FIRST + 9, 'z')
            timers = s.timers()
            daemon.settle()
            near = {name for name, (deadline, _) in timers.items() if deadline < LAST - 5}
            assert sorted(entry[1] for entry in s.entries()) == sorted(near), where
            assert set(s.timers()) == set(timers) - near, where
        assert failed >= 10, (name, failed)


@test
def failed_fires_fire_once():
    """a call of hwt_fire that Redis refuses in its middle loses no timer, and doubles none"""
    failed = []
    for s, trouble, fails_in_trouble in troubles(DAEMON):
        names = fire_some(s)
        s.client.xgroup_create(s.sub('due'), 'g', '0')
        s.client.xack(s.sub('due'), 'g', *[entry for entry, _ in s.read('g')][:5])
        s.client.zadd(s.sub('daemons'), {'dead': 1})
        timers = [(b'%d' % i, FIRST + i, b'p%d' % i) for i in range(20, 25)]
        s.schedule(*flat(timers), 'far', LAST, '')
        if [fails_in_trouble(lambda user: Daemon(user, life=DAY).fire()) for _ in range(3)][-1]:
            failed.append(trouble)
        daemon = Daemon(s)
        daemon.settle()
        assert [timer for timer in s.due() if int(timer[0]) >= 20] == timers, trouble
        assert set(names[5:]) <= {entry[0] for entry in s.entries()}, trouble
        assert set(s.check(daemon)) == {b'far'}, trouble
    assert len(failed) >= 25, failed


# ---- Redis in trouble ----

@test
def full_memory():
    """when memory is full, new timers are refused, and all that makes room works"""
    s = fresh()
    s.schedule(*batch(range(500), FIRST, 'x' * 100), *batch(range(500, 1000), LAST, 'x' * 100))
    # Redis may free some meanwhile, of connections that were closed, say.
    s.client.config_set('maxmemory', s.client.info('memory')['used_memory'] // 2)
    s.client.config_set('maxmemory-policy', 'noeviction')
    for function in s.schedule, s.add, s.update:
        expect_error('OOM', function, 'a', '+5', '')
    expect_error('OOM', s.move, 999, '+5')
    daemon = Daemon(s, life=DAY)
    daemon.settle()
    assert daemon.fired == s.due_length() == s.stats()['pending'] == len(s.list()[1]) == 500
    assert daemon.leave() == 1 and s.query(999) != [None]
    s.client.config_set('maxmemory', 0)
    s.client.xgroup_create(s.sub('due'), 'g', '$')
    s.client.config_set('maxmemory', 1000000)
    assert trim(s) == 500 and s.cancel(*range(750, 1000)) == s.purge() == 250
    s.client.config_set('maxmemory', 0)
    assert s.check() == {}


@test
def failover_and_back():
    """a replica reads; after a failover and back, each timer that was replicated fires, once"""
    with Server() as a, Server(load=False) as b:
        names = []
        daemon = Daemon(None)
        for master, replica in (a, b), (b, a), (a, b):
            s, r = Shard(master.client), Shard(replica.client)
            daemon.shard = s
            daemon.reset()
            daemon.settle()
            replica.replicate(master)
            replica.wait_for_link(master)
            for i in range(40):
                names.append('%d-%d' % (len(names), master.port))
                s.schedule(names[-1], '+%d' % (i * 5 % 77), '')
                daemon.step()
            s.schedule('far', LAST, 'x')
            replica.wait_for_link(master)
            for call in (r.schedule, 'a', LAST, ''), (r.cancel, 'far'), (Daemon(r).fire,):
                expect_error('READONLY', *call)
            assert r.query('far', 'x') == [[LAST, b'x'], None] and r.list()[1][-1] == (b'far', LAST)
            replica.promote()
        daemon.shard = r
        daemon.reset()
        wait_until(fires(r, *names), daemon)
        assert set(r.check(daemon)) == {b'far'}


@test
def killed_and_replaced_under_load():
    """FUNCTION LOAD REPLACE under load, and a kill with appendfsync always, lose nothing"""
    with Server(appendonly='yes', appendfsync='always') as server:
        s = Shard(server.client)
        daemon = Daemon(s)
        daemon.fire()
        t = s.now()
        scheduled, fired = set(), set()

        def produce():
            client = Shard(server.connect())
            try:
                for i in range(10 ** 6):
                    client.schedule(i, t + i, 'x', -i - 1, t + 9 * i, 'y')
                    scheduled.update((b'%d' % i, b'%d' % (-i - 1)))
            except redis.ConnectionError:
                pass

        def enough():
            server.load()
            fired.update(entry[1] for entry in s.entries())
            return len(scheduled) > 1000 and len(fired) > 100

        thread = threading.Thread(target=produce)
        thread.start()
        try:
            wait_until(enough, daemon)
        finally:
            server.kill()
            thread.join()
        server.start()
        s = Shard(server.client)
        timers = s.check()
        due = {entry[1] for entry in s.entries()}
        assert fired <= due and not due & set(timers) and scheduled <= due | set(timers)
        for name in timers:
            s.move(name, t)
        Daemon(s).settle()
        assert s.check() == {} and fires(s, *[name.decode() for name in due | set(timers)])()


@test
def moving_slot():
    """while Cluster moves the shard's slot: TRYAGAIN or ASK, and nothing is in two places"""
    with cluster_of_two() as (a, b):
        s, t = Shard(a.client), Shard(b.client)
        run, run_b = a.client.execute_command, b.client.execute_command
        ids = [x.execute_command('CLUSTER', 'MYID').decode() for x in (a.client, b.client)]
        slot = run('CLUSTER', 'KEYSLOT', s.key)

        def keys():
            return run('CLUSTER', 'GETKEYSINSLOT', slot, 100)

        def asking(function, *args):
            # redis-py's connections are pooled; ASKING is for the next command of one.
            client = redis.Redis(port=b.port, single_connection_client=True)
            client.execute_command('ASKING')
            return Shard(client).call(function, *args)

        daemon = Daemon(s, life=DAY)
        daemon.settle()
        s.schedule('a', FIRST, 'x', 'b', LAST, 'y', 'c', '+1', '')
        wait_until(fires(s, 'a', 'c'), daemon)
        s.schedule('overdue', FIRST, '')
        s.check(daemon)
        expect_error('MOVED', t.schedule, 'a', FIRST, '')
        run_b('CLUSTER', 'SETSLOT', slot, 'IMPORTING', ids[0])
        run('CLUSTER', 'SETSLOT', slot, 'MIGRATING', ids[1])
        for function, args in ALL_CALLS.items():
            expect_error('TRYAGAIN', s.call, function, *args)
        assert len(keys()) == 6
        # The shard's key moves first, so the next calls go to the other node.
        run('MIGRATE', '127.0.0.1', b.port, s.key, 0, 5000)
        for function, args in ALL_CALLS.items():
            expect_error('ASK', s.call, function, *args)
            expect_error('TRYAGAIN', asking, function, *args)
        assert run_b('CLUSTER', 'GETKEYSINSLOT', slot, 100) == [s.key.encode()] and len(keys()) == 5
        for name in keys():
            run('MIGRATE', '127.0.0.1', b.port, name, 0, 5000)
        for server in b, a:
            server.client.execute_command('CLUSTER', 'SETSLOT', slot, 'NODE', ids[1])
        expect_error('MOVED', s.schedule, 'a', FIRST, '')
        assert set(t.check()) == {b'b', b'overdue'}
        Daemon(t).settle()
        assert fires(t, 'a', 'c', 'overdue')() and set(t.check()) == {b'b'}


@test
def clock_set_forward_and_back():
    """by Redis's clock, which is set, no timer fires early, and all do after a renewal"""
    with Server(clock=True) as server:
        s = Shard(server.client)
        daemon = Daemon(s, life=DAY)
        daemon.settle()
        s.schedule('a', '+%d' % FAR, '', 'b', '+%d' % (YEAR // 2), '', 'far', LAST, '')
        daemon.settle()
        for shift, names in ((FAR - 60000, ()), (FAR + 1, 'a'), (FAR + 1, 'a'), (YEAR, 'ab')):
            server.shift(shift)
            daemon.renew()
            assert fires(s, *names)(), (shift, names)
        server.shift(0)
        daemon.renew()
        # Its alarm comes, but Redis's clock is behind.
        s.schedule('c', '+60000', '')
        daemon.settle()
        daemon.ahead += FAR
        assert daemon.step() and not daemon.step() and b'c' in s.check(daemon)
        server.shift(60001)
        daemon.renew()
        wait_until(fires(s, *'abc'), daemon)
        assert set(s.check(daemon)) == {b'far'} and s.stats()['daemons'] == [b'd1']


# ---- random operations ----

def define_random(name, doc, *args):
    def run():
        for i in range(SCALE):
            try:
                with Server(clock='clock' in args[-1]) as server:
                    random_operations(random.Random(SEED + i), server, *args)
            except AssertionError:
                print('# repeat with HWTIMER_SEED=%d' % (SEED + i))
                raise
    run.__name__, run.__doc__ = 'random_' + name, 'random operations: ' + doc
    test(run)


define_random('one', 'one daemon', 1, 0, 3, '')
define_random('two', 'two daemons that both serve', 2, 0, 3, '')
define_random('chosen', 'three daemons, of which one is chosen', 3, DAY, 3, '')
define_random('trouble', 'daemons that leave, reset, lose answers; a library that is replaced',
              3, DAY, 5, 'leave')
define_random('clock', 'a clock that is set', 2, 5000, 5, 'clock leave')

if __name__ == '__main__':
    print('# HWTIMER_SEED=%d' % SEED)
    SHARED = Server()
    try:
        main('functions')
    finally:
        SHARED.end()
