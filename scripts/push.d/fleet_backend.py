# SPDX-License-Identifier: Apache-2.0

"""A backend with which a fleet registers its tokens, for tests. It may be slow, or fail.

Usage: fleet_backend.py FOLDER [FAILURES [DELAY]]

The first FAILURES requests get status 500, and each answer takes DELAY seconds. Writes the port to FOLDER/backend.port, and
a line for each registered token to FOLDER/backend.jsonl: the body of the request.
"""

import http.server
import itertools
import os
import sys
import threading
import time

folder, failures, delay = sys.argv[1], int((sys.argv[2:] + [0])[0]), float((sys.argv[3:] + [0])[0])
numbers, lock = itertools.count(), threading.Lock()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_PUT(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        time.sleep(delay)
        with lock:
            is_failure = next(numbers) < failures
            if not is_failure:
                with open(f"{folder}/backend.jsonl", "ab") as file:
                    file.write(body + b"\n")
        self.send_response(500 if is_failure else 204)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *words):
        pass


class Server(http.server.ThreadingHTTPServer):
    request_queue_size = 128
    daemon_threads = True


server = Server(("127.0.0.1", 0), Handler)
with open(f"{folder}/backend.port.new", "w") as file:
    file.write(str(server.server_port))
os.rename(f"{folder}/backend.port.new", f"{folder}/backend.port")
server.serve_forever()
