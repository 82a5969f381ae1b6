# SPDX-License-Identifier: Apache-2.0

"""A test of a push backend against WidgetLab's push server, with Testcontainers for Python.

    pip install testcontainers 'httpx[http2]' 'pyjwt[crypto]'
    python3 -m unittest test_push.py     # or pytest

The image is `widgetlab`, or the one that WIDGETLAB_IMAGE names.
"""

import json
import os
import pathlib
import ssl
import time
import unittest

import httpx
import jwt
from testcontainers.core.container import DockerContainer
from testcontainers.core.wait_strategies import LogMessageWaitStrategy

TOPIC = "com.example.CaffeineTracker.push-type.widgets"


class PushTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        configuration = pathlib.Path(__file__).with_name("widgetlab.yaml")
        cls.server = DockerContainer(os.environ.get("WIDGETLAB_IMAGE", "widgetlab"))
        cls.server.with_command("widgetlab up").with_exposed_ports(2197)
        cls.server.with_copy_into_container(configuration, "/cluster/widgetlab.yaml")
        cls.server.waiting_for(LogMessageWaitStrategy("ready"))
        cls.enterClassContext(cls.server)
        cls.device_token = cls.token_of_the_widget()

        # What a backend is configured with: URL, authority, key, and the ids of key and team.
        env = json.loads(cls.run_in_server("widgetlab", "env", "--json"))
        claims = {"iss": env["teamID"], "iat": int(time.time())}
        key = cls.run_in_server("cat", env["key"])
        provider_token = jwt.encode(claims, key, algorithm="ES256", headers={"kid": env["keyID"]})
        host, port = cls.server.get_container_host_ip(), cls.server.get_exposed_port(2197)
        authority = ssl.create_default_context(cadata=cls.run_in_server("cat", env["certificateAuthority"]))
        cls.client = cls.enterClassContext(httpx.Client(
            http2=True, verify=authority, base_url=f"https://{host}:{port}",
            headers={"authorization": f"bearer {provider_token}", "apns-push-type": "widgets", "apns-topic": TOPIC}))

    @classmethod
    def run_in_server(cls, *command):
        result = cls.server.exec(list(command))
        assert result.exit_code == 0, result.output.decode()
        return result.output.decode()

    @classmethod
    def token_of_the_widget(cls):
        cls.run_in_server("widgetlab", "reload", "CaffeineTracker")  # places the widget, which requests a token
        for _ in range(300):
            if tokens := json.loads(cls.run_in_server("widgetlab", "token", "list", "--json"))["tokens"]:
                return tokens[0]["token"]
            time.sleep(0.1)
        raise TimeoutError("the widget has no device token")

    def push(self, device_token):
        # The certificate has the name localhost, and the engine may be at another address.
        return self.client.post(
            f"/3/device/{device_token}", json={"aps": {"content-changed": True}}, extensions={"sni_hostname": "localhost"})

    def test_a_push_is_accepted(self):
        response = self.push(self.device_token)
        self.assertEqual((response.status_code, response.http_version), (200, "HTTP/2"))

    def test_an_unknown_token_is_refused(self):
        response = self.push("00" * 32)
        self.assertEqual((response.status_code, response.json()["reason"]), (400, "BadDeviceToken"))


if __name__ == "__main__":
    unittest.main()
