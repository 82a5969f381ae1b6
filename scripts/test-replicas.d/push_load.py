# SPDX-License-Identifier: Apache-2.0

"""Pushes at a rate over HTTP/2 to all replicas of a push server, across the ends of connections.

Usage: push_load.py PLAN.json
PLAN.json has {"instance": the folder, "replicas": their names, "rate": pushes a second, "tokens": a file with a line
`device token` for each token, which may grow, "topic", "once": one in so many pushes has the expiration 0, "seed",
"accepted": a file for the results}. It begins when all replicas are connected, ends at the end of standard input, and
prints {"sent", "accepted", "unanswered", "reasons": {reason: count}}. The file gets the apns-id of each push that was
answered with 200.

A push is not repeated: whether one that was not answered was accepted is unknown. One frame with headers is encoded without
compression, and of a response only the status and the reason are read, so that one process reaches thousands a second.
Source: RFC 9113 and RFC 7541.
"""

import asyncio
import collections
import json
import logging
import os
import random
import ssl
import sys
import time
import urllib.parse
import uuid

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "bench.d"))
from push import provider_token

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, RESET, SETTINGS, PING, GOAWAY, WINDOW_UPDATE = 0, 1, 3, 4, 6, 7, 8
END_STREAM, END_HEADERS, ACK = 1, 4, 1
WINDOW = 1 << 24
BODY = b'{"aps":{"alert":"one of many"}}'
STATUSES = {0x88: 200, 0x8C: 400, 0x8D: 404, 0x8E: 500}
TICK = 0.005


def frame(kind, flags, stream, payload=b""):
    return len(payload).to_bytes(3, "big") + bytes((kind, flags)) + stream.to_bytes(4, "big") + payload


def number(value):
    """A length of at most 16,000 with a prefix of seven bits (RFC 7541, 5.1)."""
    if value < 127:
        return bytes((value,))
    value -= 127
    rest = bytearray((127,))
    while value >= 128:
        rest.append(value % 128 + 128)
        value //= 128
    rest.append(value)
    return bytes(rest)


def literal(name, value):
    """A header without an index and without Huffman code."""
    return b"\x00" + number(len(name)) + name.encode() + number(len(value)) + value.encode()


class Connection(asyncio.Protocol):
    """A connection to one process instance of a replica."""

    def __init__(self, load, place):
        self.load, self.place = load, place
        self.buffer = bytearray()
        # Stream: apns-id, of requests without a response.
        self.open = {}
        self.reasons = {}
        self.next = 1
        self.limit, self.window = 1, 65_535
        self.is_open = False
        self.read = 0
        authority = urllib.parse.urlsplit(place["development"]).netloc
        self.head = literal(":authority", authority) + literal("apns-push-type", "alert") + literal(
            "apns-topic", load.plan["topic"]) + literal("apns-priority", "10")

    def connection_made(self, transport):
        self.transport = transport
        transport.write(
            PREFACE + frame(SETTINGS, 0, 0, b"\x00\x01\x00\x00\x00\x00" + b"\x00\x04" + WINDOW.to_bytes(4, "big"))
            + frame(WINDOW_UPDATE, 0, 0, (WINDOW - 65_535).to_bytes(4, "big")))
        self.is_open = True

    def connection_lost(self, _):
        self.is_open = False
        self.load.unanswered += len(self.open)
        self.open = {}
        self.load.lost(self)

    @property
    def can_send(self):
        return (self.is_open and not self.transport.is_closing() and len(self.open) < self.limit
            and self.window >= len(BODY))

    def send(self, token, once):
        stream, self.next = self.next, self.next + 2
        id = str(uuid.UUID(int=random.getrandbits(128), version=4))
        # The pseudo-headers come first.
        head = b"\x83\x87" + literal(":path", f"/3/device/{token}") + self.head + literal(
            "authorization", f"bearer {self.load.authorization}") + literal("apns-id", id)
        if once:
            head += literal("apns-expiration", "0")
        self.open[stream] = id
        self.window -= len(BODY)
        self.transport.write(frame(HEADERS, END_HEADERS, stream, head) + frame(DATA, END_STREAM, stream, BODY))

    # Receiving

    def data_received(self, data):
        self.buffer += data
        place = 0
        while len(self.buffer) - place >= 9:
            length = int.from_bytes(self.buffer[place : place + 3], "big")
            if len(self.buffer) - place < 9 + length:
                break
            kind, flags = self.buffer[place + 3], self.buffer[place + 4]
            stream = int.from_bytes(self.buffer[place + 5 : place + 9], "big") & 0x7FFFFFFF
            self.receive(kind, flags, stream, bytes(self.buffer[place + 9 : place + 9 + length]))
            place += 9 + length
        del self.buffer[:place]

    def receive(self, kind, flags, stream, payload):
        if kind == HEADERS:
            status = self.status(payload)
            if status == 200:
                self.load.accept(self.open.pop(stream, None))
            else:
                self.reasons[stream] = b""
            if flags & END_STREAM and status != 200:
                self.refused(stream)
        elif kind == DATA:
            self.read += len(payload)
            self.reasons[stream] = self.reasons.get(stream, b"") + payload
            if flags & END_STREAM:
                self.refused(stream)
            if self.read > WINDOW // 2:
                self.transport.write(frame(WINDOW_UPDATE, 0, 0, self.read.to_bytes(4, "big")))
                self.read = 0
        elif kind == SETTINGS and not flags & ACK:
            for place in range(0, len(payload), 6):
                if payload[place : place + 2] == b"\x00\x03":
                    self.limit = int.from_bytes(payload[place + 2 : place + 6], "big")
            self.transport.write(frame(SETTINGS, ACK, 0))
        elif kind == PING and not flags & ACK:
            self.transport.write(frame(PING, ACK, 0, payload))
        elif kind == WINDOW_UPDATE and stream == 0:
            self.window += int.from_bytes(payload, "big")
        elif kind == RESET and self.open.pop(stream, None):
            self.load.unanswered += 1
        elif kind == GOAWAY:
            # Answers to what it has received follow.
            self.limit = 0

    @staticmethod
    def status(payload):
        place = 0
        while place < len(payload) and payload[place] & 0xE0 == 0x20:
            place += 1
        return STATUSES.get(payload[place]) if place < len(payload) else None

    def refused(self, stream):
        if self.open.pop(stream, None) is None:
            return
        try:
            reason = json.loads(self.reasons.pop(stream, b""))["reason"]
        except (ValueError, KeyError):
            reason = "other"
        self.load.reasons[reason] += 1


