# SPDX-License-Identifier: Apache-2.0

"""Sends notifications with the package aioapns to the host name push-server, until standard input ends.

Usage: apns_load.py CREDENTIALS RATE CONNECTIONS TARGET…, with TARGET = TOKEN,TYPE,TOPIC. RATE is in pushes a second. Each
connection is its own client for one target, which reconnects as aioapns does. Prints one JSON object: {"accepted": [apns-id …],
"answers": {reason: count}, "failures": {text: count}, "connections": count, "replicas": [address …]}.
"""

import asyncio
import collections
import enum
import json
import logging
import ssl
import sys
import uuid

import aioapns
import aioapns.connection

# Connections that end are expected.
logging.getLogger("aioapns").setLevel(logging.CRITICAL)


class AnyPush(enum.Enum):
    """Versions before 4.0 lack some types."""

    ALERT = "alert"
    WIDGETS = "widgets"


class Load:
    def __init__(self, credentials, targets):
        self.credentials = credentials
        self.targets = targets
        self.accepted = []
        self.answers = collections.Counter()
        self.failures = collections.Counter()
        self.replicas = []
        self.clients = []
        protocol = aioapns.connection.APNsDevelopmentClientProtocol
        protocol.APNS_SERVER, protocol.APNS_PORT = "push-server", 2197
        connect = protocol.connection_made
        load = self

        def made(self, transport):
            load.replicas.append(transport.get_extra_info("peername")[0])
            return connect(self, transport)

        protocol.connection_made = made

    def client(self, topic):
        context = ssl.create_default_context(cafile=f"{self.credentials}/ca.pem")
        return aioapns.APNs(
            key=f"{self.credentials}/AuthKey_LABDEVKEY0.p8", key_id="LABDEVKEY0", team_id="LABTEAM000", topic=topic,
            use_sandbox=True, max_connections=1, ssl_context=context)

    async def push(self, number):
        client, (token, kind, _) = self.clients[number % len(self.clients)]
        name = str(uuid.uuid4())
        request = aioapns.NotificationRequest(
            device_token=token, message={"aps": {"alert": f"number {number}", "content-changed": True}},
            notification_id=name, push_type=AnyPush(kind))
        try:
            answer = await asyncio.wait_for(client.send_notification(request), 30)
        except Exception as error:  # the outcome of this push is unknown, and it is not counted as accepted
            self.failures[f"{type(error).__name__}: {error}"] += 1
            return
        self.answers["ok" if answer.is_successful else answer.description] += 1
        if answer.is_successful:
            self.accepted.append(name)

    async def run(self, rate, connections):
        loop = asyncio.get_running_loop()
        is_over = asyncio.Event()
        loop.add_reader(sys.stdin, lambda: sys.stdin.buffer.read1(1) or is_over.set())
        targets = [self.targets[number % len(self.targets)] for number in range(connections)]
        self.clients = [(self.client(target[2]), target) for target in targets]
        # The first push of each is sent alone, because concurrent first pushes would open several connections.
        await asyncio.gather(*(self.push(number) for number in range(connections)))
        print("ready", flush=True)
        tasks, number, began = set(), 0, loop.time()
        while not is_over.is_set():
            number += 1
            task = asyncio.create_task(self.push(number))
            tasks.add(task)
            task.add_done_callback(tasks.discard)
            pause = began + number / rate - loop.time()
            if pause > 0:
                try:
                    await asyncio.wait_for(is_over.wait(), pause)
                except asyncio.TimeoutError:
                    pass
        await asyncio.gather(*tasks)
        print(json.dumps({
            "accepted": self.accepted, "answers": self.answers, "failures": self.failures,
            "connections": len(self.replicas), "replicas": sorted(set(self.replicas))}))


asyncio.run(Load(sys.argv[1], [target.split(",") for target in sys.argv[4:]]).run(float(sys.argv[2]), int(sys.argv[3])))
