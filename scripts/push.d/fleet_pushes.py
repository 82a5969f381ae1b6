# SPDX-License-Identifier: Apache-2.0

"""Pushes to the devices of a fleet with httpx over HTTP/2, as a backend does, and counts the responses.

Usage: fleet_pushes.py PLAN.json TOKENS
TOKENS has a line {"device", "use", "topic", "token"} for each token, as the registration of a fleet writes it.
PLAN.json has {"announcements": the paths of push-server.json of each replica, "rounds": pushes to each token, "concurrency",
"expiration" and "priority" or null}. The replicas get the pushes in turn. Each token gets a push of the type of its use; that of an app alternates between
alert and background. The pushes to one token follow each other: the next one is sent when the last one was answered.
Prints {"<type> <status or reason>": count}.
"""

import asyncio
import collections
import itertools
import json
import ssl
import sys
import time

import httpx
import jwt

TYPES = {
    "app": "alert", "widgets": "widgets", "control": "controls", "complication": "complication",
    "fileprovider": "fileprovider", "liveactivity": "liveactivity", "location": "location", "mdm": "mdm",
    "pushtotalk": "pushtotalk", "voip": "voip"}


def request(line, number):
    """The push type and the payload for a token."""
    use = line["use"]
    kind = TYPES[use.split("-")[0]]
    if kind == "alert" and number % 2:
        return "background", {"aps": {"content-available": 1}}
    if use == "liveactivity-start":
        return kind, {"aps": {"event": "start", "timestamp": int(time.time()), "attributes-type": "Ride", "attributes": {},
                              "content-state": {"minutes": 5}, "alert": {"title": "Ride", "body": "soon"}}}
    if kind == "liveactivity":
        event = "update" if number % 3 < 2 else "end"
        return kind, {"aps": {"event": event, "timestamp": int(time.time()), "content-state": {"minutes": number}}}
    if kind in ("widgets", "controls"):
        return kind, {"aps": {"content-changed": True}}
    if kind == "mdm":
        return kind, {"mdm": "PUSH-MAGIC"}
    return kind, {"aps": {"alert": f"number {number}"}}


def read(path):
    """The announcement of a push server; `None` while it has not announced itself."""
    try:
        with open(path) as file:
            return json.load(file)
    except (OSError, ValueError):
        return None


async def send(plan, lines):
    places = [read(path) for path in plan["announcements"]]
    place = places[0]
    with open(place["key"]) as file:
        key = file.read()
    token = jwt.encode({"iss": place["teamID"], "iat": int(time.time())}, key, algorithm="ES256", headers={"kid": place["keyID"]})
    answers = collections.Counter()
    turns = itertools.cycle(range(len(places)))
    work = iter([(line, number) for number in range(plan["rounds"]) for line in lines])
    # APNs states no order for pushes that are sent at the same time.
    order = collections.defaultdict(asyncio.Lock)

    async def push(client, line, number):
        async with order[line["token"]]:
            kind, payload = request(line, number)
            headers = {"authorization": f"bearer {token}", "apns-push-type": kind, "apns-topic": line["topic"]}
            if kind == "background":
                headers["apns-priority"] = "5"
            elif plan.get("priority"):
                headers["apns-priority"] = str(plan["priority"])
            if plan.get("expiration") is not None:
                headers["apns-expiration"] = str(plan["expiration"])
            while True:
                turn = next(turns)
                try:
                    answer = await client.post(f"{places[turn]['development']}/3/device/{line['token']}", headers=headers, json=payload)
                except httpx.HTTPError:
                    # The connection ended: it is not known whether the push was accepted, so it is sent again.
                    answers["retried"] += 1
                    await asyncio.sleep(0.05)
                    # Another process instance has another port.
                    places[turn] = read(plan["announcements"][turn]) or places[turn]
                    continue
                if answer.status_code == 503:
                    # A replica without its database did not accept it.
                    answers["refused"] += 1
                    await asyncio.sleep(0.05)
                    continue
                break
            answers[f"{kind} {200 if answer.status_code == 200 else answer.json().get('reason')}"] += 1

    async def worker(client):
        for line, number in work:
            await push(client, line, number)

    context = ssl.create_default_context(cafile=place["certificateAuthority"])
    async with httpx.AsyncClient(http2=True, verify=context, timeout=120) as client:
        # A connection has one stream until its first request with a valid token was answered.
        first = asyncio.ensure_future(worker(client))
        await asyncio.sleep(0.2)
        await asyncio.gather(first, *(worker(client) for _ in range(plan["concurrency"] - 1)))
    return answers


def main():
    with open(sys.argv[1]) as file:
        plan = json.load(file)
    with open(sys.argv[2]) as file:
        lines = [json.loads(line) for line in file if line.strip()]
    print(json.dumps(dict(sorted(asyncio.run(send(plan, lines)).items()))))


if __name__ == "__main__":
    main()
