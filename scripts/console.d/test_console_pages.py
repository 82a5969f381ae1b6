# SPDX-License-Identifier: Apache-2.0

"""Pages, links, keys, lists, filters, and accessibility of the console's page."""

import pathlib

import axe_playwright_python
from console_browser import Browser, Keys
from console_session import ConsoleTest

PAGES = [
    ("/screen", "Home screen", "s"), ("/processes", "Processes", "p"), ("/traces", "Traces", "t"), ("/bus", "Bus", "b"),
    ("/budget", "Budget and time", "c"), ("/pushes", "Pushes and diagnoses", "d"),
]
AXE = (pathlib.Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text()


class A_Session(ConsoleTest):
    def test_the_token_leaves_the_address_and_the_session_stays(self):
        self.browser.enter(self.cluster.link)
        self.assertNotIn("token", self.browser.driver.current_url)
        self.assertEqual(self.browser.path, "/screen")
        self.browser.driver.refresh()
        self.browser.has_text("#main h1", "Home screen")

    def test_without_a_session_the_page_names_the_command_that_prints_the_link(self):
        other = Browser()
        try:
            other.enter(self.cluster.link.split("#")[0])
            other.has_text("#main", "No session")
            other.has_text("#banner", "widgetlab console")
            other.enter(self.cluster.link.split("#")[0] + "#token=wrong")
            other.has_text("#main", "No session")
        finally:
            other.quit()


class B_Pages(ConsoleTest):
    def test_each_page_opens_by_address_by_link_and_by_keys(self):
        for path, heading, key in PAGES:
            self.browser.open(path)
            self.browser.has_text("#main h1", heading)
            self.browser.press("g", "p" if key != "p" else "b")
            self.browser.wait(lambda: self.browser.path in ("/processes", "/bus"), "the keys go to another page")
            self.browser.click(f"#nav a[href='{path}']")
            self.browser.has_text("#main h1", heading)
            self.assertEqual(self.browser.path, path)
            self.browser.press("g", key)
            self.browser.has_text("#main h1", heading)
            self.assertIn(heading.replace("Home screen", "Screen"), self.browser.driver.title)

    def test_back_forward_and_reload_keep_the_place(self):
        browser = self.browser
        browser.open("/processes")
        browser.click("#nav a[href='/bus']")
        browser.find("windowed-table tbody tr")
        browser.click("#nav a[href='/budget']")
        browser.has_text("#main h1", "Budget and time")
        browser.driver.back()
        browser.has_text("#main h1", "Bus")
        browser.driver.back()
        browser.has_text("#main h1", "Processes")
        browser.driver.forward()
        browser.has_text("#main h1", "Bus")
        browser.driver.refresh()
        browser.has_text("#main h1", "Bus")

    def test_an_unknown_address_is_explained(self):
        self.browser.driver.get(self.browser.url + "/screen")
        self.browser.script("history.pushState(null, '', '/nothing'); dispatchEvent(new PopStateEvent('popstate'))")
        self.browser.has_text("#main h1", "No such page")

    def test_the_list_of_keys_opens_and_single_keys_can_be_off(self):
        browser = self.browser
        browser.open("/screen")
        browser.press("?")
        browser.has_text("dialog", "Single keys are on")
        browser.click("dialog input")
        browser.press(Keys.ESCAPE)
        browser.wait(lambda: not browser.all("dialog"), "the dialog is closed")
        browser.press("g", "b")
        self.assertEqual(browser.path, "/screen")
        browser.click("#keys")
        browser.click("dialog input")
        browser.click(browser.button("Close", "dialog"))
        browser.press("g", "b")
        browser.wait(lambda: browser.path == "/bus", "keys are on again")

    def test_the_color_scheme_follows_the_system_and_can_be_chosen(self):
        browser = self.browser
        browser.open("/screen")

        def ground():
            return browser.script("return getComputedStyle(document.body).backgroundColor")

        light = ground()
        browser.scheme("dark")
        browser.wait(lambda: ground() != light, "the page is dark as the system is")
        dark = ground()
        browser.click("#theme")
        browser.scheme("light")
        self.assertEqual(ground(), dark)
        browser.driver.refresh()
        browser.has_text("#main h1", "Home screen")
        self.assertEqual(ground(), dark)
        browser.click("#theme")
        browser.scheme("dark")
        self.assertEqual(ground(), light)
        browser.click("#theme")
        browser.wait(lambda: ground() == dark, "the page is as the system again")

    def test_no_page_is_wider_than_a_narrow_window_or_a_zoomed_one(self):
        for name, size in (("narrow", (360, 780)), ("zoom", (640, 430, 2))):
            self.browser.resize(*size)
            for path, heading, _ in PAGES:
                self.browser.open(path)
                self.browser.has_text("#main h1", heading)
                self.browser.shot(f"{name}{path.replace('/', '-')}")
                extra = self.browser.script(
                    "return [document.documentElement, main].map(each => each.scrollWidth - each.clientWidth)")
                self.assertEqual(extra, [0, 0], f"{path} at {size} scrolls sideways")


class C_Bus(ConsoleTest):
    def row(self, index=0):
        return self.browser.script("return document.querySelectorAll('windowed-table tbody tr')[arguments[0]]?.innerText", index)

    def test_messages_arrive_live_and_at_most_200_rows_are_in_the_document(self):
        browser = self.browser
        browser.open("/bus")
        browser.has_text("#bus-state", "Live")
        before = browser.script("return document.querySelector('windowed-table').last")
        self.cluster.run("ps")
        browser.wait(lambda: browser.script("return document.querySelector('windowed-table').last") > before, "new messages")
        browser.resize(1280, 8000)
        browser.wait(lambda: len(browser.all("windowed-table tbody tr")) > 30, "a high window shows more rows")
        self.assertLessEqual(len(browser.all("windowed-table tbody tr")), 200)

    def test_scrolling_up_pauses_and_a_button_leads_back(self):
        browser = self.browser
        browser.open("/bus")
        browser.has_text("#bus-state", "Live")
        browser.focus("windowed-table")
        browser.press(Keys.PAGE_UP)
        browser.has_text("#bus-state", "Paused")
        shown = self.row()
        self.cluster.run("ps")
        browser.has_text("#newer", "new")
        self.assertEqual(self.row(), shown)
        browser.shot("light-bus-paused")
        browser.click("#newer")
        browser.has_text("#bus-state", "Live")
        browser.press(Keys.HOME)
        browser.wait(lambda: (self.row() or "").startswith("1\n") or (self.row() or "").split()[0] == "1", "the first message")
        browser.press(Keys.END)
        browser.has_text("#bus-state", "Live")
        browser.script("document.querySelector('windowed-table').scrollTop = 0")
        browser.has_text("#bus-state", "Paused")
        browser.wait(lambda: (self.row() or "").split()[0] == "1", "the scroll bar reaches the first message")

    def test_a_filter_is_in_the_address_and_selects_rows(self):
        browser = self.browser
        browser.open("/bus")
        browser.find("windowed-table tbody tr")
        browser.press("/")
        browser.press("kind == process.*", Keys.ENTER)
        browser.wait(lambda: browser.path == "/bus?where=kind%20%3D%3D%20process.*", "the filter is in the address")

        def kinds():
            return browser.script("return [...document.querySelectorAll('windowed-table td.cell-kind')].map(cell => cell.textContent)")

        browser.wait(lambda: kinds() and all("process." in kind for kind in kinds()), "only processes")
        browser.driver.refresh()
        browser.wait(lambda: kinds() and all("process." in kind for kind in kinds()), "the same after a reload")
        self.assertEqual(browser.script("return document.getElementById('filter').value"), "kind == process.*")
        browser.click(browser.find(".clear"))
        browser.wait(lambda: browser.path == "/bus" and any("process." not in kind for kind in kinds()), "all messages")
        browser.driver.back()
        browser.wait(lambda: kinds() and all("process." in kind for kind in kinds()), "back to the filter")
        browser.open("/bus?where=kind%20%3D%3D%20no.such.kind")
        browser.has_text("#bus-empty", "No message matches")

    def test_an_error_of_a_filter_is_shown_at_its_place(self):
        browser = self.browser
        browser.open("/bus")
        browser.find("windowed-table tbody tr")
        browser.press("/", "kind == a && knid == b", Keys.ENTER)
        browser.has_text("#filter-error", "'knid' is not a field")
        browser.has_text("#filter-error", "at character 14")
        self.assertEqual(browser.find("#filter").get_attribute("aria-invalid"), "true")
        selected = browser.script("const field = document.getElementById('filter'); return field.value.slice(field.selectionStart, field.selectionEnd)")
        self.assertEqual(selected, "knid", "the wrong word is selected")
        browser.shot("light-bus-error")

    def test_a_filter_is_completed_by_keyboard_and_by_mouse(self):
        browser = self.browser
        browser.open("/bus")
        browser.find("windowed-table tbody tr")
        browser.press("/", "ki")
        browser.has_text("#filter-list", "kind")
        browser.press(Keys.ARROW_DOWN, Keys.ENTER)
        browser.has_text("#filter-list", "!=")
        browser.press(Keys.ARROW_DOWN, Keys.TAB, "process.st")
        browser.has_text("#filter-list", "process.state")
        browser.shot("light-bus-completion")
        browser.click(browser.find("[role=option]"))
        browser.has_text("#filter-list", "&&")
        browser.press(Keys.ESCAPE)
        self.assertRegex(browser.script("return document.getElementById('filter').value"), r"^kind == process\.st\S+ $")
        browser.press(Keys.ENTER)
        browser.wait(lambda: "where=kind" in browser.path, "the filter is applied")

    def test_a_message_opens_by_key_and_by_mouse_with_its_body_and_its_cause(self):
        browser = self.browser
        browser.open("/bus?where=kind%20%3D%3D%20process.spawn%2Fok")
        browser.find("windowed-table tbody tr")
        browser.press("k", Keys.ENTER)
        browser.has_text(".detail h2", "Message")
        browser.has_text(".detail", "process.spawn/ok")
        browser.has_text(".detail", "Cause")
        browser.has_text(".detail pre", "generation")
        browser.shot("light-bus-message")
        address = browser.path
        browser.driver.refresh()
        browser.has_text(".detail", "process.spawn/ok")
        self.assertEqual(browser.path, address)
        browser.press(Keys.ESCAPE)
        browser.wait(lambda: not browser.all(".detail") and browser.path == "/bus?where=kind%20%3D%3D%20process.spawn%2Fok", "the message is closed")
        browser.driver.back()
        browser.has_text(".detail", "process.spawn/ok")
        browser.click(".detail dd a[href*='/bus/']")
        browser.wait(lambda: browser.path != address, "the cause opens")
        browser.has_text(".detail", "process.spawn")


class D_Accessibility(ConsoleTest):
    maxDiff = None

    def violations(self):
        self.browser.script("if (!window.axe) { " + AXE + " }")
        found = self.browser.driver.execute_async_script(
            "axe.run(document, { resultTypes: ['violations'] }).then(result => arguments[arguments.length - 1](result.violations))")
        return [f"{each['id']}: {each['help']}: {node['html'][:200]} {node.get('failureSummary', '')}" for each in found for node in each["nodes"][:3]]

    def check(self, scheme):
        browser = self.browser
        browser.scheme(scheme)
        browser.open("/traces")
        trace = browser.find("#main tbody a").get_attribute("href")[len(browser.url):]
        extra = [(trace, None, None), ("/bus/5", None, None), ("/budget/1?reload=1", None, None)]
        for path, heading, _ in PAGES + extra:
            browser.open(path)
            if heading:
                browser.has_text("#main h1", heading)
            else:
                browser.find("windowed-table tbody tr, .detail h2")
            if path == "/bus/5":
                browser.find("windowed-table [aria-current]")
            browser.shot(f"{scheme}{path.split('?')[0].replace('/', '-')[:30]}")
            self.assertEqual("\n".join(self.violations()), "", f"axe on {path} in {scheme}")
        browser.press("?")
        browser.find("dialog[open]")
        self.assertEqual("\n".join(self.violations()), "", f"axe on the list of keys in {scheme}")

    def test_axe_finds_nothing_on_any_page_in_light(self):
        self.check("light")

    def test_axe_finds_nothing_on_any_page_in_dark(self):
        self.check("dark")

    def test_the_focus_and_what_was_typed_survive_live_updates(self):
        browser = self.browser
        browser.open("/budget")
        browser.find("#rate-value").send_keys("60")
        browser.open("/processes")
        browser.focus("tr[data-key*='host'] a")
        link = browser.focused
        self.cluster.run("reload", "CaffeineTracker")
        before = browser.script("return performance.now()")
        browser.wait(lambda: browser.script("return performance.now()") - before > 1200, "an update")
        self.assertEqual(browser.focused, link)
