# SPDX-License-Identifier: Apache-2.0

"""A headless Chromium with the page of a console."""

import os
import pathlib
import shutil
import tempfile

from console_cluster import until
from selenium import webdriver
from selenium.common.exceptions import StaleElementReferenceException, WebDriverException
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

SHOTS = pathlib.Path(os.environ.get("WIDGETLAB_SHOTS", ".build/console"))

# Runs before the scripts of each page: violations of the policy, dialogs, errors and long tasks of the main thread.
WATCH = """
window.watched = { violations: [], errors: [], dialogs: [], longest: 0 }
addEventListener('securitypolicyviolation', event => watched.violations.push(event.violatedDirective + ' ' + event.blockedURI + ' ' + event.sample))
addEventListener('error', event => watched.errors.push(String(event.message)))
addEventListener('unhandledrejection', event => watched.errors.push(JSON.stringify(event.reason) + ' ' + (event.reason?.stack ?? '')))
for (const name of ['alert', 'confirm', 'prompt']) window[name] = text => { watched.dialogs.push(String(text)) }
new PerformanceObserver(list => {
  for (const entry of list.getEntries()) watched.longest = Math.max(watched.longest, entry.duration)
}).observe({ type: 'longtask', buffered: true })
"""


class Browser:
    """One tab. Waits for what it looks for; each wait has a limit that only guards against a hang."""

    def __init__(self, width=1280, height=860, scale=1, scheme="light"):
        self.profile = tempfile.mkdtemp(prefix="widgetlab-chromium.")
        options = Options()
        for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu",
                         "--disable-background-networking", f"--user-data-dir={self.profile}"):
            options.add_argument(argument)
        options.binary_location = next(path for path in ("/usr/bin/chromium", "/usr/bin/chromium-browser") if os.path.exists(path))
        self.driver = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
        self.driver.set_script_timeout(60)
        self.command("Page.addScriptToEvaluateOnNewDocument", source=WATCH)
        self.resize(width, height, scale)
        self.scheme(scheme)

    def quit(self):
        self.driver.quit()
        shutil.rmtree(self.profile, ignore_errors=True)

    def command(self, name, **parameters):
        """A command of the Chrome DevTools protocol."""
        return self.driver.execute_cdp_cmd(name, parameters)

    def resize(self, width, height, scale=1):
        """Sets the size of the window in CSS pixels. A scale of 2 and half the size is a zoom of 200 %."""
        self.command("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=scale, mobile=False)

    def scheme(self, name):
        self.command("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": name}])

    def script(self, text, *arguments):
        return self.driver.execute_script(text, *arguments)

    def enter(self, link):
        """Opens a console by its link, and keeps its address for `open`."""
        self.url = link.split("/#")[0]
        self.driver.get(link)
        self.wait(lambda: self.heading(), "the first page is shown")

    def open(self, path):
        """Opens an address of the console."""
        self.driver.get(self.url + path)
        self.wait(lambda: self.heading(), f"{path} is shown")

    @property
    def path(self):
        """The address without the host."""
        return self.driver.current_url[len(self.url):]

    def heading(self):
        return self.script("return document.querySelector('#main h1')?.textContent ?? ''")

    def wait(self, condition, what, limit=60):
        def attempt():
            try:
                return condition()
            except (StaleElementReferenceException, AttributeError):
                return None

        try:
            return until(attempt, what, limit)
        except (AssertionError, WebDriverException) as error:
            self.shot("failed")
            raise AssertionError(f"{error}\naddress: {self.driver.current_url}\npage:\n{self.text('body')[:1500]}") from None

    def all(self, selector):
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def find(self, selector):
        """The first element that matches, as soon as there is one."""
        return self.wait(lambda: next(iter(self.all(selector)), None), f"there is {selector}")

    def text(self, selector):
        return self.script("return document.querySelector(arguments[0])?.innerText ?? ''", selector)

    def has_text(self, selector, text, limit=60):
        """Waits until an element contains a text."""
        self.wait(lambda: text in self.text(selector), f"{selector} contains {text!r}", limit)

    def button(self, text, scope="#main"):
        """A button with a label that begins with a text."""
        def search():
            return self.script(
                "return [...document.querySelectorAll(arguments[1] + ' button')].find(button => button.textContent.startsWith(arguments[0]))", text, scope)

        return self.wait(search, f"there is a button {text} in {scope}")

    def choose(self, selector, text):
        """Chooses the option of a select that begins with a text, by keyboard."""
        self.focus(selector)
        self.press(text)

    def click(self, element):
        """Clicks with the mouse, at the place of an element."""
        if isinstance(element, str):
            element = self.find(element)
        self.script("arguments[0].scrollIntoView({ block: 'center' })", element)
        element.click()

    def press(self, *keys):
        """Presses keys, with the focus where it is."""
        for key in keys:
            ActionChains(self.driver).send_keys(key).perform()

    def focus(self, selector):
        self.script("arguments[0].focus()", self.find(selector) if isinstance(selector, str) else selector)

    @property
    def focused(self):
        """The element with the focus."""
        return self.script("return document.activeElement")

    def done(self, command):
        """Waits for the good result of a command, which begins with a text, in the line at the bottom."""
        self.wait(lambda: self.text("#command code").startswith(command) and "✓" in self.text("#command"), f"the result of `{command}`")

    def shot(self, name):
        """Keeps a picture of the window."""
        SHOTS.mkdir(parents=True, exist_ok=True)
        self.driver.save_screenshot(str(SHOTS / f"{name}.png"))

    def watched(self):
        """What `WATCH` saw on the current document."""
        return self.script("return window.watched")


__all__ = ["Browser", "Keys", "SHOTS"]
