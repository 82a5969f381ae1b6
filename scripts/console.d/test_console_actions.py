# SPDX-License-Identifier: Apache-2.0

"""Each action of the console's page, by mouse and by keyboard, with its command line and its effect."""

from console_browser import Keys
from console_session import ConsoleTest


class E_Screen(ConsoleTest):
    def open(self):
        self.browser.open("/screen")
        self.browser.find(".card")

    def do(self, button, command, scope="#main"):
        """Clicks a button, and waits for the result of its command."""
        self.browser.click(self.browser.button(button, scope))
        self.browser.done(f"widgetlab {command}")

    def test_each_placement_is_drawn_at_its_place_with_the_reason_why_it_is_no_newer(self):
        browser = self.browser
        self.cluster.run("reload", "CaffeineTracker")
        self.open()
        browser.wait(lambda: browser.script("const picture = document.querySelector('.tile img'); return picture?.complete && picture.naturalWidth > 50"), "the picture is drawn")
        self.assertTrue(browser.find(".tile img").get_attribute("alt"))
        self.assertTrue(browser.find(".card p").text)
        browser.click(".tile")
        browser.wait(lambda: browser.all(".card.chosen"), "the card of the picture is marked")

    def test_tap_reload_and_push_by_mouse(self):
        self.open()
        self.do("Reload", "reload CaffeineTracker", ".card")
        self.do("Push", "push com.example.CaffeineTracker", ".card")
        self.do("Tap", "tap 1", ".card")

    def test_tap_reload_and_push_by_keyboard(self):
        browser = self.browser
        self.open()
        browser.press("j")
        browser.press("r")
        browser.done("widgetlab reload CaffeineTracker")
        browser.press("p")
        browser.done("widgetlab push com.example.CaffeineTracker")
        browser.press("t")
        browser.done("widgetlab tap 1")
        browser.press("c")
        browser.has_text("#announcer", "Copied: widgetlab tap 1")

    def test_add_and_remove(self):
        browser = self.browser
        self.open()
        if browser.script("return document.querySelector('#main').innerText.includes('Open the app')"):
            # The gallery has the widgets of an app that was launched.
            self.do("Open the app", "app open")
            self.cluster.run("app", "background")
        browser.button("Add", "#main .form")
        before = len(browser.all(".card"))
        browser.click(browser.button("Add", "#main .form"))
        browser.wait(lambda: len(browser.all(".card")) == before + 1, "the new widget is on the screen")
        browser.wait(lambda: "widgetlab add CaffeineTracker --family" in browser.text("#command code"), "the command")
        browser.press("k")
        browser.focus(f"ol .card:nth-child({before + 1}) a")
        browser.press("x")
        browser.has_text(f".card:nth-child({before + 1})", "Remove it?")
        browser.press(Keys.ESCAPE)
        browser.wait(lambda: "Remove it?" not in browser.text(".cards"), "Escape ends the question")
        browser.press("x", "x")
        browser.wait(lambda: len(browser.all(".card")) == before, "the widget is removed")

    def test_lock_appearance_and_text_size(self):
        browser = self.browser
        self.open()
        self.do("Appearance: dark", "look dark")
        browser.find(".device.dark")
        self.do("Appearance: light", "look light")
        self.do("Lock", "lock")
        self.do("Unlock", "unlock")
        browser.choose("#text-size-size", "Xx")
        self.do("Set", "setting text-size xxLarge")
        browser.has_text("#text-size-size", "Xx large (now)")
        self.cluster.run("setting", "text-size", "default")

    def test_another_screen_without_a_widget_says_how_to_add_one(self):
        browser = self.browser
        self.open()
        browser.click(".choices a[href*='todayView']")
        browser.has_text("#main h1", "Today view")
        browser.has_text(".empty", "widgetlab add CaffeineTracker --location todayView")
        self.do("Look at Today view", "look todayView")
        self.cluster.run("look", "homeScreen")


