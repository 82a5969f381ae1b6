import Foundation

/// An HTTPS server whose certificate nobody knows, in Python: our own processes have no TLS server without a server stack.
final class SecureServer {
  private let process = Process()
  private let input = Pipe()
  private let pem = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).pem")
  let url: URL

  init() throws {
    try SecureServer.identity.write(to: pem, atomically: true, encoding: .utf8)
    let output = Pipe()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/python3")
    process.arguments = ["-c", SecureServer.program, pem.path]
    process.standardInput = input
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    try process.run()
    let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
    guard let url = URL(string: "https://127.0.0.1:\(line.trimmingCharacters(in: .whitespacesAndNewlines))/") else {
      throw URLError(.cannotConnectToHost)
    }
    self.url = url
  }

  /// It ends when its standard input does: with the test too.
  func stop() {
    try? input.fileHandleForWriting.close()
    process.waitUntilExit()
    try? FileManager.default.removeItem(at: pem)
  }

  private static let program = """
    import http.server, os, ssl, sys, threading
    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Length", "6")
            self.end_headers()
            self.wfile.write(b"secret")
        def log_message(self, *words): pass
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[1])
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=lambda: (sys.stdin.read(), os._exit(0))).start()
    print(server.server_address[1], flush=True)
    server.serve_forever()
    """

  /// Made for this test, and used for nothing else.
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