class Load:
    def __init__(self, plan):
        self.plan = plan
        self.random = random.Random(plan["seed"])
        self.sent = self.accepted = self.unanswered = 0
        self.reasons = collections.Counter()
        self.file = open(plan["accepted"], "w")
        self.tokens, self.devices = {}, []
        self.token_file = open(plan["tokens"])
        self.connections = {}
        self.context = ssl.create_default_context(cafile=self.place(plan["replicas"][0])["certificateAuthority"])
        self.context.set_alpn_protocols(["h2"])
        self.sign()

    def place(self, name):
        with open(f"{self.plan['instance']}/push-server-{name}.json") as file:
            return json.load(file)

    def sign(self):
        """A provider token is valid for an hour, and may be replaced after twenty minutes."""
        self.authorization = provider_token(f"{self.plan['instance']}/push-server/credentials/provider")
        self.signed = time.monotonic()

    def accept(self, id):
        if id is not None:
            self.accepted += 1
            self.file.write(id + "\n")

    def lost(self, connection):
        for name, found in list(self.connections.items()):
            if found is connection:
                del self.connections[name]

    def read_tokens(self):
        for line in self.token_file:
            device, token = line.split()
            if device not in self.tokens:
                self.devices.append(device)
            self.tokens[device] = token

    async def connect(self, name):
        """Keeps a connection to a replica, whichever process instance it is."""
        while True:
            if name not in self.connections:
                try:
                    place = self.place(name)
                    url = urllib.parse.urlsplit(place["development"])
                    _, made = await asyncio.wait_for(
                        asyncio.get_running_loop().create_connection(
                            lambda: Connection(self, place), url.hostname, url.port, ssl=self.context), 5)
                    self.connections[name] = made
                except (OSError, ValueError, asyncio.TimeoutError):
                    pass
            await asyncio.sleep(0.05)

    async def send(self):
        began = last = time.monotonic()
        pending = 0.0
        turn = count = 0
        tokens_at = 0.0
        while True:
            await asyncio.sleep(TICK)
            now = time.monotonic()
            if now - tokens_at > 0.5:
                self.read_tokens()
                tokens_at = now
            if now - self.signed > 1_500:
                self.sign()
            # What could not be sent in a second is given up: the rate is a wish.
            pending = min(pending + (now - last) * self.plan["rate"], self.plan["rate"])
            last = now
            able = [found for found in self.connections.values() if found.can_send]
            while pending >= 1 and able:
                turn += 1
                connection = able[turn % len(able)]
                device = self.devices[self.random.randrange(len(self.devices))]
                count += 1
                connection.send(self.tokens[device], count % self.plan["once"] == 0)
                self.sent += 1
                pending -= 1
                if not connection.can_send:
                    able.remove(connection)

    async def run(self):
        self.read_tokens()
        tasks = [asyncio.ensure_future(self.connect(name)) for name in self.plan["replicas"]]
        while len(self.connections) < len(self.plan["replicas"]):
            await asyncio.sleep(0.02)
        began = time.monotonic()
        print(json.dumps({"began": began}), flush=True)
        sending = asyncio.ensure_future(self.send())
        ended = asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
        await asyncio.wait({sending, asyncio.ensure_future(ended)}, return_when=asyncio.FIRST_COMPLETED)
        if sending.done():
            sending.result()
        sending.cancel()
        # What is on its way is answered within seconds, or never.
        end = time.monotonic() + 15
        while any(found.open for found in self.connections.values()) and time.monotonic() < end:
            await asyncio.sleep(0.05)
        for task in tasks:
            task.cancel()
        self.unanswered += sum(len(found.open) for found in self.connections.values())
        self.file.close()
        print(json.dumps({
            "sent": self.sent, "accepted": self.accepted, "unanswered": self.unanswered, "reasons": dict(self.reasons),
            "seconds": time.monotonic() - began}), flush=True)


def main():
    with open(sys.argv[1]) as file:
        plan = json.load(file)
    random.seed()
    # A replica is killed while requests are written to it. asyncio warns of each of them.
    logging.getLogger("asyncio").setLevel(logging.ERROR)
    asyncio.run(Load(plan).run())


if __name__ == "__main__":
    main()
