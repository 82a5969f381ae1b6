# SPDX-License-Identifier: Apache-2.0

"""Violates the protocol at a push server, frame by frame, and prints how the connection ended.

Usage: bad_clients.py NAME PLAN.json, with {"url", "ca", "connections"}; NAME is one of CASES below, or `idle`.

Prints {"code", "text", "ended"}: the error code and the debug data of the GOAWAY, if one was received, and whether the
server closed the connection. `idle` opens this many connections, sends what HTTP/2 requires on each, prints a line to
standard error, and waits for SIGTERM; then it prints {"open", "ended"}: the number of connections, and how many of them
the server closed.
"""

import asyncio
import itertools
import json
import math
import os
import resource
import select
import signal
import socket
import ssl
import struct
import sys
import time

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, RST_STREAM, SETTINGS, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION = 0, 1, 3, 4, 6, 7, 8, 9
END_STREAM, END_HEADERS, ACK = 1, 4, 1


def frame(kind, payload=b"", flags=0, stream=0):
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload


def literal(name, value):
    """A header field without indexing; name and value have less than 127 bytes each."""
    return b"\x00" + bytes([len(name)]) + name + bytes([len(value)]) + value


# The server sends its SETTINGS with its side of the TLS handshake; they are acknowledged at once.
GREETING = PREFACE + frame(SETTINGS) + frame(SETTINGS, flags=ACK)
REQUEST = b"".join(
    literal(*field)
    for field in [(b":method", b"POST"), (b":scheme", b"https"), (b":path", b"/3/device/00"), (b":authority", b"x")])


def requests_that_are_reset():
    number = 1
    while True:
        yield frame(HEADERS, REQUEST, END_HEADERS, number) + frame(RST_STREAM, b"\0\0\0\x08", stream=number)
        number += 2


def answered_requests():
    """Requests whose responses are read without WINDOW_UPDATE: 65,535 bytes are less than two thousand reasons."""
    number = 1
    while True:
        yield (frame(HEADERS, REQUEST, END_HEADERS | END_STREAM, number),)
        number += 2


