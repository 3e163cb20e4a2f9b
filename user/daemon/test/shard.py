# SPDX-License-Identifier: GPL-2.0-only
"""A shard of timers as the tests see it: its functions, what must hold for its keys, a daemon
that does with hwt_fire what hwtimerd does, and a model of what must be in the shard."""

import time

NEVER = 2 ** 53
KEYS = 'deadlines', 'payloads', 'due', 'daemons', 'news'


def pairs(values):
    return list(zip(values[::2], values[1::2]))


def flat(timers):
    return [x for timer in timers for x in timer]


def batch(names, deadline, payload=''):
    """Arguments of hwt_schedule"""
    return flat((name, deadline, payload) for name in names)


class Shard:
    """Calls the functions for one shard. Ids and payloads are bytes."""

    def __init__(self, client, key='{test:0}'):
        self.client = client
        self.key = key

    def call(self, function, *args):
        return self.client.execute_command('FCALL', function, 1, self.key, *args)

    def schedule(self, *args):
        return self.call('hwt_schedule', *args)

    def add(self, *args):
        return self.call('hwt_add', *args)

    def update(self, *args):
        return self.call('hwt_update', *args)

    def move(self, *args):
        return self.call('hwt_move', *args)

    def cancel(self, *ids):
        return self.call('hwt_cancel', *ids)

    def query(self, *ids):
        return self.call('hwt_query', *ids)

    def list(self, cursor=b'', count=1000):
        """The next cursor, and (id, deadline) each"""
        cursor, *timers = self.call('hwt_list', cursor, count)
        return cursor, pairs(timers)

    def list_all(self, count, between=lambda: None):
        cursor, timers = self.list(count=count)
        while cursor:
            between()
            cursor, more = self.list(cursor, count)
            assert (len(more) == count or not cursor) and timers[-1] not in more
            timers += more
        return timers

    def purge(self):
        return self.call('hwt_purge')

    def stats(self):
        return {name.decode(): value for name, value in pairs(self.call('hwt_stats'))}

    def now(self):
        """Redis's time in ms"""
        seconds, us = self.client.time()
        return seconds * 1000 + us // 1000

    def sub(self, name):
        return '%s:%s' % (self.key, name)

    def entries(self):
        """What is in the stream: (entry, id, deadline, payload) each"""
        found = self.client.xrange(self.sub('due'))
        assert all(list(fields) == [b'id', b'deadline', b'payload'] for _, fields in found), found
        return [(entry, *fields.values()) for entry, fields in found]

    def due(self):
        """(id, deadline, payload) each"""
        return [(name, int(deadline), payload) for _, name, deadline, payload in self.entries()]

    def due_length(self):
        return self.client.xlen(self.sub('due'))

    def read(self, group, count=None, acknowledge=False):
        """The group reads what it has not read, and perhaps acknowledges it"""
        found = self.client.xreadgroup(group, 'c', {self.sub('due'): '>'}, count, noack=acknowledge)
        return found[0][1] if found else []

    def with_other_type(self, key, function, *args):
        """Calls it while the key is somebody else's"""
        dump = self.client.dump(key)
        self.client.delete(key)
        self.client.lpush(key, 'x')
        result = function(*args)
        assert self.client.lpop(key) == b'x' and not self.client.exists(key)
        if dump:
            self.client.restore(key, 0, dump)
        return result

    def settings(self):
        names = 'version', 'max_id', 'max_payload', 'next'
        return dict(zip(names, map(int, self.client.get(self.key).split())))

    def timers(self):
        """All timers: {id: (deadline, payload)}"""
        payloads = self.client.hgetall(self.sub('payloads'))
        return {name: (int(deadline), payloads.get(name, b'')) for name, deadline in
                self.client.zrange(self.sub('deadlines'), 0, -1, withscores=True)}

    def check(self, *daemons):
        """Walks all keys. Each of the daemons that serves knows when to look again, or will
        be told. Returns all timers."""
        timers = self.timers()
        lost = set(self.client.hkeys(self.sub('payloads'))) - set(timers)
        assert not lost, 'payloads without timers: %r' % lost
        known = {self.key.encode()} | {self.sub(name).encode() for name in KEYS}
        keys = {key for key in self.client.keys() if key.startswith(self.key.encode())}
        assert keys <= known, 'keys nobody knows: %r' % (keys - known)
        assert self.client.xlen(self.sub('news')) <= 10
        assert self.stats()['pending'] == len(timers)
        wanted = self.settings()['next']
        first = min((deadline for deadline, _ in timers.values()), default=NEVER)
        assert wanted <= first, 'next is %d, but the first timer is at %d' % (wanted, first)
        for daemon in daemons:
            assert not daemon.serves or daemon.alarm <= wanted or daemon.news(), \
                (vars(daemon), wanted)
        return timers


