# SPDX-License-Identifier: GPL-2.0-only
"""Measures timers in Redis: hwtimerd, a poller of a dozen lines of Lua, and BullMQ.

bench.sh calls it, and says what the options mean. Documentation/benchmark.md says what the
figures mean. Each measure of a system has a Redis server of its own, without persistence.
"""

import argparse
import collections
import gc
import os
import pathlib
import random
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time

import hiredis

HERE = pathlib.Path(__file__).parent
SHARD = b'{bench:0}'
DUE = SHARD + b':due'
HOUR = 3600000
IN_FLIGHT = 200  # timers that are sent at once, while Redis still has as many
TAKE = 1000  # entries that a consumer reads at once
PATIENCE = 60  # s without a timer, after which the others count as lost
BEHIND = 1000  # ms after the last deadline, after which a system has not kept up


def die(what):
    sys.exit('bench.py: %s' % what)


def note(what):
    print('bench.py: ' + what, file=sys.stderr, flush=True)


def pack(*words):
    """A command as Redis reads it"""
    return b'*%d\r\n' % len(words) + b''.join([b'$%d\r\n%b\r\n' % (len(w), w) for w in words])


class Redis:
    """A connection. What is sent is made beforehand, so that the server is the bottleneck."""

    def __init__(self, port):
        self.socket = socket.create_connection(('127.0.0.1', port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.reader = hiredis.Reader()

    def reply(self):
        answer = self.reader.gets()
        while answer is False:
            data = self.socket.recv(65536)
            if not data:
                die('Redis has closed a connection')
            self.reader.feed(data)
            answer = self.reader.gets()
        if isinstance(answer, hiredis.ReplyError):
            die('Redis: %s' % answer)
        return answer

    def ask(self, *words):
        self.socket.sendall(pack(*(w.encode() if isinstance(w, str) else w for w in words)))
        return self.reply()

    def info(self, section):
        lines = self.ask('INFO', section).decode().split('\r\n')
        return dict(line.split(':', 1) for line in lines if ':' in line)

    def cpu(self):
        """Processor time of the server's main thread, s"""
        info = self.info('cpu')
        return sum(float(info['used_cpu_%s_main_thread' % kind]) for kind in ('user', 'sys'))

    def pipeline(self, parts):
        """Sends each part, of commands and their number, when the one before the last is
        answered; returns the sum of all replies."""
        total = waiting = 0
        for commands, count in [*parts, (b'', 0)]:
            self.socket.sendall(commands)
            total += sum(self.reply() for _ in range(waiting))
            waiting = count
        return total


# ---- the systems ----

class System:
    """A Redis server and what keeps timers there. The timer of number `i` has the id t<i> and
    the payload <i>, with zeros in front."""

    variant = ''
    lead = 0.05  # ms that scheduling a timer may take
    share = 1  # of the number of timers that others have
    rates = [10000, 5000, 2000, 1000, 500]  # timers a second, to be tried until it keeps up

    def __enter__(self):
        self.dir = tempfile.mkdtemp(prefix='hwtimer-bench-')
        self.processes = []
        try:
            self.start_server()
            self.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def start_server(self):
        with socket.socket() as free:
            free.bind(('127.0.0.1', 0))
            self.port = free.getsockname()[1]
        self.run(os.environ['REDIS_SERVER'], '--port', str(self.port), '--bind', '127.0.0.1',
                 '--save', '', '--appendonly', 'no', '--dir', self.dir)
        while True:
            try:
                self.redis = Redis(self.port)
                return
            except ConnectionRefusedError:
                self.wait()

    def __exit__(self, *_):
        for process in reversed(self.processes):
            process.kill()
            process.wait()
        shutil.rmtree(self.dir)

    def run(self, *command, **options):
        with open(self.dir + '/log', 'a', encoding='utf-8') as log:
            options = {'stdout': log, 'stderr': log, **options}
            self.processes.append(subprocess.Popen(command, **options))
        return self.processes[-1]

    def wait(self):
        """Waits a little for what has been started; dies if that has ended."""
        time.sleep(0.02)
        if any(process.poll() is not None for process in self.processes):
            die(pathlib.Path(self.dir + '/log').read_text(encoding='utf-8'))

    def label(self):
        return self.name + (', ' + self.variant if self.variant else '')


class Plain(System):
    """What both hwtimerd and the poller have: commands that schedule, and a consumer."""

    def start(self):
        self.redis.ask('XGROUP', 'CREATE', DUE, 'bench', '0', 'MKSTREAM')
        self.serve()

    def schedule(self, deadlines, batch):
        """Schedules a timer for each of the deadlines, `batch` a call; returns the time, s."""
        ids = [b't%09d' % i for i in range(len(deadlines))]
        texts = [b'%d' % deadline for deadline in deadlines]
        payloads = [b'%032d' % i for i in range(len(deadlines))]
        calls = [self.call(ids[i:i + batch], texts[i:i + batch], payloads[i:i + batch])
                 for i in range(0, len(ids), batch)]
        step = max(2, IN_FLIGHT // batch)
        parts = [calls[i:i + step] for i in range(0, len(calls), step)]
        parts = [(b''.join(part), len(part) * self.replies) for part in parts]
        start = time.monotonic()
        total = self.redis.pipeline(parts)
        if total != len(ids) * self.replies:
            die('of %d timers, %d were new' % (len(ids), total / self.replies))
        return time.monotonic() - start

    def listen(self):
        """What else is needed to consume"""

    def consume(self, count, patience):
        """Takes so many timers, until none comes for so many seconds; returns pairs of the
        time in ms and the number of the timer that came then. What is acknowledged goes out
        with the next read."""
        read = pack(b'XREADGROUP', b'GROUP', b'bench', b'me', b'COUNT', b'%d' % TAKE, b'BLOCK',
                    b'1000', b'STREAMS', DUE, b'>')
        taken, removals, last = [], [], time.monotonic()
        while count > 0 and time.monotonic() - last < patience:
            self.redis.socket.sendall(b''.join(removals) + read)
            for _ in removals:
                self.redis.reply()
            answer, removals = self.redis.reply(), []
            if answer:
                taken.append((time.time() * 1000, answer[0][1]))
                removals = self.remove([entry[0] for entry in answer[0][1]])
                last = time.monotonic()
                count -= len(answer[0][1])
        return [(now, self.number(fields[1], fields[-1])) for now, entries in taken
                for _, fields in entries]

    @staticmethod
    def number(timer, payload):
        """The number of a timer, or -1 if it is none of ours"""
        return int(payload) if timer == b't%09d' % int(payload) else -1


class Hwtimerd(Plain):
    name = 'hwtimerd'
    replies = 1

    def __init__(self, *options):
        self.options = options
        self.variant = ' '.join(options)

    def serve(self):
        server = '127.0.0.1:%d' % self.port
        subprocess.run([os.environ['HWTIMERD'], 'load', '--redis', server], check=True,
                       stdout=subprocess.DEVNULL)
        self.run(os.environ['HWTIMERD'], 'serve', '--redis', server, '--queue', 'bench:1',
                 *self.options)
        while not self.redis.ask('EXISTS', SHARD):
            self.wait()

    @staticmethod
    def call(ids, deadlines, payloads):
        return pack(b'FCALL', b'hwt_schedule', b'1', SHARD,
                    *(word for timer in zip(ids, deadlines, payloads) for word in timer))

    @staticmethod
    def remove(entries):
        return [pack(b'XACK', DUE, b'bench', *entries)]


class Poller(Plain):
    """A script moves what is due to a stream."""

    name = 'stream poller'
    replies = 2
    script = '''
        local ids = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', ARGV[1], 'LIMIT', 0, 1000)
        if #ids > 0 then
            local payloads = redis.call('HMGET', KEYS[2], unpack(ids))
            for i, id in ipairs(ids) do
                redis.call('XADD', KEYS[3], '*', 'id', id, 'payload', payloads[i])
            end
            redis.call('ZREM', KEYS[1], unpack(ids))
            redis.call('HDEL', KEYS[2], unpack(ids))
        end
        return #ids'''

    def __init__(self, period):
        self.period = period
        self.variant = 'each %d ms' % period

    def serve(self):
        self.run(sys.executable, __file__, '--poll', str(self.port), str(self.period))

    @classmethod
    def poll(cls, port, period):
        """Another process does this. It wakes up at multiples of the period, so the time of
        a poll itself does not matter."""
        redis, period = Redis(port), period / 1000
        script = redis.ask('SCRIPT', 'LOAD', cls.script)
        while True:
            now = b'%d' % (time.time() * 1000)
            if redis.ask('EVALSHA', script, '3', SHARD, SHARD + b':payloads', DUE, now) < 1000:
                time.sleep(period - time.time() % period)

    @staticmethod
    def call(ids, deadlines, payloads):
        return (pack(b'HSET', SHARD + b':payloads',
                     *(word for pair in zip(ids, payloads) for word in pair)) +
                pack(b'ZADD', SHARD, *(word for pair in zip(deadlines, ids) for word in pair)))

    @staticmethod
    def remove(entries):
        return [pack(b'XACK', DUE, b'bench', *entries), pack(b'XDEL', DUE, *entries)]


class Function(Poller):
    """What hwt_schedule would cost if it checked nothing, and told nobody"""

    name = 'function without checks'
    replies = 1
    script = '''#!lua name=bench
        redis.register_function('schedule', function(keys, args)
            local scores, payloads, n = {}, {}, 0
            for i = 1, #args, 3 do
                scores[n + 1], scores[n + 2] = args[i + 1], args[i]
                payloads[n + 1], payloads[n + 2] = args[i], args[i + 2]
                n = n + 2
            end
            redis.call('HSET', keys[1] .. ':payloads', unpack(payloads))
            return redis.call('ZADD', keys[1], unpack(scores))
        end)'''

    def __init__(self):
        pass

    def serve(self):
        self.redis.ask('FUNCTION', 'LOAD', self.script)

    @staticmethod
    def call(ids, deadlines, payloads):
        return Hwtimerd.call(ids, deadlines, payloads).replace(b'$12\r\nhwt_', b'$8\r\n')


class BullMQ(System):
    """Delayed jobs; bullmq.js schedules and works."""

    name = 'BullMQ'
    lead = 0.5
    share = 0.2

    def start(self):
        pass

    def node(self, *args, **options):
        return self.run('node', str(HERE / 'bullmq/bullmq.js'), str(self.port), *args,
                        stdout=subprocess.PIPE, text=True, **options)

    def schedule(self, deadlines, batch):
        producer = self.node('schedule', str(batch), stdin=subprocess.PIPE)
        answer, _ = producer.communicate('\n'.join(map(str, deadlines)))
        self.processes.remove(producer)
        if producer.returncode:
            die(pathlib.Path(self.dir + '/log').read_text(encoding='utf-8'))
        return float(answer)

    def listen(self):
        self.worker = self.node('work')
        self.worker.stdout.readline()

    def consume(self, count, patience):
        taken = []
        signal.signal(signal.SIGALRM, lambda *_: self.worker.kill())
        while len(taken) < count:
            signal.alarm(patience)
            line = self.worker.stdout.readline().split()
            if not line:
                break
            taken.append((float(line[0]), int(line[1])))
        signal.alarm(0)
        return taken


# ---- the measures ----

class TooSlow(Exception):
    """Timers were due before all were scheduled."""


class Sizes:
    many, some, lateness, idle = 1000000, 300000, 10, 10


class QuickSizes:
    many, some, lateness, idle = 100000, 50000, 3, 4


def make_deadlines(count, start, spread):
    """Deadlines that lie evenly in the `spread` ms from `start` on, in random order, as
    producers do not schedule in the order of deadlines"""
    deadlines = [start + spread * i // count for i in range(count)]
    random.Random(1).shuffle(deadlines)
    return deadlines


def fill(system, count, batch):
    """Schedules timers that are an hour ahead; returns the rate, and Redis's time of a timer."""
    used = system.redis.cpu()
    seconds = system.schedule(make_deadlines(count, int(time.time() * 1000) + HOUR, HOUR), batch)
    return count / seconds, (system.redis.cpu() - used) / count * 1e6


def run(system, count, spread, check=False):
    """Timers from their schedule to their delivery: how late each came in ms, how long after
    the last deadline the last one came, and Redis's processor time of a timer in us"""
    start = int(time.time() * 1000 + 3000 + system.lead * count)
    deadlines = make_deadlines(count, start, spread)
    system.schedule(deadlines, 100)
    system.listen()
    rest = start / 1000 - 0.1 - time.time()
    if rest < 0 and not check:
        raise TooSlow
    time.sleep(max(0, rest))
    used = system.redis.cpu()
    taken = system.consume(count, PATIENCE)
    used = system.redis.cpu() - used
    if check:
        taken += system.consume(1, 1)  # what comes now is one too many
    numbers = [number for _, number in taken]
    late = [now - deadlines[number] for now, number in taken]
    if sorted(numbers) != list(range(count)) or min(late) < 0:
        die('%s: of %d timers %d came, %d different ones, %d early' % (
            system.label(), count, len(numbers), len(set(numbers)), sum(l < 0 for l in late)))
    return sorted(late), taken[-1][0] - start - spread, used / count * 1e6


def watch(system, seconds):
    """Commands a second that clients send, while no timer is due"""
    redis = Redis(system.port)
    redis.ask('MONITOR')
    count, end = 0, time.monotonic() + seconds
    while time.monotonic() < end:
        redis.socket.settimeout(max(0.001, end - time.monotonic()))
        try:
            count += ' lua]' not in redis.reply().decode(errors='replace')
        except socket.timeout:
            pass
    return count / seconds


def measure_schedule(system, sizes):
    with system:
        rate, cpu = fill(system, int(sizes.some * system.share), 1)
    return {'schedule/s': rate, 'schedule us': cpu}


def measure_batches(system, sizes):
    """And memory"""
    count = int(sizes.many * system.share)
    with system:
        before = int(system.redis.info('memory')['used_memory'])
        rate, cpu = fill(system, count, 100)
        after = int(system.redis.info('memory')['used_memory'])
    return {'in batches/s': rate, 'batches us': cpu, 'bytes': (after - before) / count}


def measure_idle(system, sizes):
    with system:
        fill(system, int(sizes.some * system.share), 100)
        system.listen()
        time.sleep(3)
        return {'idle commands/s': watch(system, sizes.idle)}


def measure_fire(system, sizes):
    count = int(sizes.some * system.share / 3)
    with system:
        late, _, cpu = run(system, count, 0)
    return {'fire/s': count * 1000 / late[-1], 'fire us': cpu}


def measure_lateness(system, sizes):
    while True:
        rate = system.rates[0]
        count = rate * sizes.lateness
        with system:
            late, behind, cpu = run(system, count, sizes.lateness * 1000)
        if behind < BEHIND or len(system.rates) == 1:
            break
        note('%s does not keep up with %d timers a second' % (system.label(), rate))
        system.rates = system.rates[1:]
    p50, p99 = (late[int((count - 1) * share)] for share in (0.5, 0.99))
    return {'at rate/s': rate, 'p50 ms': p50, 'p99 ms': p99, 'lateness us': cpu}


TIMERS = '/dev/hwtimer' if os.access('/dev/hwtimer', os.R_OK | os.W_OK) else "libevent's timers"

MEASURES = measure_schedule, measure_batches, measure_idle, measure_fire, measure_lateness


# ---- the report ----

# Tables: heading of the rows; columns and their decimals
TABLES = {'': {'schedule/s': 0, 'in batches/s': 0, 'fire/s': 0, 'at rate/s': 0, 'p50 ms': 1,
               'p99 ms': 1, 'idle commands/s': 1, 'bytes': 0},
          "Redis's processor time of a timer": {'schedule us': 2, 'batches us': 2, 'fire us': 2,
                                                'lateness us': 2}}

# Of hwtimerd: column, whether it is compared to the poller, the bound, and whether less is better
BOUNDS = [('schedule/s', True, 0.9, False), ('in batches/s', True, 0.9, False),
          ('fire/s', True, 0.9, False), ('schedule us', True, 1 / 0.9, True),
          ('batches us', True, 1 / 0.9, True), ('fire us', True, 1 / 0.9, True),
          ('p50 ms', True, 1, True), ('p99 ms', True, 1, True),
          ('idle commands/s', False, 1.2, True), ('bytes', False, 230, True)]


def print_table(heading, shown, results):
    lines = [[heading, *shown]]
    for label, columns in results.items():
        lines.append([label] + [format(statistics.median(columns[name]), ',.%df' % decimals)
                                if name in columns else '-' for name, decimals in shown.items()])
    widths = [max(map(len, cells)) for cells in zip(*lines)]
    for line in lines:
        print(line[0].ljust(widths[0]),
              *(cell.rjust(width) for cell, width in zip(line[1:], widths[1:])), sep='  ')
    print()


def print_bounds(ours, theirs):
    """A ratio is the median of those of all rounds: the machine's speed changes."""
    for name, compared, bound, less in BOUNDS:
        values = ours[name]
        if compared:
            values = [a / b for a, b in zip(values, theirs[name])]
        value = statistics.median(values)
        met = value <= bound if less else value >= bound
        print('%-16s %-15s %7.2f  %s %7.2f  %s' % (
            name, 'against poller' if compared else '', value, '<=' if less else '>=', bound,
            'met' if met else 'MISSED'))


def systems(bullmq):
    """hwtimerd and the poller first; others are variants, for what the variant matters to."""
    yield Hwtimerd(), MEASURES
    yield Poller(10), MEASURES
    yield Hwtimerd('--pace', '1'), (measure_lateness,)
    yield Poller(1), (measure_lateness,)
    yield Function(), (measure_schedule, measure_batches)
    if bullmq:
        yield BullMQ(), MEASURES


def patiently(measure, system, sizes):
    """On a machine that does something else, scheduling takes longer."""
    while True:
        try:
            return measure(system, sizes)
        except TooSlow:
            note('once more: scheduling took too long')
            system.lead *= 2


def benchmark(chosen, sizes, rounds):
    results = collections.defaultdict(lambda: collections.defaultdict(list))
    for i in range(rounds):
        for measure in MEASURES:
            for system, measures in chosen:
                if measure in measures:
                    note('round %d of %d, %s, %s' % (i + 1, rounds, measure.__name__,
                                                     system.label()))
                    for name, value in patiently(measure, system, sizes).items():
                        results[system.label()][name].append(value)
    print('medians of %d rounds; hwtimerd uses %s\n' % (rounds, TIMERS))
    for heading, shown in TABLES.items():
        print_table(heading, shown, results)
    print_bounds(*list(results.values())[:2])


def check(chosen, bullmq):
    """TAP: whether each system delivers each timer exactly once, and none early"""
    print('TAP version 13\n1..%d' % (len(chosen) + (not bullmq)))
    status = 0
    for number, system in enumerate(chosen, 1):
        result = 'ok'
        try:
            with system:
                run(system, 2000, 2000, check=True)
        except SystemExit as problem:
            result, status = 'not ok', 1
            print('# %s' % str(problem).replace('\n', '\n# '))
        print('%s %d %s delivers each timer once, none early' % (result, number, system.label()),
              flush=True)
    if not bullmq:
        print('ok %d BullMQ # SKIP there is no npm, or it could not fetch BullMQ' %
              (len(chosen) + 1))
    return status


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--quick', action='store_true')
    parser.add_argument('--check', action='store_true')
    parser.add_argument('--reps', type=int)
    parser.add_argument('--poll', type=int, nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.poll:
        Poller.poll(*options.poll)
    gc.disable()  # nothing that we make has cycles, and it would run while timers are due
    bullmq = bool(os.environ.get('NODE_PATH'))
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    chosen = list(systems(bullmq))
    if options.check:
        sys.exit(check([system for system, measures in chosen if measure_lateness in measures],
                       bullmq))
    benchmark(chosen, QuickSizes if options.quick else Sizes,
              options.reps or (1 if options.quick else 5))


main()
