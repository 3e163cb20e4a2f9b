# SPDX-License-Identifier: GPL-2.0-only
"""Redis servers for tests: private ones, on free ports, in directories of their own."""

import contextlib
import functools
import os
import pathlib
import re
import shutil
import socket
import subprocess
import tempfile
import time

import redis

LIBRARY = pathlib.Path(__file__).parent.parent / 'functions' / 'hwtimer.lua'

# Debian's package redis-tools has the server under another name: what it does depends on
# the name that it is started by.
SERVER = '/usr/bin/redis-check-rdb'


@functools.cache
def clock_shift():
    """The library that shifts a server's clock, built at its first use"""
    source = pathlib.Path(__file__).with_name('clock_shift.c')
    built = tempfile.NamedTemporaryFile(suffix='.so')
    subprocess.run(['cc', '-D_GNU_SOURCE', '-O2', '-fPIC', '-shared', '-o', built.name, source],
                   check=True)
    return built


def free_port(also=0):
    """A port nobody listens on. For a node of a cluster, port + `also` is free, too."""
    while True:
        with socket.socket() as one, socket.socket() as two:
            one.bind(('127.0.0.1', 0))
            port = one.getsockname()[1]
            if port + also > 65535:
                continue
            try:
                two.bind(('127.0.0.1', port + also if also else 0))
            except OSError:
                continue
            return port


class Server:
    """A server that dies with this object; options are those of redis.conf. With `clock`,
    its clock can be shifted."""

    def __init__(self, load=True, clock=False, **options):
        self.dir = tempfile.mkdtemp(prefix='hwtimer-redis-')
        self.options = {key.replace('_', '-'): value for key, value in options.items()}
        self.port = free_port(10000 if options.get('cluster_enabled') else 0)
        self.process = None
        self.env = None
        if clock:
            self.shift(0)
            self.env = {**os.environ, 'LD_PRELOAD': clock_shift().name,
                        'CLOCK_SHIFT': str(self.clock_file())}
        self.start()
        if load:
            self.load()

    def start(self):
        program = pathlib.Path(self.dir) / 'redis-server'
        if not program.exists():
            shutil.copy(SERVER, program)
        options = {'port': str(self.port), 'bind': '127.0.0.1', 'dir': self.dir, 'save': '',
                   'enable-debug-command': 'yes', 'repl-diskless-sync-delay': '0',
                   'repl-ping-replica-period': '1', 'logfile': 'log', **self.options}
        args = [str(program)]
        for key, value in options.items():
            args += ['--' + key, value]
        self.process = subprocess.Popen(args, stdout=subprocess.DEVNULL, cwd=self.dir,
                                        env=self.env)
        self.client = self.connect()
        while True:
            try:
                self.client.ping()
                return
            except (redis.ConnectionError, redis.BusyLoadingError):
                if self.process.poll() is not None:
                    raise SystemExit('redis-server did not start: ' + self.dir)
                time.sleep(0.02)

    def connect(self):
        return redis.Redis(port=self.port)

    def as_user(self, rights, keys):
        """A client of a user who has these rights and no others, besides calling functions"""
        self.client.execute_command('ACL', 'SETUSER', 'limited', 'reset', 'on', '>secret', *keys,
                                    '+client|setname', '+fcall', '+fcall_ro',
                                    *['+' + right for right in rights])
        return redis.Redis(port=self.port, username='limited', password='secret')

    def commands(self, function, *args):
        """The commands that the server runs for this call"""
        seen = []
        with self.client.monitor() as monitor:
            function(*args)
            self.client.ping()
            while 'PING' not in seen:
                seen.append(monitor.next_command()['command'])
        return seen

    def load(self):
        self.client.execute_command('FUNCTION', 'LOAD', 'REPLACE', LIBRARY.read_bytes())

    def clock_file(self):
        return pathlib.Path(self.dir) / 'clock'

    def shift(self, ms):
        """Sets the server's clock to the host's and `ms`. It has mapped the file, so the file
        is written in place, and by one write."""
        with open(os.open(self.clock_file(), os.O_WRONLY | os.O_CREAT), 'wb', 0) as file:
            file.write(b'%-64d' % ms)

    def kill(self):
        """As the machine's end would do it"""
        self.process.kill()
        self.process.wait()

    def has_cluster_of_two(self):
        info = str(self.client.execute_command('CLUSTER', 'INFO'))      # or a dictionary
        return all(re.search(text, info) for text in (r'_state\W+ok\b', r'_known_nodes\W+2\b'))

    def replicate(self, master):
        self.client.execute_command('REPLICAOF', '127.0.0.1', master.port)

    def promote(self):
        self.client.execute_command('REPLICAOF', 'NO', 'ONE')

    def wait_for_link(self, master):
        """Until this replica has all that the master has"""
        while True:
            mine, its = self.client.info('replication'), master.client.info('replication')
            if (mine['role'] == 'slave' and mine['master_link_status'] == 'up' and
                    mine['slave_repl_offset'] == its['master_repl_offset'] and
                    mine['master_replid'] == its['master_replid']):
                return
            time.sleep(0.02)

    def end(self):
        self.kill()
        shutil.rmtree(self.dir)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()


@contextlib.contextmanager
def cluster_of_two():
    """Two servers in a cluster, of which the first one has all slots"""
    options = {'cluster_enabled': 'yes', 'cluster_node_timeout': '2000',
               'cluster_allow_replica_migration': 'no'}
    with Server(**options) as a, Server(**options) as b:
        a.client.execute_command('CLUSTER', 'ADDSLOTSRANGE', 0, 16383)
        a.client.execute_command('CLUSTER', 'MEET', '127.0.0.1', b.port)
        while not (a.has_cluster_of_two() and b.has_cluster_of_two()):
            time.sleep(0.02)
        yield a, b
