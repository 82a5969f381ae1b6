# SPDX-License-Identifier: Apache-2.0

"""A long journal for scripts/bench: the messages of a short real one, again and again."""

import glob
import os
import struct
import zlib

from bus import NOTHING, RECORD_HEAD, SEGMENT_HEAD

# Bytes after which the broker begins a new segment.
SEGMENT = 64 << 20
# Of a frame: sequence number and time, and the three identifiers that follow.
NUMBERS, IDENTIFIERS = 32, (48, 64, 80)


def frames(folder):
    """The frames of a journal."""
    found = []
    for path in sorted(glob.glob(f"{folder}/*.journal")):
        with open(path, "rb") as file:
            data = file.read()
        place = SEGMENT_HEAD
        while place + RECORD_HEAD <= len(data):
            length = struct.unpack_from("<I", data, place)[0]
            found.append(data[place + RECORD_HEAD : place + RECORD_HEAD + length])
            place += RECORD_HEAD + length
    return [frame for frame in found if len(frame) > IDENTIFIERS[-1] + 16]


def write_journal(folder, found, count):
    """Writes a journal of `count` messages, one in a millisecond. Each repetition has its own identifiers."""
    os.makedirs(folder)
    data, first = None, 1
    (start,) = struct.unpack_from("<q", found[0], NUMBERS + 8)

    def end():
        with open(f"{folder}/{first:020}.journal", "wb") as file:
            file.write(data)

    for number in range(1, count + 1):
        if data is None:
            first = number
            data = bytearray(struct.pack("<4sIQ", b"WLJ1", 1, first))
        # A segment begins with `bus.started`, as the journal does.
        repetition, index = divmod(number - 1, len(found))
        frame = bytearray(found[0 if number == first else index])
        struct.pack_into("<Qq", frame, NUMBERS, number, start + number * 1000)
        for place in IDENTIFIERS:
            if frame[place : place + 16] != NOTHING:
                (word,) = struct.unpack_from("<Q", frame, place)
                struct.pack_into("<Q", frame, place, word ^ repetition)
        data += struct.pack("<II", len(frame), zlib.crc32(frame)) + frame
        if len(data) > SEGMENT:
            end()
            data = None
    if data:
        end()