# The bytes to send after the TLS handshake, until the server closes the connection. A list is sent half a second after
# the previous item, a tuple when all earlier requests are answered.
CASES = {
    "preface": lambda: [b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"],
    "frame-size": lambda: [GREETING, frame(DATA, bytes(20_000), stream=1)],
    "stream-zero": lambda: [GREETING, frame(HEADERS, REQUEST, END_HEADERS, 0)],
    "window-overflow": lambda: [GREETING, frame(WINDOW_UPDATE, b"\x7f\xff\xff\xff")],
    "hpack": lambda: [GREETING, frame(HEADERS, b"\xff\xff\xff\xff\xff\xff\xff\xff", END_HEADERS, 1)],
    "huge-headers": lambda: [GREETING, frame(HEADERS, REQUEST, 0, 1)]
    + [frame(CONTINUATION, literal(b"x-filler", b"y" * 120) * 120, stream=1)] * 200,
    "continuation-flood": lambda: flood(GREETING + frame(HEADERS, REQUEST, 0, 1), frame(CONTINUATION, stream=1)),
    "reset-flood": lambda: itertools.chain([GREETING], requests_that_are_reset()),
    "ping-flood": lambda: flood(GREETING, frame(PING, bytes(8))),
    "settings-flood": lambda: flood(GREETING, frame(SETTINGS)),
    "empty-data": lambda: flood(GREETING + frame(HEADERS, REQUEST, END_HEADERS, 1), frame(DATA, stream=1)),
    "endless-body": lambda: flood(
        GREETING + frame(HEADERS, REQUEST, END_HEADERS, 1), frame(DATA, bytes(16_384), stream=1)),
    "slow-greeting": lambda: ([bytes([byte])] for byte in PREFACE),
    "slow-request": lambda: itertools.chain(
        [GREETING + frame(HEADERS, REQUEST, END_HEADERS, 1)], itertools.repeat([frame(DATA, b"{", stream=1)])),
    "no-credit": lambda: itertools.chain([GREETING], answered_requests()),
}


def flood(first, each):
    return itertools.chain([first], itertools.repeat(each * max(1, 16_384 // len(each))))


def connected(plan):
    context = ssl.create_default_context(cafile=plan["ca"])
    context.set_alpn_protocols(["h2"])
    host, port = plan["url"].split("//")[1].split(":")
    plain = socket.create_connection((host, int(port)), timeout=120)
    return context.wrap_socket(plain, server_hostname=host)


class Reader:
    """Parses received frames, counts the responses, and keeps the last GOAWAY."""

    def __init__(self, stream):
        self.stream, self.rest, self.farewell, self.ended, self.answers = stream, b"", None, False, 0

    def read(self):
        try:
            data = self.stream.recv(65_536)
        except (ssl.SSLWantReadError, ssl.SSLWantWriteError):
            return
        except (ssl.SSLError, OSError):
            data = b""
        self.ended = self.ended or not data
        self.rest += data
        while len(self.rest) >= 9 and len(self.rest) >= 9 + int.from_bytes(self.rest[:3], "big"):
            length, kind = int.from_bytes(self.rest[:3], "big"), self.rest[3]
            self.answers += kind == HEADERS
            if kind == GOAWAY:
                self.farewell = (int.from_bytes(self.rest[13:17], "big"), self.rest[17:9 + length].decode())
            self.rest = self.rest[9 + length:]


def misbehave(name, plan):
    stream = connected(plan)
    reader = Reader(stream)
    stream.setblocking(False)
    end = time.monotonic() + 300
    chunks, sent, asked, pending = iter(CASES[name]()), 0, 0, b""
    while not reader.ended and time.monotonic() < end:
        # Bounded: if the server never objects, the connection is still open when this returns.
        if not pending and sent < 64 << 20 and reader.farewell is None and asked <= reader.answers:
            chunk = next(chunks, None)
            if chunk is None:
                asked, chunk = math.inf, b""
            if isinstance(chunk, list):
                time.sleep(0.5)
            asked += isinstance(chunk, tuple)
            pending = chunk if isinstance(chunk, bytes) else chunk[0]
        if pending:
            try:
                count = stream.send(pending)
                sent, pending = sent + count, pending[count:]
            except (ssl.SSLWantReadError, ssl.SSLWantWriteError):
                pass
            except (ssl.SSLError, OSError):
                pending = b""
        has_more = pending or reader.farewell is None and asked <= reader.answers
        if not stream.pending():
            select.select([stream], [stream] if has_more else [], [], 0.1)
        reader.read()
    code, text = reader.farewell or (None, None)
    return {"code": code, "text": text, "ended": reader.ended}


async def idle(plan):
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    over = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, over.set)
    context = ssl.create_default_context(cafile=plan["ca"])
    context.set_alpn_protocols(["h2"])
    host, port = plan["url"].split("//")[1].split(":")
    few_at_once = asyncio.Semaphore(50)

    async def connect():
        async with few_at_once:
            reader, writer = await asyncio.open_connection(
                host, int(port), ssl=context, server_hostname=host, limit=1024)
            writer.write(GREETING)
            while True:
                head = await reader.readexactly(9)
                await reader.readexactly(int.from_bytes(head[:3], "big"))
                if head[3] == SETTINGS and head[4] & ACK:
                    return reader, writer

    connections = await asyncio.gather(*(connect() for _ in range(plan["connections"])))
    print("all are open", file=sys.stderr, flush=True)
    await over.wait()
    ended = sum(reader.at_eof() for reader, _ in connections)
    print(json.dumps({"open": len(connections), "ended": ended}), flush=True)
    # Closing ten thousand connections properly would take as long as opening them.
    os._exit(0)


def main():
    with open(sys.argv[2]) as file:
        plan = json.load(file)
    if sys.argv[1] == "idle":
        asyncio.run(asyncio.wait_for(idle(plan), 400))
    else:
        print(json.dumps(misbehave(sys.argv[1], plan)))


main()