class F_Processes(ConsoleTest):
    row = "tr[data-key*='extension']"

    def open(self):
        self.browser.open("/processes")
        self.cluster.run("reload", "CaffeineTracker")
        self.browser.find(f"{self.row} [data-hotkey=x]")

    def generation(self):
        return int(self.browser.text(f"{self.row} td:nth-child(3)") or 0)

    def test_kill_by_mouse_needs_two_presses_and_the_row_shows_the_death(self):
        browser = self.browser
        self.open()
        pid = browser.text(f"{self.row} td:nth-child(4)")
        # A live update may change the other columns.
        widths = "return [...document.querySelectorAll(arguments[0] + ' button')].map(button => button.getBoundingClientRect().width)"
        before = browser.script(widths, self.row)
        browser.click(f"{self.row} [data-hotkey=x]")
        browser.has_text(self.row, "Send SIGKILL?")
        self.assertEqual(browser.script(widths, self.row), before, "no button moves under the pointer")
        style = browser.script("const style = getComputedStyle(document.querySelector('[data-armed]:hover')); return [style.color, style.backgroundColor]")
        self.assertEqual(style, ["rgb(255, 255, 255)", "rgb(179, 32, 44)"], "the question can be read below the pointer")
        browser.shot("light-processes-kill")
        browser.click(f"{self.row} [data-hotkey=x]")
        browser.wait(lambda: browser.text(f"{self.row} td:nth-child(4)") != pid, "the process is dead")
        browser.has_text(self.row, "SIGKILL")
        browser.done("widgetlab kill extension")

    def test_kill_by_keyboard_is_two_keys_on_the_row(self):
        browser = self.browser
        self.open()
        pid = browser.text(f"{self.row} td:nth-child(4)")
        browser.focus(f"{self.row} a")
        browser.press("x", "x")
        browser.wait(lambda: browser.text(f"{self.row} td:nth-child(4)") != pid, "the process is dead")
        browser.has_text(self.row, "SIGKILL")
        browser.wait(lambda: browser.script("return Boolean(document.activeElement.closest(arguments[0]))", self.row), "the focus stays on the row")

    def test_stop_and_continue_by_key_and_by_mouse(self):
        browser = self.browser
        self.open()
        provider = "tr[data-key*='provider']"
        browser.focus(f"{provider} a")
        browser.press("z")
        browser.has_text(provider, "stopped")
        browser.click(browser.button("Continue", f"#main {provider}"))
        browser.has_text(provider, "running")

    def test_columns_sort_and_generations_are_drawn(self):
        browser = self.browser
        self.open()
        browser.click(browser.button("Memory"))
        browser.wait(lambda: browser.all("th[aria-sort=descending]"), "sorted by memory")
        browser.focus("th[aria-sort] button")
        browser.press(Keys.ENTER)
        browser.wait(lambda: browser.all("th[aria-sort=ascending]"), "sorted the other way")
        browser.wait(lambda: len(browser.all("#main svg.plot rect")) > 3, "lanes")
        self.assertIn("Generations from", browser.find("svg.plot").get_attribute("aria-label"))
        browser.click(".choices a[href*='600']")
        browser.wait(lambda: "range=600" in browser.path, "the range is in the address")


class G_Traces(ConsoleTest):
    def test_a_download_is_shown_in_lanes_and_copied_as_mermaid(self):
        browser = self.browser
        self.cluster.run("wait", "--for", "session=acknowledged")
        browser.open("/traces")
        browser.has_text("#main tbody", "figures")
        browser.click(".choices a[href*='session']")
        browser.wait(lambda: browser.path == "/traces?type=session", "the kind is in the address")
        browser.wait(lambda: browser.text("#main tbody tr td:nth-child(2)") == "session", "only sessions")
        while "figures" not in browser.focused.text:
            browser.press("j")
        browser.press(Keys.ENTER)
        browser.has_text("#main h1", "figures")
        browser.wait(lambda: len(browser.all("svg.lane .arrow")) > 5, "arrows between lanes")
        browser.press("m")
        browser.has_text("#announcer", "Copied: Copy as Mermaid")
        browser.press("j", "j")
        self.assertIn("/bus/", browser.focused.get_attribute("href"))
        browser.press(Keys.ENTER)
        browser.has_text(".detail h2", "Message")
        browser.driver.back()
        browser.has_text("#main h1", "figures")
        browser.press(Keys.ESCAPE)
        browser.wait(lambda: browser.path == "/traces", "Escape goes to all traces")


