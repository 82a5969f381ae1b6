# SPDX-License-Identifier: Apache-2.0

"""A minimal client of the bus for scripts/bench: the layout of an envelope, a peer, the journal.

The layouts are those of Sources/Bus/Messages/Wire.swift and Sources/Bus/Journal/SegmentLayout.swift.
"""

import json
import os
import struct
import time
import uuid
from dataclasses import dataclass

import zmq

from rules import HANG_GUARD

HEADER = struct.Struct("<B31sQq16s16s16sIIHHIH6x")
SEGMENT_HEAD, RECORD_HEAD = 16, 8
NOTHING = bytes(16)


def microseconds():
    return time.time_ns() // 1000


@dataclass
class Envelope:
    kind: str
    sequence: int
    sent_at: int  # microseconds since 1970, by the sender's clock
    id: bytes
    cause: bytes
    correlation: bytes
    source: str
    destination: str
    body: bytes
    received_at: int = 0  # of a peer, by its clock

    @property
    def json(self):
        return json.loads(self.body)

    @staticmethod
    def decode(frame):
        _, kind, sequence, sent_at, id, cause, correlation, _, _, source, destination, body, _ = HEADER.unpack_from(frame)
        texts = frame[HEADER.size :]
        return Envelope(
            kind.rstrip(b"\0").decode(), sequence, sent_at, id, cause, correlation, texts[:source].decode(),
            texts[source : source + destination].decode(), texts[source + destination :][:body])


class Peer:
    """A peer with one address and one key. It sends requests and replies, and acknowledges every event at once."""

    def __init__(self, instance, key, address):
        with open(f"{instance}/bus/bus.json") as file:
            bus = json.load(file)
        with open(f"{instance}/keys/{key}/key.json") as file:
            keys = json.load(file)
        self.address = address
        self.kept = []
        self.context = zmq.Context()
        self.socket = self.context.socket(zmq.DEALER)
        self.socket.linger = 200
        self.socket.curve_serverkey = bus["publicKey"].encode()
        self.socket.curve_publickey = keys["publicKey"].encode()
        self.socket.curve_secretkey = keys["secretKey"].encode()
        self.socket.connect(bus["endpoint"])
        self.request("peer.hello", "message-bus", {"incarnation": str(uuid.uuid4()).upper(), "pid": os.getpid()})

    def say(self, kind, destination, body, cause=NOTHING, correlation=NOTHING):
        """Sends one envelope. Returns its id and its timestamp."""
        id, now = uuid.uuid4().bytes, microseconds()
        text = b"" if body is None else json.dumps(body, sort_keys=True).encode()
        source, to = self.address.encode(), destination.encode()
        header = HEADER.pack(
            1, kind.encode(), 0, now, id, cause, correlation, 0, 0, len(source), len(to), len(text), 0)
        self.socket.send(header + source + to + text)
        return id, now

    def request(self, kind, destination, body, within=HANG_GUARD):
        """Sends a request until a receiver is connected. Returns the reply and the time of the request."""
        end = time.monotonic() + within
        while True:
            id, asked = self.say(kind, destination, body)
            answer = self.wait(lambda e: e.cause == id, f"{kind} to {destination}", within)
            if answer.kind in (kind + "/ok", kind + "/ack"):
                return answer, asked
            if answer.kind != "bus.undelivered" or time.monotonic() > end:
                raise RuntimeError(f"{kind} to {destination}: {answer.kind} {answer.body.decode()}")
            time.sleep(0.02)

    def wait(self, is_meant, what, within=HANG_GUARD):
        """The first matching envelope of those that were received and not yet returned."""
        end = time.monotonic() + within
        while True:
            for index, envelope in enumerate(self.kept):
                if is_meant(envelope):
                    return self.kept.pop(index)
            left = end - time.monotonic()
            if left <= 0 or not self.socket.poll(max(1, int(left * 1000))):
                raise RuntimeError(f"{what}: not received within {within} s")
            self.receive()

    def receive(self):
        envelope = Envelope.decode(self.socket.recv())
        envelope.received_at = microseconds()
        answer = {"agent.started": "/ack", "process.exited": "/ack", "process.ready": "/ok"}.get(envelope.kind)
        if answer:
            body = {} if answer == "/ok" else None
            self.say(envelope.kind + answer, envelope.source, body, envelope.id, envelope.correlation)
        self.kept.append(envelope)

    def close(self):
        self.socket.close()
        self.context.term()


class Journal:
    """The journal of an instance's bus, read from the end of the last call."""

    def __init__(self, instance):
        self.folder = f"{instance}/journal"
        self.segment, self.offset = None, 0
        self.kept = []

    def read(self):
        """The new envelopes, in order."""
        found = []
        while True:
            if self.segment is None:
                self.segment, self.offset = self.next_segment(""), SEGMENT_HEAD
                if self.segment is None:
                    return found
            with open(f"{self.folder}/{self.segment}", "rb") as file:
                file.seek(self.offset)
                bytes = file.read()
            place = 0
            while place + RECORD_HEAD <= len(bytes):
                length = struct.unpack_from("<I", bytes, place)[0]
                if place + RECORD_HEAD + length > len(bytes):
                    break
                found.append(Envelope.decode(bytes[place + RECORD_HEAD : place + RECORD_HEAD + length]))
                place += RECORD_HEAD + length
            self.offset += place
            following = self.next_segment(self.segment)
            if following is None:
                return found
            self.segment, self.offset = following, SEGMENT_HEAD

    def next_segment(self, after):
        names = sorted(name for name in os.listdir(self.folder) if name.endswith(".journal") and name > after)
        return names[0] if names else None

    def forget(self):
        """Skips everything written so far."""
        self.read()
        self.kept = []

    def wait_for(self, count, is_meant, what, within=HANG_GUARD):
        """The first `count` matching envelopes since `forget`; polls every 10 ms."""
        end = time.monotonic() + within
        while True:
            self.kept += self.read()
            found = [envelope for envelope in self.kept if is_meant(envelope)]
            if len(found) >= count:
                return found[:count]
            if time.monotonic() > end:
                raise RuntimeError(f"the journal in {self.folder}: {what} not found within {within} s")
            time.sleep(0.01)

    def wait(self, is_meant, what, within=HANG_GUARD):
        return self.wait_for(1, is_meant, what, within)[0]


def progress(step, owner=None):
    return lambda e: e.kind == "transfer.progress" and e.json["step"] == step and owner in (None, e.json["owner"])


def printed(words):
    return lambda e: e.kind == "process.output" and e.json["line"].startswith(words)
