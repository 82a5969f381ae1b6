#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the bus traffic, using only the tap and the layout in Documentation/protocol.md.

Usage: tap.py INSTANCE-FOLDER [KIND-PREFIX] [COUNT]      needs python3-zmq

The bus does not wait for viewers: a slow viewer loses envelopes. Without a prefix the sequence numbers have no gaps,
and lost ones are printed as `lost 41..97`; the journal has them (widgetlab tail --since seq:41 --until seq:97).
"""
import json
import struct
import sys
import uuid
from pathlib import Path

import zmq

HEADER = struct.Struct("<B31sQq16s16s16sIIHHIH6x")  # 120 bytes, little-endian

instance = Path(sys.argv[1])
prefix = sys.argv[2] if len(sys.argv) > 2 else ""
count = int(sys.argv[3]) if len(sys.argv) > 3 else None

bus = json.loads((instance / "bus" / "bus.json").read_text())
key = json.loads((instance / "keys" / "operator" / "key.json").read_text())

tap = zmq.Context().socket(zmq.SUB)
tap.curve_serverkey = bus["publicKey"].encode()
tap.curve_publickey = key["publicKey"].encode()
tap.curve_secretkey = key["secretKey"].encode()
tap.setsockopt(zmq.SUBSCRIBE, b"\x01" + prefix.encode())  # version 1, then the message type
tap.connect(bus["tap"])

last = None
while count is None or count > 0:
    frame = tap.recv()
    (version, kind, sequence, sent, identifier, cause, correlation, generation, to_generation,
     source_length, destination_length, body_length, attempt) = HEADER.unpack_from(frame)
    if not prefix and last is not None and sequence > last + 1:
        print(f"lost {last + 1}..{sequence - 1}", flush=True)
    last = sequence
    addresses = frame[HEADER.size:HEADER.size + source_length + destination_length].decode()
    body = frame[len(frame) - body_length:]
    print(sequence, kind.rstrip(b"\0").decode(), addresses[:source_length], ">", addresses[source_length:],
          f"generation {generation}", uuid.UUID(bytes=identifier), body.decode(), flush=True)
    count = count and count - 1
