#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Runs the examples of Documentation/hwtimerd.md. user/daemon/test/guide.sh calls it.

	guide.py script PAGE
		prints a script for sh that runs the commands of the page
	guide.py compare PAGE OUTPUT
		compares what that script printed, without the module and with it, with what
		the page shows; prints TAP
	guide.py native PAGE HWTIMERD
		runs the page's Python and JavaScript, and the rights of user/man/hwtimerd.8,
		with a Redis server and that hwtimerd; prints TAP. NODE_PATH must have
		ioredis; if it is not set, JavaScript is skipped
"""

import logging
import os
import re
import subprocess
import sys
import time

import redis

from redis_server import LIBRARY, Server

MANUAL = "user/man/hwtimerd.8"
MARK = "@@@"
PLACES = ["without the module", "with the module"]
ENTRY = r"\d{13}-\d+"

JAVASCRIPT_DRIVER = """
(async () => {
	const connection = redis.duplicate(), handled = [];
	const handle = (id, payload) => {
		if (id === "js-1")
			throw new Error("this is no error of the page");
		handled.push(id + "=" + payload.toString("hex"));
	};

	await redis.xgroup("CREATE", `${key}:due`, "scripts", "$", "MKSTREAM");
	await schedule("js-1", "+100", "one");
	await schedule("js-2", "+60000", "two");
	await schedule("js-3", "+200", Buffer.from([0xff, 0x00]));
	if (await cancel("js-2") !== 1)
		throw new Error("js-2 was not cancelled");
	while (!handled.length)
		await consume(connection, "scripts", "me", handle);
	const [pending] = await redis.xpending(`${key}:due`, "scripts");

	console.log(handled.join() + ", unacknowledged " + pending);
	redis.quit();
	connection.quit();
})().catch((error) => { console.error(error); process.exit(1); });
"""


# ---- the page ----

def blocks(page, language):
    with open(page, encoding="utf-8") as file:
        text = file.read()
    pattern = rf"^```{language}\n(.*?)^```$"
    return re.findall(pattern, text, re.MULTILINE | re.DOTALL)


def steps(page):
    """Yields the commands of the page and what they print."""
    for block in blocks(page, "console"):
        for step in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = step.partition("\n")
            yield command, output


# ---- TAP ----

class Tap:
    def __init__(self):
        self.count = self.failures = 0

    def check(self, name, fine, said=""):
        self.count += 1
        if not fine:
            self.failures += 1
            for line in said.splitlines():
                print("#", line)
        print("ok" if fine else "not ok", self.count, name, flush=True)

    def skip(self, name, reason):
        self.count += 1
        print("ok", self.count, name, "# SKIP", reason, flush=True)

    def end(self):
        sys.exit(self.failures > 0)


# ---- the commands ----

def script(page):
    """The entry's id differs from the page's: the last one that was printed replaces it.
    redis-cli shows types only on a terminal, or with --no-raw. The daemon stands still from
    a schedule to the next read: no timer is due before a query, however slow the machine."""
    for number, (command, _) in enumerate(steps(page)):
        quoted = re.sub(ENTRY, '"$entry"', command)
        quoted = re.sub(r"^redis-cli ", "redis-cli --no-raw ", quoted)
        print(f"echo {MARK} {number}")
        if command.endswith("&"):
            # the next command needs what this one starts
            print(f"{quoted[:-1]} >/tmp/background 2>&1 &")
            print('background=$!')
            print('until [ "$(redis-cli exists {orders:0})" = 1 ]; do usleep 100000; done')
            print('cp /tmp/background /tmp/said')
        else:
            if " hwt_schedule " in command:
                print('kill -STOP "$background"')
            elif " XREADGROUP " in command:
                print('kill -CONT "$background"')
            print(f"{quoted} >/tmp/said 2>&1")
        print("cat /tmp/said")
        print("found=$(grep -o -E '[0-9]{13}-[0-9]+' /tmp/said | tail -n 1)")
        print('[ -z "$found" ] || entry=$found')
    print('kill -CONT "$background"; kill "$background"; wait "$background"')


def like(text):
    """Text without what differs from run to run: times"""
    return re.sub(r"\d{13}(-\d+)?", "TIME", text).strip()


def is_as_expected(place, command, expected, actual):
    if not command.endswith("&"):
        return like(actual) == like(expected)
    return ("using libevent's timers" in actual) == (place == PLACES[0])


def compare(page, output):
    tap = Tap()
    with open(output, encoding="utf-8") as file:
        runs = re.split(rf"^{MARK} {MARK} (.*)\n", file.read(), flags=re.MULTILINE)[1:]
    tap.check("the commands were run without the module and with it", runs[::2] == PLACES,
              str(runs[::2]))
    for place, text in zip(runs[::2], runs[1::2]):
        said = dict(re.findall(rf"^{MARK} (\d+)\n(.*?)(?=^{MARK}|\Z)", text,
                               re.MULTILINE | re.DOTALL))
        for number, (command, expected) in enumerate(steps(page)):
            actual = said.get(str(number), "nothing: it was not run")
            tap.check(f"{place}: {command}",
                      is_as_expected(place, command, expected, actual),
                      f"the page shows:\n{expected}but it printed:\n{actual}")
    tap.end()


# ---- the programs ----

def await_true(function):
    """Without a limit: no machine is too slow."""
    while not function():
        time.sleep(0.02)


def run_python(tap, page, port):
    source, = blocks(page, "python")
    names = {}
    exec(source.replace("redis.Redis(", f"redis.Redis(port={port}, "),  # pylint: disable=exec-used
         names)
    names["create_groups"]("mailer")
    names["create_groups"]("mailer")  # again: they exist
    check_timers(tap, names)
    check_takeover(tap, names)
    check_bad_payload(tap, names)


def check_timers(tap, names):
    handled = []
    news = names["schedule"]("python-1", "+100", "one")
    names["schedule"]("python-2", "+60000", "two")
    names["schedule"]("python-3", int(time.time() * 1000) + 100, "three")
    cancelled = names["cancel"]("python-2")
    while len(handled) < 2:
        for number in range(names["SHARDS"]):
            names["consume"]("mailer", "me", number,
                             lambda *timer: handled.append(timer))
    tap.check("Python: schedule, cancel, consume",
              (news, cancelled, sorted(handled)) ==
              (1, 1, [(b"python-1", b"one"), (b"python-3", b"three")]),
              f"{news} {cancelled} {handled}")


def check_takeover(tap, names):
    """A consumer that read and died: another one gets the entry after a while."""
    client, key, handled = names["redis_client"], names["shard"]("python-4"), []
    number = int(key[1:-1].split(":")[1])
    names["schedule"]("python-4", "+10", "four")
    read = client.xreadgroup("mailer", "dead", {key + ":due": ">"}, block=0)
    entry = read[0][1][0][0]
    # as if it had been idle for more than a minute
    client.xclaim(key + ":due", "mailer", "dead", 0, [entry], idle=61000)
    names["consume"]("mailer", "me", number, lambda *timer: handled.append(timer))
    tap.check("Python: a consumer takes over what a dead one left",
              handled == [(b"python-4", b"four")], str(handled))


def check_bad_payload(tap, names):
    """One that the consumer cannot decode, in the middle of those that it reads at a time"""
    client, key, handled = names["redis_client"], "{orders:0}", []
    due = key + ":due"
    client.fcall("hwt_schedule", 1, key, *sum(([f"python-{number}", "+100", payload] for
                 number, payload in ((5, b"five"), (6, b"\xff"), (7, b"seven"))), []))
    await_true(lambda: client.fcall_ro("hwt_query", 1, key, *(f"python-{number}" for number in
                                                              (5, 6, 7))) == [None] * 3)
    logging.disable()  # the page's code tells of the payload
    names["consume"]("mailer", "me", 0, lambda _, payload: handled.append(payload.decode()))
    tap.check("Python: a payload that cannot be decoded stays pending, and stops no other",
              handled == ["five", "seven"] and
              client.xpending(due, "mailer")["pending"] == 1, str(handled))


def run_javascript(tap, page, port):
    name = "JavaScript: schedule, cancel, consume"
    if not os.environ.get("NODE_PATH"):
        tap.skip(name, "there is no npm, or it could not fetch ioredis")
        return
    source, = blocks(page, "js")
    run = subprocess.run(["node", "-e", source + JAVASCRIPT_DRIVER], check=False,
                         env={**os.environ, "REDIS_PORT": str(port)},
                         capture_output=True, text=True)
    tap.check(name, run.stdout == "js-3=ff00, unacknowledged 1\n", run.stdout + run.stderr)


# ---- access ----

KEY, DUE = "{orders:9}", "{orders:9}:due"


def fire(call, daemon, life=5000):
    return call("FCALL", "hwt_fire", 1, KEY, daemon, life, 1000, 1000000, 1, 256, 65536)


def prepare(call):
    """A shard with another daemon, two groups, an unread and a pending entry, and a timer
    that is due"""
    call("FUNCTION", "LOAD", "REPLACE", LIBRARY.read_bytes())
    call("UNLINK", KEY, *(f"{KEY}:{name}" for name in
                          ("deadlines", "payloads", "due", "daemons", "news")))
    fire(call, "dead", 1)
    call("XGROUP", "CREATE", DUE, "mailer", "0", "MKSTREAM")
    call("XGROUP", "CREATE", DUE, "other", "0")
    call("FCALL", "hwt_schedule", 1, KEY, "a", "1700000000000", "", "b", "1700000000000", "")
    fire(call, "another", 0)
    call("XREADGROUP", "GROUP", "mailer", "dead", "COUNT", 1, "STREAMS", DUE, ">")
    call("FCALL", "hwt_schedule", 1, KEY, "c", "1700000000000", "")
    call("FUNCTION", "LOAD", "REPLACE", LIBRARY.read_bytes())  # forgets what it knows


def as_hwtimerd(call):
    call("ROLE")
    call("INFO", "memory")
    call("FCALL", "hwt_version", 0)
    fire(call, "me", 0)
    fire(call, "me")
    call("XREAD", "COUNT", 1, "STREAMS", KEY + ":news", "0")
    call("FCALL_RO", "hwt_stats", 1, KEY)
    call("FCALL", "hwt_leave", 1, KEY, "me")


def as_producer(call):
    call("FCALL", "hwt_schedule", 1, KEY, "d", "+100000", "one", "e", "1600000000000", "")
    call("FCALL", "hwt_add", 1, KEY, "f", "+100000", "one")
    call("FCALL", "hwt_update", 1, KEY, "f", "+100000", "two")
    call("FCALL", "hwt_move", 1, KEY, "f", "+200000")
    call("FCALL_RO", "hwt_query", 1, KEY, "f")
    cursor = call("FCALL_RO", "hwt_list", 1, KEY, "", 1)[0]
    call("FCALL_RO", "hwt_list", 1, KEY, cursor, 1)
    call("FCALL", "hwt_cancel", 1, KEY, "f")
    call("FCALL", "hwt_purge", 1, KEY)


def as_consumer(call):
    call("XGROUP", "CREATE", DUE, "new", "0", "MKSTREAM")
    read = call("XREADGROUP", "GROUP", "mailer", "me", "STREAMS", DUE, ">")
    call("XAUTOCLAIM", DUE, "mailer", "me", 0, "0")
    call("XACK", DUE, "mailer", read[0][1][0][0])


def as_loader(call):
    assert "cluster support disabled" in attempt(call, "CLUSTER", "SLOTS")
    call("ROLE")
    call("FCALL", "hwt_version", 0)
    call("FUNCTION", "LOAD", "REPLACE", LIBRARY.read_bytes())


ROLES = {"hwtimerd": as_hwtimerd, "producer": as_producer, "consumer": as_consumer,
         "loader": as_loader}
REFUSED = (["GET", "other"], ["FLUSHALL"], ["CONFIG", "GET", "dir"], ["FUNCTION", "FLUSH"],
           ["FCALL", "hwt_schedule", 1, "{other:0}", "a", "+1", ""])


def rights(manual):
    """The rules of the manual, each by its user: it goes on in lines that are indented."""
    with open(manual, encoding="utf-8") as file:
        rules = re.findall(r"^ACL SETUSER .*\n(?:  .*\n)*", file.read(), re.MULTILINE)
    return {rule.split()[2]: rule.replace(">SECRET", ">secret").split() for rule in rules}


def calls_of(port, user):
    """A function that calls Redis as that user"""
    connection = redis.connection.Connection(port=port, username=user, password="secret",
                                             decode_responses=True)

    def call(*command):
        connection.send_command(*command)
        return connection.read_response()

    return call


def attempt(function, *args):
    """The error, or an empty text"""
    try:
        function(*args)
    except (redis.RedisError, AssertionError) as error:
        return repr(error)
    return ""


def run_access(tap, port, admin):
    for user, rule in rights(MANUAL).items():
        act, needless = ROLES[user], []
        prepare(admin.execute_command)
        said = attempt(act, calls_of(port, user))
        tap.check(f"the rules for the {user} suffice", not said, said)
        call = calls_of(port, user)
        allowed = [command for command in REFUSED if not attempt(call, *command)]
        tap.check(f"the rules for the {user} allow no more", not allowed, str(allowed))
        for right in rule:
            if right.startswith("+"):
                prepare(admin.execute_command)
                admin.execute_command("ACL", "SETUSER", user, "-" + right[1:])
                if not attempt(act, calls_of(port, user)):
                    needless.append(right)
                admin.execute_command("ACL", "SETUSER", user, right)
        tap.check(f"the {user} needs each of its rights", not needless, " ".join(needless))


# ---- the daemon, as the user of the manual ----

class Daemon:
    def __init__(self, server, program):
        self.socket = server.dir + "/metrics"
        self.password = server.dir + "/password"
        self.start = [program, "--redis", f"127.0.0.1:{server.port}",
                      "--password-file", self.password]
        with open(self.password, "w", encoding="utf-8") as file:
            file.write("secret\n")

    def command(self, user, command, *options):
        return [self.start[0], command, *self.start[1:], "--user", user, *options]

    def run(self, *args):
        return subprocess.run(self.command(*args), check=False, stdout=subprocess.PIPE,
                              text=True)


def serves(admin):
    return admin.exists(*(f"{{orders:{number}}}" for number in range(4))) == 4


def native(page, program):
    tap = Tap()
    lists_all(tap, page)
    with Server(load=False) as server:
        admin = redis.Redis(port=server.port, decode_responses=True)
        daemon = Daemon(server, program)
        for rule in rights(MANUAL).values():
            admin.execute_command(*rule)
        run_access(tap, server.port, admin)
        if tap.failures:  # with fewer rights, the daemon might not do what is waited for
            tap.end()
        admin.execute_command("ACL", "LOG", "RESET")
        admin.execute_command("FUNCTION", "FLUSH")
        loaded = daemon.run("loader", "load")
        tap.check("hwtimerd load", loaded.returncode == 0)
        with subprocess.Popen(daemon.command(
                "hwtimerd", "serve", "--queue", "orders:4", "--metrics",
                daemon.socket)) as process:
            try:
                await_true(lambda: serves(admin))
                run_python(tap, page, server.port)
                run_javascript(tap, page, server.port)
                shown = daemon.run("hwtimerd", "status", "--queue", "orders:4", "--metrics",
                                   daemon.socket)
            finally:
                process.terminate()
        tap.check("hwtimerd status", shown.returncode == 0 and "{orders:3}" in shown.stdout,
                  shown.stdout)
        denied = [entry for entry in admin.acl_log() if entry["object"] != "cluster|info"]
        tap.check("the daemon's commands are all allowed",
                  process.returncode == 0 and not denied, str(denied))
    tap.end()


# ---- completeness ----

def lists_all(tap, page):
    """The page names every function and every error."""
    with open(page, encoding="utf-8") as file:
        text = file.read()
    library = LIBRARY.read_text(encoding="utf-8")
    for kind, names in (
            ("function", re.findall(r"^register\('(\w+)'", library, re.MULTILINE)),
            ("error", set(re.findall(r"\bHWT[A-Z]+\b", library)))):
        missing = [name for name in names if f"`{name}`" not in text]
        tap.check(f"the page names every {kind}", names and not missing, " ".join(missing))


def main():
    what, page, *rest = sys.argv[1:]
    if what == "script":
        script(page)
    elif what == "compare":
        compare(page, *rest)
    else:
        native(page, *rest)


main()
