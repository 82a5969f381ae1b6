# SPDX-License-Identifier: Apache-2.0

"""Sends requests to a push server with an independent client, as a provider does, and prints the responses.

Usage: provider.py httpx|curl|h2 PLAN.json

A plan is a list of connections:
  {"url": …, "ca": FILE, "certificate": [FILE, KEY] or absent, "requests": […], "after": […], "until_closed": bool}
and a request is {"method", "scheme" (h2 only), "path", "headers": [[name, value], …], "body", "token"}, with the token
{"key": FILE, "kid", "iss", "iat"}.
`token` becomes `authorization: bearer …`, signed by PyJWT; {"openssl": true} signs as Apple's shell recipe does.
Prints a list for each connection: {"status", "reason", "timestamp", "headers"} of each request, in order. With
h2 also {"streams": the server's last limit of concurrent streams, "received": the time of the response}; and "until_closed" waits for the end of the
connection and adds {"goaway": its debug data}.
"""

import base64
import json
import os
import socket
import ssl
import subprocess
import sys
import tempfile
import time

import jwt


def base64url(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def provider_token(token):
    claims = {"iss": token["iss"], "iat": token.get("iat", int(time.time()) + token.get("ago", 0) * -1)}
    if token.get("openssl"):
        header = {"alg": "ES256", "kid": token["kid"]}
        signed = ".".join(base64url(json.dumps(part).encode()) for part in (header, claims))
        signature = subprocess.run(
            ["openssl", "dgst", "-binary", "-sha256", "-sign", token["key"]],
            input=signed.encode(), stdout=subprocess.PIPE, check=True).stdout
        return signed + "." + base64url(signature)
    with open(token["key"]) as file:
        key = file.read()
    return jwt.encode(claims, key, algorithm="ES256", headers={"kid": token["kid"]})


def headers_of(request, tokens):
    headers = [tuple(pair) for pair in request.get("headers", [])]
    token = request.get("token")
    if token:
        name = json.dumps(token, sort_keys=True)
        # One token for all requests of a connection that have the same parameters.
        tokens.setdefault(name, provider_token(token))
        headers.insert(0, ("authorization", "bearer " + tokens[name]))
    return headers


def result(status, headers, body):
    try:
        said = json.loads(body) if body else {}
    except ValueError:
        said = {"reason": "not JSON: " + repr(body)}
    return {
        "status": status, "reason": said.get("reason"), "timestamp": said.get("timestamp"),
        "headers": {name.lower(): value for name, value in headers},
    }


def with_httpx(connection):
    import httpcore
    import httpx

    context = ssl.create_default_context(cafile=connection["ca"])
    if connection.get("certificate"):
        context.load_cert_chain(*connection["certificate"])
    results, tokens = [], {}
    with httpx.Client(http2=True, verify=context, timeout=120) as client:
        for request in connection["requests"]:
            try:
                answer = client.request(
                    request.get("method", "POST"), connection["url"] + request["path"],
                    headers=headers_of(request, tokens), content=request.get("body", "").encode())
            except httpx.RemoteProtocolError as error:
                # httpx drops a response that a GOAWAY follows at once; the error has the GOAWAY's debug data.
                if not isinstance(error.__cause__, httpcore.RemoteProtocolError):
                    raise
                results.append({"goaway": (error.__cause__.args[0].additional_data or b"").decode()})
                break
            assert answer.http_version == "HTTP/2", answer.http_version
            results.append(result(answer.status_code, answer.headers.items(), answer.content))
    return results


def with_curl(connection):
    results, tokens = [], {}
    with tempfile.TemporaryDirectory() as folder:
        command = ["curl"]
        for number, request in enumerate(connection["requests"]):
            if number:
                command.append("--next")
            with open(f"{folder}/{number}.payload", "w") as file:
                file.write(request.get("body", ""))
            command += ["--silent", "--show-error", "--http2", "--max-time", "30", "--cacert", connection["ca"]]
            if connection.get("certificate"):
                command += ["--cert", connection["certificate"][0], "--key", connection["certificate"][1]]
            command += ["--request", request.get("method", "POST"), "--path-as-is"]
            for name, value in headers_of(request, tokens):
                command += ["--header", f"{name}: {value}"]
            command += ["--data-binary", f"@{folder}/{number}.payload"]
            command += ["--output", f"{folder}/{number}.body", "--dump-header", f"{folder}/{number}.headers"]
            command += ["--write-out", "%{http_version} %{http_code} %{num_connects}\n"]
            command.append(connection["url"] + request["path"])
        lines = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True).stdout.splitlines()
        assert len(lines) == len(connection["requests"]), lines
        for number, line in enumerate(lines):
            version, status, connects = line.split()
            assert version == "2", line
            assert number == 0 or connects == "0", "a second connection: " + line
            with open(f"{folder}/{number}.headers") as file:
                pairs = [text.strip().split(": ", 1) for text in file if ": " in text]
            body = ""
            if os.path.exists(f"{folder}/{number}.body"):
                with open(f"{folder}/{number}.body") as file:
                    body = file.read()
            results.append(result(int(status), pairs, body))
    return results


