#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Runs the examples of Documentation/hwtimerd.md. user/daemon/test/guide.sh calls it.

	guide.py script PAGE
		prints a script for sh that runs the commands of the page
	guide.py compare PAGE OUTPUT
		compares what that script printed with what the page shows; prints TAP
	guide.py native PAGE PORT
		runs the page's Python and JavaScript, and the rights of user/man/hwtimerd.8, with the Redis server at PORT,
		which has the functions; prints TAP. A thread calls hwt_turn in place of the
		daemon. NODE_PATH must have ioredis; if it is not set, JavaScript is skipped
"""

import os
import re
import subprocess
import sys
import threading
import time

import redis

MANUAL = "user/man/hwtimerd.8"
MARK = "@@@"
ENTRY = r"\d{13}-\d+"

JAVASCRIPT_DRIVER = """
(async () => {
	const connection = redis.duplicate(), handled = [];

	await redis.xgroup("CREATE", `${key}:due`, "scripts", "0", "MKSTREAM");
	await schedule("js-1", "+100", "one");
	await schedule("js-2", "+60000", "two");
	if (await cancel("js-2") !== 1)
		throw new Error("js-2 was not cancelled");
	for (let tries = 0; tries < 10 && !handled.length; tries++)
		await consume(connection, "scripts", "me",
			(id, payload) => handled.push(id + "=" + payload));
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
            print("background=$!; sleep 2; : >/tmp/said")
        else:
            if " hwt_schedule " in command:
                print('kill -STOP "$background"')
            elif " XREADGROUP " in command:
                print('kill -CONT "$background"')
            print(f"{quoted} >/tmp/said 2>&1")
        print("cat /tmp/said")
        print("found=$(grep -o -E '[0-9]{13}-[0-9]+' /tmp/said | tail -n 1)")
        print('[ -z "$found" ] || entry=$found')


def like(text):
    """Text without what differs from run to run: times"""
    return re.sub(r"\d{13}(-\d+)?", "TIME", text).strip()


def compare(page, output):
    tap = Tap()
    with open(output, encoding="utf-8") as file:
        said = dict(re.findall(rf"^{MARK} (\d+)\n(.*?)(?=^{MARK}|\Z)", file.read(),
                               re.MULTILINE | re.DOTALL))
    for number, (command, expected) in enumerate(steps(page)):
        actual = said.get(str(number))
        fine = actual is not None
        if fine and not command.endswith("&"):
            fine = like(actual) == like(expected)
        tap.check(command, fine, f"the page shows:\n{expected}but it printed:\n{actual}")
    tap.end()


# ---- the programs ----

class StandIn(threading.Thread):
    """Does for some shards what the daemon does, without the kernel."""

    def __init__(self, port, keys):
        super().__init__(daemon=True)
        self.redis = redis.Redis(port=port, decode_responses=True)
        self.shards = {key: ["", "0", {}] for key in keys}

    def run(self):
        while True:
            for key, shard in self.shards.items():
                self.turn(key, shard)
            time.sleep(0.02)

    def turn(self, key, shard):
        cursor, position, known = shard
        now = time.time() * 1000
        ids = [one for one, deadline in known.items() if deadline <= now][:1000]
        reply = self.redis.fcall("hwt_turn", 1, key, "stand-in", cursor, position,
                                 2000, 1000, *ids)
        for one in ids:
            del known[one]
        for pairs in reply[7], reply[8]:
            known.update(zip(pairs[::2], map(int, pairs[1::2])))
        shard[:2] = reply[2], reply[3]


def run_python(tap, page, port):
    source, = blocks(page, "python")
    handled = []
    names = {}
    exec(source.replace("redis.Redis(", f"redis.Redis(port={port}, "),  # pylint: disable=exec-used
         names)
    names["create_groups"]("mailer")
    names["create_groups"]("mailer")  # again: they exist
    news = names["schedule"]("python-1", "+100", "one")
    names["schedule"]("python-2", "+60000", "two")
    names["schedule"]("python-3", int(time.time() * 1000) + 100, "three")
    cancelled = names["cancel"]("python-2")
    end = time.time() + 10
    while len(handled) < 2 and time.time() < end:
        for number in range(names["SHARDS"]):
            names["consume"]("mailer", "me", number,
                             lambda *timer: handled.append(timer))
    tap.check("Python: schedule, cancel, consume",
              (news, cancelled, sorted(handled)) ==
              (1, 1, [("python-1", "one"), ("python-3", "three")]),
              f"{news} {cancelled} {handled}")
    check_takeover(tap, names)


def check_takeover(tap, names):
    """A consumer that read and died: another one gets the entry after a while."""
    client, key, handled = names["redis_client"], names["shard"]("python-4"), []
    number = int(key[1:-1].split(":")[1])
    names["schedule"]("python-4", "+10", "four")
    read = client.xreadgroup("mailer", "dead", {key + ":due": ">"}, block=10000)
    entry = read[0][1][0][0]
    # as if it had been idle for more than a minute
    client.xclaim(key + ":due", "mailer", "dead", 0, [entry], idle=61000)
    names["consume"]("mailer", "me", number, lambda *timer: handled.append(timer))
    tap.check("Python: a consumer takes over what a dead one left",
              handled == [("python-4", "four")], str(handled))


def run_javascript(tap, page, port):
    name = "JavaScript: schedule, cancel, consume"
    if not os.environ.get("NODE_PATH"):
        tap.skip(name, "there is no npm, or it could not fetch ioredis")
        return
    source, = blocks(page, "js")
    run = subprocess.run(["node", "-e", source + JAVASCRIPT_DRIVER], check=False,
                         env={**os.environ, "REDIS_PORT": str(port)},
                         capture_output=True, text=True)
    tap.check(name, run.stdout == "js-1=one, unacknowledged 0\n",
              run.stdout + run.stderr)


# ---- access ----

def as_producer(call):
    key = "{orders:9}"
    call("FCALL", "hwt_schedule", 1, key, "a", "+100000", "one")
    call("FCALL", "hwt_schedule", 1, key, "a", "+200000", "moved")
    call("FCALL", "hwt_schedule", 1, key, "b", "+1", "two", "a", "+1", "moved")
    call("FCALL_RO", "hwt_query", 1, key, "a")
    call("FCALL_RO", "hwt_stats", 1, key)
    call("FCALL", "hwt_cancel", 1, key, "b")


def as_hwtimerd(call):
    key, queue = "{orders:9}", "{orders}"
    call("ROLE")
    call("TIME")
    call("FCALL", "hwt_version", 0)
    call("FCALL", "hwt_join", 1, queue, "me", 1000)
    call("FCALL", "hwt_lease", 1, key, "me", 1000)
    call("FCALL", "hwt_setup", 1, key, 1024, 256, 65536)
    reply = call("FCALL", "hwt_turn", 1, key, "me", "", "0", 2000, 1000, "a")
    call("FCALL", "hwt_turn", 1, key, "me", reply[2], reply[3], 2000, 1000, "a")
    call("XREAD", "COUNT", 1, "STREAMS", key + ":near", "0")
    call("XREAD", "COUNT", 1, "STREAMS", queue + ":changes", "0")
    call("XADD", queue + ":changes", "MAXLEN", "~", 100, "*", "released", "me")
    call("FCALL_RO", "hwt_stats", 1, key)
    call("XINFO", "GROUPS", key + ":due")
    call("FCALL", "hwt_release", 1, key, "me")
    call("FCALL", "hwt_leave", 1, queue, "me")


def as_consumer(call):
    key, due = "{orders:9}", "{orders:9}:due"
    call("XGROUP", "CREATE", due, "mailer", "0", "MKSTREAM")
    call("XGROUP", "CREATE", due, "other", "0")
    entries = [entry for entry, _ in
               call("XREADGROUP", "GROUP", "mailer", "me", "STREAMS", due, ">")[0][1]]
    call("XAUTOCLAIM", due, "mailer", "me", 0, "0")
    call("XPENDING", due, "mailer")
    call("FCALL", "hwt_ack", 1, key, "mailer", *entries)
    call("FCALL", "hwt_trim", 1, key)
    call("XREADGROUP", "GROUP", "other", "me", "STREAMS", due, ">")


# It does this as long as a consumer has not acknowledged what it has read.
def as_hwtimerd_later(call):
    call("FCALL", "hwt_trim", 1, "{orders:9}")
    call("XLEN", "{orders:9}:due")


def refused(call, *command):
    try:
        call(*command)
    except redis.exceptions.ResponseError as error:
        return "NOPERM" in str(error) or "permission" in str(error).lower()
    return False


def rights(manual):
    """Yields the rules of the manual: each goes on in lines that are indented."""
    with open(manual, encoding="utf-8") as file:
        for rule in re.findall(r"^ACL SETUSER .*\n(?:  .*\n)*", file.read(), re.MULTILINE):
            yield rule.replace(">SECRET", ">secret").split()


def run_access(tap, port):
    admin = redis.Redis(port=port, decode_responses=True)
    rules = list(rights(MANUAL))
    roles = (("producer", as_producer), ("hwtimerd", as_hwtimerd),
             ("consumer", as_consumer), ("hwtimerd", as_hwtimerd_later))
    for rule in rules:
        admin.execute_command(*rule)
    # in this order: each needs what those before it have made
    for user, act in roles:
        client = redis.Redis(port=port, username=user, password="secret",
                             decode_responses=True)
        raw = redis.connection.Connection(port=port, username=user, password="secret",
                                          decode_responses=True)

        def call(*command, raw=raw):
            raw.send_command(*command)
            return raw.read_response()

        try:
            act(call)
            said = ""
        except redis.exceptions.RedisError as error:
            said = f"{user}: {error}"
        tap.check(f"the rules for the {user} suffice", not said, said)
        fine = all((refused(call, "GET", "other"), refused(call, "FLUSHALL"),
                    refused(call, "CONFIG", "GET", "dir"),
                    refused(call, "FUNCTION", "FLUSH"),
                    refused(call, "FCALL", "hwt_schedule", 1, "{other:0}", "a", "+1", "")))
        tap.check(f"the rules for the {user} allow no more", fine)
        client.close()


# ---- completeness ----

def lists_all(tap, page):
    """The page names every function and every error."""
    with open(page, encoding="utf-8") as file:
        text = file.read()
    with open("user/daemon/functions/hwtimer.lua", encoding="utf-8") as file:
        library = file.read()
    for kind, names in (
            ("function", re.findall(r"^register\('(\w+)'", library, re.MULTILINE)),
            ("error", set(re.findall(r"\bHWT[A-Z]+\b", library)))):
        missing = [name for name in names if f"`{name}`" not in text]
        tap.check(f"the page names every {kind}", names and not missing, " ".join(missing))


def native(page, port):
    tap = Tap()
    lists_all(tap, page)
    StandIn(port, [f"{{orders:{number}}}" for number in range(4)]).start()
    run_python(tap, page, port)
    run_javascript(tap, page, port)
    run_access(tap, port)
    tap.end()


def main():
    what, page, *rest = sys.argv[1:]
    if what == "script":
        script(page)
    elif what == "compare":
        compare(page, *rest)
    else:
        native(page, int(rest[0]))


main()
