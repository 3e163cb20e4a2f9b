# SPDX-License-Identifier: MIT
"""The echo server of epoll-server.c in a loop of asyncio"""
import asyncio
import sys

import hwtimer

PORT = int(sys.argv[1]) if len(sys.argv) > 1 else 7171
TIMEOUT = int(sys.argv[2]) / 1000 if len(sys.argv) > 2 else 30


class Connection(asyncio.Protocol):
    def __init__(self, timers):
        self.timers = timers

    def connection_made(self, transport):
        self.transport = transport
        self.idle = self.timers.call_later(TIMEOUT, transport.abort)

    def data_received(self, data):
        self.idle.reschedule(self.timers.time() + TIMEOUT)  # no system call
        self.transport.write(data)

    def connection_lost(self, error):
        self.idle.cancel()


async def main():
    loop = asyncio.get_running_loop()
    with hwtimer.LoopTimers(tick=hwtimer.seconds(0.1)) as timers:
        server = await loop.create_server(lambda: Connection(timers), "0.0.0.0", PORT)
        await server.serve_forever()

asyncio.run(main())