def received(stream):
    """Reads bytes; empty after the other side has closed the connection in any way."""
    try:
        return stream.recv(65536)
    except (ssl.SSLError, ConnectionResetError):
        return b""


def with_h2(connection):
    import h2.connection
    import h2.events

    context = ssl.create_default_context(cafile=connection["ca"])
    context.set_alpn_protocols(["h2"])
    host, port = connection["url"].split("//")[1].split(":")
    results, tokens = [], {}
    with socket.create_connection((host, int(port)), timeout=120) as plain:
        with context.wrap_socket(plain, server_hostname=host) as stream:
            wire = h2.connection.H2Connection()
            wire.initiate_connection()
            stream.sendall(wire.data_to_send())
            for request in connection["requests"]:
                number = wire.get_next_available_stream_id()
                pseudo = [
                    (":method", request.get("method", "POST")), (":scheme", request.get("scheme", "https")),
                    (":path", request["path"]),
                    (":authority", f"{host}:{port}"),
                ]
                wire.send_headers(number, pseudo + headers_of(request, tokens))
                wire.send_data(number, request.get("body", "").encode(), end_stream=True)
                stream.sendall(wire.data_to_send())
                status, headers, body, is_open, debug = 0, [], b"", True, None
                while is_open:
                    for event in wire.receive_data(stream.recv(65536)):
                        if isinstance(event, h2.events.ResponseReceived):
                            headers = [(name.decode(), value.decode()) for name, value in event.headers]
                            status = int(dict(headers)[":status"])
                        elif isinstance(event, h2.events.DataReceived):
                            body += event.data
                        elif isinstance(event, (h2.events.StreamEnded, h2.events.StreamReset)):
                            is_open = False
                        elif isinstance(event, h2.events.ConnectionTerminated):
                            debug = (event.additional_data or b"").decode()
                    stream.sendall(wire.data_to_send())
                results.append(result(status, headers, body))
                # Microseconds since 1970.
                results[-1]["received"] = time.time_ns() // 1000
                results[-1]["streams"] = wire.remote_settings.max_concurrent_streams
            if connection.get("until_closed"):
                # The reader of this line learns that the connection is open and idle.
                print("idle", file=sys.stderr, flush=True)
                while data := received(stream):
                    for event in wire.receive_data(data):
                        if isinstance(event, h2.events.ConnectionTerminated):
                            debug = (event.additional_data or b"").decode()
                results.append({"goaway": debug})
    return results


def main():
    client = {"httpx": with_httpx, "curl": with_curl, "h2": with_h2}[sys.argv[1]]
    with open(sys.argv[2]) as file:
        plan = json.load(file)
    print(json.dumps([client(connection) for connection in plan]))


main()
