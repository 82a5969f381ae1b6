# SPDX-License-Identifier: Apache-2.0

"""The cluster and the browser that all tests share: starting them takes longer than a test."""

import unittest

from console_browser import Browser
from console_cluster import Cluster


class Session:
    """Starts on demand, once."""

    cluster = None
    browser = None

    @classmethod
    def start(cls):
        if cls.cluster is None:
            cls.cluster = Cluster()
            cls.browser = Browser()
            cls.browser.enter(cls.cluster.link)

    @classmethod
    def stop(cls):
        if cls.browser:
            cls.browser.quit()
        if cls.cluster:
            cls.cluster.stop()


class ConsoleTest(unittest.TestCase):
    """A test of the page, in a window of usual size. No test may violate the policy or leave an error."""

    @classmethod
    def setUpClass(cls):
        Session.start()
        cls.cluster, cls.browser = Session.cluster, Session.browser

    def setUp(self):
        self.browser.resize(1280, 860)
        self.browser.scheme("light")

    def tearDown(self):
        seen = self.browser.watched()
        if seen:
            self.assertEqual(seen["violations"], [], "the content security policy was violated")
            self.assertEqual(seen["errors"], [], "a script failed")
            self.assertEqual(seen["dialogs"], [], "a text was executed")
