// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import WidgetLabTesting

/// An HTTPS server with an untrusted certificate. It is written in Python, because a TLS server in Swift would need the
/// server stack.
struct SecureServer {
  private let child: LabChild
  private let folder: URL
  let url: URL

  init() async throws {
    folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let pem = folder.appendingPathComponent("identity.pem")
    let port = folder.appendingPathComponent("port")
    try SecureServer.identity.write(to: pem, atomically: true, encoding: .utf8)
    guard mkfifo(port.path, 0o600) == 0 else { throw URLError(.cannotCreateFile) }
    child = try await LabChild.start(
      "/usr/bin/python3", ["-c", SecureServer.program, pem.path, port.path], output: "/dev/null",
      errors: folder.appendingPathComponent("errors").path)
    let announced = await withCheckedContinuation { continuation in
      Thread.detachNewThread {
        let line = try? FileHandle(forReadingFrom: port).readToEnd()
        continuation.resume(returning: line.map { String(decoding: $0, as: UTF8.self) })
      }
    }
    guard let announced, let url = URL(string: "https://127.0.0.1:\(announced)/") else {
      throw URLError(.cannotConnectToHost)
    }
    self.url = url
  }

  func stop() async {
    child.signal(SIGKILL)
    _ = await child.ending()
    try? FileManager.default.removeItem(at: folder)
  }

  /// It exits with the process that started it.
  private static let program = """
    import ctypes, http.server, ssl, sys
    ctypes.CDLL(None).prctl(1, 9)
    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        def do_GET(self):
            body = b"secret"
            if self.path == "/encoding": body = self.headers["Accept-Encoding"].encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
        def log_message(self, *words): pass
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[1])
    server.socket = context.wrap_socket(server.socket, server_side=True)
    with open(sys.argv[2], "w") as port: port.write(str(server.server_address[1]))
    server.serve_forever()
    """

  /// Generated for this test and used nowhere else.
  private static let identity = """
    -----BEGIN PRIVATE KEY-----
    MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgbkSeKOGeHWbDnrj0
    2Qvtln1jGkJYRY5ReqXJnNkgci2hRANCAATJUm7bLjTsg2jme3LiFnkk3YhbVPjS
    3qCB6RUVUERu8HmhsDml7CEUPpwUSHQ865HIhT5Yzor8dOrKw9goz/L8
    -----END PRIVATE KEY-----
    -----BEGIN CERTIFICATE-----
    MIIBmjCCAUGgAwIBAgIUTyiW7DJ8oDTHbas3DLXd3hDLqccwCgYIKoZIzj0EAwIw
    FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTEyMTA3NDYxM1oYDzIxMjYxMDI4
    MDc0NjEzWjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
    PQMBBwNCAATJUm7bLjTsg2jme3LiFnkk3YhbVPjS3qCB6RUVUERu8HmhsDml7CEU
    PpwUSHQ865HIhT5Yzor8dOrKw9goz/L8o28wbTAdBgNVHQ4EFgQUIwM5RJY0bXIu
    tKNIlA01lmtVIxkwHwYDVR0jBBgwFoAUIwM5RJY0bXIutKNIlA01lmtVIxkwDwYD
    VR0TAQH/BAUwAwEB/zAaBgNVHREEEzARgglsb2NhbGhvc3SHBH8AAAEwCgYIKoZI
    zj0EAwIDRwAwRAIgJND6n+kah/9BL2URZMDe6roXrgU9XsCD3B38guQxtCgCIA7r
    m+4tLtK+HwL0UbBJKS6fmXeK73yV6n57c6TZBbSD
    -----END CERTIFICATE-----
    """
}
