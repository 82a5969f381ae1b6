# SPDX-License-Identifier: Apache-2.0

"""Sends widget pushes with the package aioapns over one connection, and prints the number of responses of each status.

Usage: aioapns_pushes.py PLAN.json, with {"url", "ca", "key", "key_id", "team_id", "topic", "tokens": […], "count"}: push
number n goes to the token number n modulo their count. Prints {"200": …, "<reason>": …, "connections": …}.
"""

import asyncio
import collections
import enum
import json
import logging
import ssl
import sys

import aioapns
import aioapns.connection

# Refusals are expected and not logged.
logging.getLogger("aioapns").setLevel(logging.CRITICAL)


class WidgetPush(enum.Enum):
    """Versions before 4.0 lack the type."""

    WIDGETS = "widgets"


async def send(plan):
    host, port = plan["url"].split("//")[1].split(":")
    protocol = aioapns.connection.APNsDevelopmentClientProtocol
    protocol.APNS_SERVER, protocol.APNS_PORT = host, int(port)
    made = []
    connect = protocol.connection_made
    protocol.connection_made = lambda self, transport: (made.append(self), connect(self, transport))[1]
    context = ssl.create_default_context(cafile=plan["ca"])
    client = aioapns.APNs(
        key=plan["key"], key_id=plan["key_id"], team_id=plan["team_id"], topic=plan["topic"], use_sandbox=True,
        max_connections=1, ssl_context=context)

    async def push(number):
        request = aioapns.NotificationRequest(
            device_token=plan["tokens"][number % len(plan["tokens"])], message={"aps": {"content-changed": True}},
            push_type=WidgetPush.WIDGETS)
        answer = await client.send_notification(request)
        return "200" if answer.is_successful else answer.description

    # The first push is sent alone, because concurrent first pushes would open several connections.
    answers = [await push(0)] + await asyncio.gather(*(push(number) for number in range(1, plan["count"])))
    print(json.dumps({**collections.Counter(answers), "connections": len(made)}))


with open(sys.argv[1]) as file:
    asyncio.run(asyncio.wait_for(send(json.load(file)), 600))
