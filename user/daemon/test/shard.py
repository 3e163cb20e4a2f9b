# SPDX-License-Identifier: GPL-2.0-only
"""A shard of timers as the tests see it: its functions, what must hold for its keys, and a
daemon that does with hwt_turn what hwtimerd does."""


def pairs(values):
    return list(zip(values[::2], values[1::2]))


class Shard:
    """Calls the functions for one shard. Ids and payloads are bytes."""

    def __init__(self, client, key='{test:0}'):
        self.client = client
        self.key = key

    def call(self, function, *args):
        return self.client.execute_command('FCALL', function, 1, self.key, *args)

    def schedule(self, *args):
        return self.call('hwt_schedule', *args)

    def cancel(self, *ids):
        return self.call('hwt_cancel', *ids)

    def query(self, *ids):
        return self.call('hwt_query', *ids)

    def setup(self, width=1024, max_id=256, max_payload=65536):
        return self.call('hwt_setup', width, max_id, max_payload)

    def stats(self):
        return {name.decode(): value for name, value in pairs(self.call('hwt_stats'))}

    def now(self):
        """Redis's time in ms"""
        seconds, us = self.client.time()
        return seconds * 1000 + us // 1000

    def sub(self, name):
        return '%s:%s' % (self.key, name)

    def due(self):
        """What is in the stream: (ms of the entry, id, deadline, payload) each"""
        entries = []
        for name, fields in self.client.xrange(self.sub('due')):
            assert list(fields) == [b'id', b'deadline', b'payload'], fields
            entries.append((int(name.split(b'-')[0]), fields[b'id'],
                            int(fields[b'deadline']), fields[b'payload']))
        return entries

    def near_length(self):
        return self.client.xlen(self.sub('near'))

    def memory(self):
        return self.client.info('memory')['used_memory']

    def settings(self):
        text = self.client.hget(self.key, '')
        names = ('version', 'width', 'loaded', 'wake', 'max_id', 'max_payload')
        return dict(zip(names, map(int, text.split())))

    def records(self):
        """All timers: {id: (deadline, payload)}"""
        records = {}
        for name, record in self.client.hgetall(self.key).items():
            if name:
                deadline, payload = record.split(b' ', 1)
                assert b'%d' % int(deadline) == deadline
                records[name] = (int(deadline), payload)
        return records

    def slots(self):
        """All slots: {start: ids}"""
        slots = {}
        prefix = self.sub('').encode()
        for name in self.client.scan_iter(match=self.sub('*'), count=1000):
            rest = name[len(prefix):]
            if rest in (b'slots', b'near', b'due', b'lease'):
                continue
            assert rest.isdigit(), 'a key nobody knows: %r' % name
            ids = self.client.hgetall(name)
            assert ids.pop(b'', None) == b'', 'no marker in %r' % name
            assert not any(ids.values()), 'values in %r' % name
            slots[int(rest)] = set(ids)
        return slots

    def check(self, dead=False):
        """Walks all keys. With `dead`, slots may have entries whose timers are gone, and the
        index may have slots that are gone."""
        records, slots = self.records(), self.slots()
        settings = self.settings() if records else None
        width = settings['width'] if settings else 1
        seen = set()
        for start, ids in slots.items():
            assert ids or dead, 'slot %d is empty' % start
            assert dead or start % width == 0, 'slot %d of another width' % start
            for name in ids:
                home = name in records and records[name][0] - records[name][0] % width == start
                assert home or dead, '%r does not belong in slot %d' % (name, start)
                if home:
                    seen.add(name)
        assert seen == set(records), 'in no slot: %r' % (set(records) - seen)
        index = self.client.zrange(self.sub('slots'), 0, -1, withscores=True)
        if dead:                # the mark of a slot that was lost
            index = [(member.lstrip(b'!'), score) for member, score in index]
        assert all(b'%d' % score == member for member, score in index), index
        known = {int(member) for member, _ in index}
        assert known == set(slots) or dead and known > set(slots), 'index and slots differ'
        assert self.stats()['pending'] == len(records)
        if settings:
            self.check_settings(settings, slots)
        return records

    @staticmethod
    def check_settings(settings, slots):
        wake = settings['wake'] if settings['wake'] >= 0 else 2 ** 53
        assert wake >= settings['loaded'], settings
        late = [start for start in slots if settings['loaded'] <= start < wake]
        assert not late, 'nobody wakes up for slots %r, %r' % (late, settings)


class Daemon:
    """Calls hwt_turn when hwtimerd would, and only then, so that what it is not told of
    stays in Redis for ever."""

    def __init__(self, shard, name='d1', ahead=100, maximum=1000):
        self.shard = shard
        self.name = name
        self.ahead = ahead
        self.maximum = maximum
        self.fired = []
        self.now = 0            # Redis's time in ms when it answered the last turn
        self.early = 0
        self.resets = 0
        self.foreign = set()    # keys of slots that somebody else has written
        self.reset()

    def reset(self):
        self.cursor, self.position, self.alarm, self.more = b'', b'0', -1, 1
        self.armed = set()

    def turn(self, *ids):
        """One call; returns the characters for the ids, as a string"""
        ids = [name.encode() if isinstance(name, str) else name for name in ids]
        reply = self.shard.call('hwt_turn', self.name, self.cursor, self.position, self.ahead,
                                self.maximum, *ids)
        status, now, self.cursor, self.position, self.alarm, self.more = reply[:6]
        assert abs(now / 1000 - self.shard.now()) < 60000
        self.now = now // 1000
        results, early, news = reply[6].decode(), pairs(reply[7]), pairs(reply[8])
        assert len(results) == len(ids) and set(results) <= set('012'), results
        assert results.count('2') == len(early)
        assert [name for name, _ in early] == \
            [name for name, result in zip(ids, results) if result == '2']
        assert all(deadline > now // 1000 for _, deadline in early)
        self.early += len(early)
        self.fired += [name for name, result in zip(ids, results) if result == '1']
        self.armed.update(early + news)
        self.resets += status == b'reset'
        self.foreign.update(reply[9] if len(reply) > 9 else [])
        if status == b'reset':
            assert (self.cursor, self.position, self.more, news) == (b'', b'0', 1, [])
            self.armed.clear()
        else:
            assert status == b'ok'
        return results

    def has_news(self):
        """What the listener's XREAD tells"""
        return self.shard.client.xread({self.shard.sub('near'): self.cursor}, count=1)

    def step(self, limit=1000):
        """What hwtimerd does between two turns; returns whether there was a turn"""
        now = self.shard.now()
        expired = sorted((deadline, name) for name, deadline in self.armed if deadline <= now)
        expired = expired[:limit]
        self.armed -= {(name, deadline) for deadline, name in expired}
        awake = self.alarm >= 0 and self.alarm - self.ahead <= now
        if not (self.more or expired or awake or self.has_news()):
            return False
        self.turn(*[name for _, name in expired])
        return True

    def step_in_vain(self):
        """A step whose answer is lost"""
        before = self.cursor, self.position, self.alarm, self.more, set(self.armed)
        self.step()
        self.cursor, self.position, self.alarm, self.more, self.armed = before

    def settle(self):
        while self.step():
            pass
