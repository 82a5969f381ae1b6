# SPDX-License-Identifier: Apache-2.0

"""The pictures of the README: the screen, and the trace of a download whose extension was killed."""

import base64
import pathlib

from console_browser import Browser
from console_cluster import Cluster


def keep(browser, path):
    data = browser.command("Page.captureScreenshot", format="png")["data"]
    pathlib.Path(path).write_bytes(base64.b64decode(data))
    print(f"{path}: {pathlib.Path(path).stat().st_size} bytes")


def make_pictures(folder):
    """Makes console-screen.png and console-trace.png."""
    pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
    cluster = Cluster()
    browser = None
    try:
        cluster.run("app", "open")
        cluster.run("app", "background")
        cluster.run("reload", "CaffeineTracker")
        cluster.run("wait", "--for", "kind == transfer.progress && step == started")
        cluster.run("kill", "extension")
        cluster.run("wait", "--for", "session:*.figures=acknowledged")
        cluster.run("add", "CaffeineTracker", "--family", "systemMedium")
        cluster.post_drink("Flat white", 130)
        browser = Browser(1120, 700)
        browser.enter(cluster.link)
        browser.wait(lambda: len(browser.all(".card")) > 1 and "Flat white" in browser.text(".cards"), "the widgets")
        browser.wait(lambda: browser.script("return [...document.querySelectorAll('.tile img')].every(each => each.complete && each.naturalWidth)"), "the pictures")
        keep(browser, f"{folder}/console-screen.png")
        browser.open("/traces?type=session")
        # the download during which the extension ended
        browser.click(browser.wait(lambda: browser.script(
            "return [...document.querySelectorAll('#main tr')].find(row => /figures/.test(row.textContent) && row.querySelector('td .bad'))?.querySelector('a')"), "the download"))
        browser.wait(lambda: len(browser.all("svg.lane .arrow")) > 5, "the lanes")
        browser.resize(1120, 600)
        browser.has_text(".pagehead", "acknowledged")
        # The folder of the executables is that of this machine.
        browser.script("""
          const table = document.querySelector('windowed-table')
          table.setRows(table.rows.map(row => ({ ...row, note: row.note?.replace(/ \\/\\S*\\//, ' ') })))
          table.top = table.rows.findIndex(row => row.mark === 'exit') - 4
          table.draw(true)""")
        browser.wait(lambda: browser.all("svg.lane .cross"), "the death")
        keep(browser, f"{folder}/console-trace.png")
    finally:
        if browser:
            browser.quit()
        cluster.stop()
