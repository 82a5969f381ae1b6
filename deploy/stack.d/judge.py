# SPDX-License-Identifier: Apache-2.0

"""Checks that each notification that a client saw accepted has an end in the delivery log.

Usage: judge.py RESULT.json LOG.jsonl. RESULT is the last line of apns_load.py, LOG the output of `widgetlab push log
--json`. Prints a sentence; the exit code is 1 if a notification is lost, and 2 if one is still open.
"""

import collections
import json
import sys

ENDS = {"delivered", "superseded", "collapsed", "expired", "notStored", "tokenUnregistered"}

with open(sys.argv[1]) as file:
    result = json.loads(file.read().splitlines()[-1])
steps = collections.defaultdict(list)
with open(sys.argv[2]) as file:
    for line in file:
        record = json.loads(line)
        if record["status"] == 200:
            steps[record["apnsID"].lower()].append({step["name"] for step in record["steps"]})

lost = [name for name in result["accepted"] if name not in steps]
# A client that lost its connection sends the notification again with the same id: then both have an end.
open_ones = [name for name in result["accepted"] if name in steps and not all(seen & ENDS for seen in steps[name])]
repeated = sum(len(steps[name]) - 1 for name in result["accepted"] if name in steps)
ends = collections.Counter(end for name in result["accepted"] for seen in steps[name] for end in seen & ENDS)
print(
    f"{len(result['accepted'])} accepted over {result['connections']} connections to {len(result['replicas'])} addresses:"
    f" {dict(ends)}; {repeated} sent again by the client, other answers {({k: v for k, v in result['answers'].items() if k != 'ok'})},"
    f" without an answer {result['failures']}")
if lost:
    sys.exit(f"LOST: {len(lost)} accepted notifications are not in the delivery log, such as {lost[0]}")
if open_ones:
    print(f"{len(open_ones)} have no end yet, such as {open_ones[0]}: {steps[open_ones[0]]}")
    sys.exit(2)
