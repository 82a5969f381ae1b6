# SPDX-License-Identifier: Apache-2.0

"""Asks sourcekit-lsp what an editor asks about a source file, until it knows.

Usage: editor.py PACKAGE FILE TEXT

PACKAGE is a folder that is built, FILE the path of a source in it. Prints the hover and the place of the definition of
the first occurrence of TEXT. Exits with 1 when one of them is unknown for two minutes.
"""

import json
import pathlib
import queue
import subprocess
import sys
import threading
import time

LIMIT = 120


class Server:
    """A language server, which answers on its standard output."""

    def __init__(self, folder):
        self.process = subprocess.Popen(
            ["sourcekit-lsp"], cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        self.messages = queue.Queue()
        self.number = 0
        self.deadline = time.monotonic() + LIMIT
        threading.Thread(target=self.receive, daemon=True).start()

    def receive(self):
        """Passes on what the server writes; `None` at its end."""
        while line := self.process.stdout.readline():
            length = int(line.split(b":")[1])
            while self.process.stdout.readline().strip():
                pass
            self.messages.put(json.loads(self.process.stdout.read(length)))
        self.messages.put(None)

    def send(self, **fields):
        """Sends a message."""
        body = json.dumps({"jsonrpc": "2.0", **fields}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.process.stdin.flush()

    def ask(self, method, parameters):
        """The result of a request."""
        self.number += 1
        self.send(id=self.number, method=method, params=parameters)
        while True:
            try:
                message = self.messages.get(timeout=max(0, self.deadline - time.monotonic()))
            except queue.Empty:
                sys.exit(f"error: sourcekit-lsp did not answer {method} within {LIMIT} s")
            if message is None:
                sys.exit(f"error: sourcekit-lsp ended before it answered {method}")
            if "method" in message and "id" in message:
                # It asks for what an editor may refuse.
                self.send(id=message["id"], result=None)
            elif message.get("id") == self.number:
                return message.get("result")

    def await_answer(self, method, parameters):
        """The first result that is not empty. The first ones are, while the server reads the package."""
        while not (result := self.ask(method, parameters)):
            if time.monotonic() > self.deadline:
                sys.exit(f"error: sourcekit-lsp has no answer to {method} after {LIMIT} s")
            time.sleep(0.5)
        return result


def main():
    package, file, text = sys.argv[1:4]
    path = pathlib.Path(file).resolve()
    source = path.read_text()
    lines = source[: source.index(text)].split("\n")
    server = Server(package)
    root = pathlib.Path(package).resolve().as_uri()
    server.ask("initialize", {"processId": None, "rootUri": root, "capabilities": {}})
    server.send(method="initialized", params={})
    document = {"uri": path.as_uri(), "languageId": "swift", "version": 1, "text": source}
    server.send(method="textDocument/didOpen", params={"textDocument": document})
    place = {
        "textDocument": {"uri": path.as_uri()},
        "position": {"line": len(lines) - 1, "character": len(lines[-1])},
    }
    hover = server.await_answer("textDocument/hover", place)
    print(hover["contents"]["value"].strip().replace("\n", " ")[:100])
    definition = server.await_answer("textDocument/definition", place)
    print(definition[0].get("uri") or definition[0]["targetUri"])
    server.process.kill()
    server.process.wait()


if __name__ == "__main__":
    main()
