# SPDX-License-Identifier: Apache-2.0

"""Deaths of the console and of the broker, texts that are markup, a stream of messages, and a copied journal."""

import shutil
import signal

from console_browser import Keys
from console_cluster import until
from console_session import ConsoleTest

MARKUP = '<img src=x onerror="alert(1)"><script>alert(2)</script>'


class J_Markup(ConsoleTest):
    def test_a_text_of_a_widget_that_is_markup_stays_a_text(self):
        browser = self.browser
        browser.open("/screen")
        self.cluster.post_drink(MARKUP, 80)
        browser.has_text(".cards", MARKUP)
        browser.wait(lambda: MARKUP in (browser.all(".tile img")[0].get_attribute("alt") or ""), "the text is the picture's alternative text")
        browser.shot("light-markup")
        self.assertEqual(browser.script("return document.querySelectorAll('main img[src=x], main script').length"), 0)

    def test_a_body_that_is_markup_stays_a_text(self):
        browser = self.browser
        payload = self.cluster.folder / "payload.json"
        payload.write_text('{"aps":{"content-changed":true},"text":"<img src=x onerror=alert(1)>"}')
        self.cluster.run("push", "--payload", str(payload))
        browser.open("/bus?where=kind%20%3D%3D%20push.send")
        browser.find("windowed-table tbody tr")
        browser.press("k")
        browser.focused.click()
        browser.has_text(".detail pre", "<img src=x onerror=alert(1)>")
        self.assertEqual(browser.script("return document.querySelectorAll('main img, main script').length"), 0)


class K_Deaths(ConsoleTest):
    def last(self):
        return self.browser.script("return document.querySelector('windowed-table').last")

    def numbers(self):
        return self.browser.script("return document.querySelector('windowed-table').rows.map(row => row.sequence)")

    def check_no_gap(self):
        numbers = self.numbers()
        self.assertEqual(numbers, list(range(numbers[0], numbers[-1] + 1)), "the list has a gap or a repetition")

    def test_the_page_connects_again_after_the_console_was_killed(self):
        browser = self.browser
        browser.open("/bus")
        browser.has_text("#bus-state", "Live")
        pid = self.cluster.kill_console()
        browser.has_text("#banner", "The console is not reachable.")
        browser.shot("light-banner-console")
        until(lambda: (self.cluster.announcement() or {}).get("pid") not in (None, pid), "the console was started again")
        browser.wait(lambda: not browser.text("#banner"), "the banner is gone")
        before = self.last()
        self.cluster.run("ps")
        browser.wait(lambda: self.last() > before, "messages arrive again")
        self.check_no_gap()

    def test_the_page_continues_after_the_broker_was_killed(self):
        browser = self.browser
        browser.open("/bus")
        browser.has_text("#bus-state", "Live")
        self.cluster.run("kill", "bus")
        browser.wait(lambda: "bus.started" in browser.text("windowed-table"), "the new broker's first message")
        self.cluster.run("wait", "--for", "host=ready")
        browser.wait(lambda: not browser.text("#banner"), "no banner")
        self.check_no_gap()
        browser.open("/screen")
        browser.click(browser.button("Reload", ".card"))
        browser.done("widgetlab reload CaffeineTracker")

    def test_a_bus_and_a_host_that_are_not_restarted_are_named(self):
        browser = self.browser
        browser.open("/processes")
        for name, banner in (("bus", "The bus is not reachable."), ("host", "The host is not reachable.")):
            # `up` would restart the process.
            self.cluster.up.send_signal(signal.SIGSTOP)
            try:
                self.cluster.run("kill", name)
                browser.has_text("#banner", banner)
                browser.has_text("#banner", "widgetlab up")
                browser.shot(f"light-banner-{name}")
            finally:
                self.cluster.up.send_signal(signal.SIGCONT)
            browser.wait(lambda: not browser.text("#banner"), f"the {name} is back")
            self.cluster.run("wait", "--for", "host=ready")

    def test_a_process_that_is_stopped_from_outside_is_shown(self):
        browser = self.browser
        browser.open("/processes")
        self.cluster.run("suspend", "host")
        try:
            browser.has_text("tr[data-key*='host']", "stopped")
        finally:
            self.cluster.run("resume", "host")
        browser.has_text("tr[data-key*='host']", "running")

    def test_two_thousand_messages_are_shown_without_a_long_task(self):
        browser = self.browser
        browser.open("/bus")
        browser.has_text("#bus-state", "Live")
        browser.script("watched.longest = 0")
        browser.script("""
          const table = document.querySelector('windowed-table')
          const make = sequence => ({ ...table.rows.at(-1), sequence, time: sequence / 1000 })
          window.fed = new Promise(done => {
            let batch = 0
            const timer = setInterval(() => {
              const rows = Array.from({ length: 100 }, (_, index) => make(table.last + 1 + index))
              table.add(rows, rows.at(-1).sequence)
              if (++batch === 40) { clearInterval(timer); done() }
            }, 50)
          })""")
        browser.driver.execute_async_script("fed.then(arguments[arguments.length - 1])")
        self.assertLess(browser.watched()["longest"], 250, "the main thread was blocked")
        self.check_no_gap()


class L_ReadOnly(ConsoleTest):
    def test_a_copied_journal_is_shown_without_actions(self):
        copied = self.cluster.folder / "copied"
        shutil.copytree(self.cluster.instance / "journal", copied)
        main = self.browser.url
        try:
            self.browser.enter(self.cluster.console("--journal", str(copied))["link"])
            self.browser.has_text("#facts", "read-only")
            for path in ("/screen", "/processes", "/traces", "/bus", "/budget", "/pushes"):
                self.browser.open(path)
                self.browser.has_text("#command", "Read-only")
                self.assertEqual(self.browser.all("#main [data-args], #main form"), [], f"{path} has no action")
                self.browser.shot(f"journal{path.replace('/', '-')}")
        finally:
            self.browser.url = main
            self.browser.open("/screen")


class M_MadeAgain(ConsoleTest):
    def test_a_page_shows_the_new_cluster_after_its_instance_was_removed_and_made_again(self):
        browser = self.browser
        browser.enter(self.cluster.console()["link"])
        browser.open("/bus")
        browser.has_text("#bus-state", "Live")
        browser.script("window.isFormer = true")
        self.cluster.make_again()
        browser.wait(lambda: browser.script("return !window.isFormer") and "Live" in browser.text("#bus-state"), "the page was loaded again")
        browser.focus("windowed-table")
        browser.press(Keys.HOME)
        browser.wait(lambda: "bus.started" in browser.text("windowed-table tbody tr"), "the first message of the new journal")
        browser.wait(lambda: not browser.text("#banner"), "the new host is connected")
        browser.open("/screen")
        browser.click(browser.button("Reload", ".card"))
        browser.done("widgetlab reload CaffeineTracker")