class H_Budget(ConsoleTest):
    def test_the_ledger_is_a_plot_with_a_sentence_and_each_decision_a_row(self):
        browser = self.browser
        browser.open("/budget/1")
        self.assertIn("Balance of placement 1", browser.find("svg.plot").get_attribute("aria-label"))
        browser.wait(lambda: browser.all("svg.plot g[class*=verdict]"), "decisions in the plot")
        while "reload=" not in (browser.focused.get_attribute("href") or ""):
            browser.press("j")
        browser.press(Keys.ENTER)
        browser.has_text(".detail h2", "Reload")
        browser.has_text(".detail", "Outcome")
        self.assertIn("reload=", browser.path)
        browser.press(Keys.ESCAPE)
        browser.wait(lambda: not browser.all(".detail"), "Escape closes the reload")
        browser.click(".choices a[href*='604800']")
        browser.wait(lambda: "span=604800" in browser.path, "the time range is in the address")

    def test_the_clock_is_held_advanced_set_and_reset(self):
        browser = self.browser
        browser.open("/budget")
        for button, command in (("Hold", "hold"), ("Advance 1 h", "advance 1h"), ("Run", "run")):
            browser.click(browser.button(button))
            browser.done(f"widgetlab clock {command}")
        browser.has_text("#main", "ahead of this machine")
        for field, value, command in (("rate", "60", "rate 60"), ("advance", "90s", "advance 90s"), ("rate", "1", "rate 1")):
            browser.find(f"#{field}-value").clear()
            browser.find(f"#{field}-value").send_keys(value, Keys.ENTER)
            browser.done(f"widgetlab clock {command}")
        browser.find("#advance-value").clear()
        browser.find("#advance-value").send_keys("soon", Keys.ENTER)
        browser.has_text("#command", "✕")
        browser.has_text("#command", "soon")
        browser.focus(browser.button("Reset"))
        browser.press(Keys.ENTER)
        browser.has_text("#main", "Reset the clock?")
        browser.press(Keys.ENTER)
        browser.done("widgetlab clock reset")


class I_Pushes(ConsoleTest):
    def test_a_push_is_sent_and_its_steps_are_shown(self):
        browser = self.browser
        browser.open("/pushes")
        browser.click(browser.button("Push"))
        browser.done("widgetlab push com.example.CaffeineTracker --type widgets")
        browser.has_text("#main tbody", "widgets")
        browser.press("j", Keys.ENTER)
        browser.has_text("tr.more", "accepted")
        browser.has_text("tr.more", "widgetlab push log")
        browser.shot("light-pushes-steps")

    def test_answers_on_demand_are_set_and_removed(self):
        browser = self.browser
        browser.open("/pushes")
        browser.choose("#answer-reason", "503")
        browser.click(browser.button("Set"))
        browser.done("widgetlab apns answer 503 ServiceUnavailable --times 1")
        browser.has_text("#main", "503 ServiceUnavailable for 1 request")
        browser.click(browser.button("Remove all"))
        browser.done("widgetlab apns answer 200 --times 0")
        browser.has_text("#main", "None is set.")

    def test_tokens_reasons_and_diagnoses_have_their_sections(self):
        browser = self.browser
        browser.open("/pushes#diagnoses")
        browser.has_text("#main", "com.example.CaffeineTracker")
        browser.wait(lambda: browser.script("return document.getElementById('diagnoses').getBoundingClientRect().top < innerHeight"), "the section is visible")
        browser.script("[...document.querySelectorAll('summary')].find(each => each.textContent.includes('reasons')).click()")
        browser.has_text("#main", "BadDeviceToken")