class Daemon:
    """Calls hwt_fire when hwtimerd would, and only then, so that what it is not told of
    stays in Redis for ever. hwtimerd also calls it as often as a third of its life is over:
    here, that is renew(), when a test says so."""

    def __init__(self, shard, name='d1', life=0, count=1000, size=1 << 22, trim=1, max_id=256,
                 max_payload=65536):
        self.shard = shard
        self.name = name
        self.life = life
        self.args = count, size, trim, max_id, max_payload
        self.fired = self.trimmed = self.calls = 0
        self.cursor = b'0'      # the last news
        self.reset()

    def reset(self):
        """It has a new connection, and knows nothing."""
        self.alarm = self.ahead = 0
        self.serves = self.renews = True

    def fire(self):
        """One call; returns the number of timers fired"""
        self.chosen, now, first, self.fresh, fired, trimmed, self.groups, lateness = \
            self.shard.call('hwt_fire', self.name, self.life * self.renews, *self.args)
        self.now = now // 1000  # Redis's time, by which the timers were due
        self.ahead = now / 1000 - time.monotonic() * 1000
        self.alarm = first if first >= 0 else NEVER
        self.serves = self.chosen == self.name.encode()
        self.renews = False
        if self.fresh:          # `news` begins anew
            self.cursor = b'0'
        self.fired += fired
        self.trimmed += trimmed
        self.calls += 1
        assert fired <= self.args[0] and (self.serves or not fired)
        powers = pairs(lateness[1:])
        assert sum(number for _, number in powers) == fired, lateness
        least = sum(2 ** power // 2 * number for power, number in powers)
        most = sum((2 ** power - 1) * number for power, number in powers)
        assert least <= lateness[0] <= most, lateness
        return fired

    def renew(self):
        self.renews = True
        return self.fire()

    def news(self):
        found = self.shard.client.xread({self.shard.sub('news'): self.cursor})
        return found[0][1] if found else []

    def step(self):
        """What hwtimerd does between two calls; returns whether there was one"""
        for self.cursor, fields in self.news():
            if b'deadline' in fields:
                self.alarm = min(self.alarm, int(fields[b'deadline']))
            else:
                assert b'daemons' in fields, fields
                self.renews = True
        now = time.monotonic() * 1000 + self.ahead
        if not self.renews and not (self.serves and self.alarm <= now):
            return False
        self.fire()
        return True

    def step_in_vain(self):
        """A step whose answer is lost, with the connection"""
        if self.step():
            self.reset()

    def settle(self):
        """Until there is nothing to do for now"""
        for _ in range(20000):
            if not self.step():
                return
        raise AssertionError('it never comes to rest: %r' % vars(self))

    def leave(self):
        return self.shard.call('hwt_leave', self.name)


class Model:
    """What must be in a shard after random operations, and what happened"""

    def __init__(self, shard, rng):
        self.shard = shard
        self.rng = rng
        self.timers = {}
        self.scheduled = self.removed = self.fired = 0
        self.pending = []       # entries that the group has read
        shard.client.xgroup_create(shard.sub('due'), 'g', '0', mkstream=True)

    def ids(self, count):
        return [b'id%d' % self.rng.randrange(300) for _ in range(count)]

    def schedule(self, horizon=2000):
        kind = self.rng.choice(('schedule', 'schedule', 'add', 'update', 'move'))
        now, args, changed = self.shard.now(), [], {}
        for name in self.ids(self.rng.choice((1, 1, 1, 2, 5, 40))):
            deadline = now + self.rng.choice((self.rng.randint(-500, horizon),
                                              self.rng.randint(-5, 200)))
            payload = b'%d' % self.rng.randrange(10 ** 9)
            args += (name, deadline, payload)[:2 if kind == 'move' else 3]
            there = name in self.timers
            if kind == 'schedule' or kind == 'add' and not there and name not in changed or \
                    kind in ('update', 'move') and there:
                changed[name] = deadline, self.timers[name][1] if kind == 'move' else payload
        new = len(set(changed) - set(self.timers))
        assert getattr(self.shard, kind)(*args) == (new if kind == 'schedule' else len(changed))
        self.scheduled += new
        self.timers.update(changed)

    def remove(self):
        ids = self.ids(self.rng.choice((1, 1, 5, 50)))
        if self.rng.random() < 0.02:
            ids = list(self.timers)
            assert self.shard.purge() == len(ids)
        else:
            assert self.shard.cancel(*ids) == len(set(ids) & set(self.timers))
        for name in ids:
            self.removed += self.timers.pop(name, None) is not None

    def read(self):
        ids = self.ids(20)
        wanted = [list(self.timers[name]) if name in self.timers else None for name in ids]
        assert self.shard.query(*ids) == wanted
        wanted = sorted((deadline, name) for name, (deadline, _) in self.timers.items())
        found = self.shard.list_all(self.rng.choice((7, 50, 1000)))
        assert [timer[::-1] for timer in found] == wanted

    def consume(self, daemon):
        """Takes what the daemon fired out of the model; each must have been in it, and due"""
        for entry, fields in self.shard.read('g'):
            deadline, payload = self.timers.pop(fields[b'id'])
            assert (b'%d' % deadline, payload) == (fields[b'deadline'], fields[b'payload'])
            assert deadline <= daemon.now, 'early: %r' % fields
            self.fired += 1
            self.pending.append(entry)
        if self.pending and self.rng.random() < 0.1:
            self.rng.shuffle(self.pending)
            self.shard.client.xack(self.shard.sub('due'), 'g', *self.pending[:5])
            del self.pending[:5]

    def check(self, *daemons):
        assert self.shard.check(*daemons) == self.timers
        assert set(self.pending) <= {entry[0] for entry in self.shard.entries()}


JUMPS = 0, 0, 40, -40, 700, -700, 30000, -30000, 3600000, -3600000, 365 * 86400000


def make_trouble(model, daemon, daemons, server, kinds):
    """What may happen to the daemon, and to all"""
    rng = model.rng
    if rng.random() < 0.02:
        daemon.step_in_vain()
        model.consume(daemon)
    if rng.random() < 0.01:
        daemon.reset()
    if rng.random() < 0.005:
        server.load()
    jumps, leaves = rng.random() < 0.01, rng.random() < 0.02
    if 'clock' in kinds and jumps:
        server.shift(rng.choice(JUMPS))
    elif 'leave' in kinds and leaves:
        daemon.leave()
        daemon.reset()
    else:
        return
    # The next renewal corrects what a daemon knows. It also tells that another one has left, if
    # later news have replaced those.
    for other in daemons:
        other.renews = True


def random_operations(rng, server, count, life, seconds, kinds):
    """So many daemons at work; in the end, one of them is left and must know all."""
    s = Shard(server.client)
    daemons = [Daemon(s, 'd%d' % i, life, rng.choice((3, 50, 1000)), rng.choice((20, 1 << 20)),
                      max_payload=10) for i in range(count)]
    daemons[0].fire()
    model = Model(s, rng)
    lagging = {daemon: 0 for daemon in daemons}
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        rng.choice((model.schedule, model.schedule, lambda: model.schedule(20000), model.remove,
                    model.read))()
        for daemon in daemons:
            if rng.random() < 0.01:
                lagging[daemon] = time.monotonic() + rng.random() * 0.7
            if time.monotonic() >= lagging[daemon] and rng.random() < 0.7:
                daemon.step()
                model.consume(daemon)
            if kinds:
                make_trouble(model, daemon, daemons, server, kinds)
        if rng.random() < 0.05:
            model.check(*daemons)
    *others, survivor = daemons
    for daemon in others:
        daemon.leave()
    # What lies far away need not be waited for.
    now = s.now()
    for name, (deadline, _) in list(model.timers.items()):
        if deadline > now + 2000:
            model.removed += s.cancel(name)
            del model.timers[name]
    for _ in range(6000):
        survivor.settle()
        model.consume(survivor)
        if not model.timers:
            break
        time.sleep(0.005)
    assert not model.timers, 'lost: %r, daemon %r' % (model.timers, vars(survivor))
    model.check(survivor)
    assert model.scheduled == model.removed + model.fired
    s.client.xack(s.sub('due'), 'g', '0-1', *model.pending)
    while s.due_length():
        survivor.trimmed = 0
        survivor.renew()
        assert survivor.trimmed
