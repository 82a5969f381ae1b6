// SPDX-License-Identifier: Apache-2.0

// Redirections, and connections that end or are slow. RFC 9110, section 15.4.
extension ServerBehaviour {
  static let redirections: [ServerBehaviour] = [
    ServerBehaviour("redirect-loop", .tooManyRedirects) { $0.redirect("/loop/\($0.file.name)") },
    ServerBehaviour("redirect-three-times", .file) { $0.redirect("/hop/2/\($0.file.name)") },
    ServerBehaviour("redirect-other-host", .file) { $0.redirect("http://localhost:\($0.ports.main)\($0.plain)") },
    ServerBehaviour("redirect-other-port", .file) {
      $0.redirect("http://127.0.0.1:\($0.ports.other)\($0.plain)", "307 Temporary Redirect")
    },
    ServerBehaviour("redirect-without-host", .file) { $0.redirect("//127.0.0.1:\($0.ports.other)\($0.plain)") },
    ServerBehaviour("redirect-see-other", .file) { $0.redirect($0.plain, "303 See Other") },
    ServerBehaviour("redirect-permanent", .file) { $0.redirect($0.plain, "308 Permanent Redirect") },
    ServerBehaviour("redirect-user", .file) { $0.redirect("http://u:p@127.0.0.1:\($0.ports.main)\($0.plain)") },
    ServerBehaviour("redirect-fragment", .file) { $0.redirect("\($0.plain)#part") },
    ServerBehaviour("redirect-dots", .file) { $0.redirect("/a/b/../..\($0.plain)") },
    ServerBehaviour("redirect-ftp", .unsupported) { $0.redirect("ftp://127.0.0.1/file") },
    ServerBehaviour("redirect-file", .unsupported) { $0.redirect("file:///etc/passwd") },
    ServerBehaviour("redirect-data", .unsupported) { $0.redirect("data:text/plain,hi") },
    ServerBehaviour("redirect-port-above-65535", .badURL, .failure(-1004)) { $0.redirect("http://127.0.0.1:99999/x") },
    ServerBehaviour("redirect-port-overflow", .badURL, .failure(-1004)) {
      $0.redirect("http://127.0.0.1:99999999999999999999/x")
    },
    ServerBehaviour("redirect-secure-port-above-65535", .badURL, .failure(-1004)) {
      $0.redirect("https://127.0.0.1:65536/x")
    },
    ServerBehaviour("redirect-port-zero", .file, .badURL) { $0.redirect("http://127.0.0.1:0/x") },
    ServerBehaviour("redirect-port-negative", .badURL) { $0.redirect("http://127.0.0.1:-1/x") },
    ServerBehaviour("redirect-bad-address", .badURL) { $0.redirect("http://[::zz/ a b") },
    ServerBehaviour("redirect-no-host", .badURL, .file) { $0.redirect("http:///x") },
    ServerBehaviour("redirect-without-location", .text("moved")) { $0.reply("302 Found", "moved") },
    ServerBehaviour("redirect-empty-location", .text("moved")) { $0.reply("302 Found", "moved", "Location:") },
    ServerBehaviour("redirect-two-locations", .file, .text(ServerTurn.notFound)) {
      $0.reply("302 Found", "", "Location: \($0.plain)", "Location: /missing")
    },
    ServerBehaviour("redirect-long", .text(ServerTurn.notFound)) {
      $0.redirect("/" + String(repeating: "a", count: 30_000))
    },
    ServerBehaviour("redirect-spaces", .text(ServerTurn.notFound), .badURL) { $0.redirect("/a b c") },
    ServerBehaviour("redirect-not-ascii", .text(ServerTurn.notFound), .badURL) { $0.redirect("/\u{fc}\u{20ac}") },
    ServerBehaviour("redirect-long-body", .file) {
      [
        .send($0.head("HTTP/1.1 302 Found", ["Location: \($0.plain)", "Content-Length: 300000"])),
        .send([UInt8](repeating: 65, count: 300_000)), .keep,
      ]
    },
    ServerBehaviour("redirect-300", .text("choose")) {
      $0.reply("300 Multiple Choices", "choose", "Location: \($0.plain)")
    },
  ]

  static let connections: [ServerBehaviour] = [
    ServerBehaviour("reset-at-once", .file) { _ in [.reset] },
    ServerBehaviour("close-at-once", .file) { _ in [] },
    ServerBehaviour("reset-in-head", .file) { [.send(Array($0.ok($0.length).prefix(20))), .wait(30), .reset] },
    ServerBehaviour("close-in-head", .file) { [.send(Array($0.ok($0.length).prefix(20)))] },
    ServerBehaviour("close-in-field", .file) { [.send(Array($0.ok($0.length).dropLast(4)))] },
    ServerBehaviour("reset-after-head", .file) { [.send($0.ok($0.length, $0.tag)), .wait(30), .reset] },
    ServerBehaviour("close-after-head", .file) { [.send($0.ok($0.length, $0.tag))] },
    ServerBehaviour("reset-in-body", .file) { $0.cut($0.tag) + [.wait(30), .reset] },
    ServerBehaviour("reset-after-body", .file) {
      [.send($0.ok($0.length, $0.tag)), .send($0.file.bytes), .wait(100), .reset]
    },
    ServerBehaviour("reset-before-close", .file) {
      [.send($0.ok($0.tag)), .sendSlowly(Array($0.half)), .wait(30), .reset]
    },
    ServerBehaviour("half-closed", .file) { [.send($0.ok($0.length, $0.tag)), .send(Array($0.half)), .finish] },
    ServerBehaviour("silent-then-close", .file) { _ in [.wait(900)] },
    ServerBehaviour("silent-in-body", .file) { $0.cut($0.tag) + [.wait(900)] },
    ServerBehaviour("slow-head", .file) { turn in
      turn.ok(turn.length, turn.tag).flatMap { [ServerAction.send([$0]), .wait(3)] } + [
        .sendSlowly(turn.file.bytes), .keep,
      ]
    },
    ServerBehaviour("slow-body", .file) { turn in
      [.send(turn.ok(turn.length, turn.tag))]
        + turn.file.bytes.prefix(60).flatMap { [ServerAction.send([$0]), .wait(10)] }
        + [.sendSlowly(Array(turn.file.bytes.dropFirst(60))), .keep]
    },
    ServerBehaviour("slow-then-cut", .file) { turn in
      [.send(turn.ok(turn.length, turn.tag))]
        + turn.file.bytes.prefix(60).flatMap { [ServerAction.send([$0]), .wait(10)] }
    },
    ServerBehaviour("response-twice", .file) {
      [.send($0.ok($0.length)), .send($0.file.bytes), .send($0.ok($0.length)), .send(Array($0.half)), .wait(100)]
    },
    ServerBehaviour("garbage-while-idle", .file) {
      [.send($0.ok($0.length)), .send($0.file.bytes), .wait(150), .send(Array("garbage".utf8)), .wait(100)]
    },
    ServerBehaviour("timeout-while-idle", .file) {
      [.send($0.ok($0.length)), .send($0.file.bytes), .wait(100)] + $0.reply("408 Request Timeout").dropLast() + [
        .wait(100)
      ]
    },
  ]

  /// The connections to these ports end before a request: see `SecurePort`.
  static let securePorts: [ServerBehaviour] = SecurePort.all.map { port in
    ServerBehaviour(port.name, port.end) { $0.redirect("https://127.0.0.1:\($0.ports.secure[port.name] ?? 0)/x") }
  }
}

/// A port at which a server speaks no TLS, or ends in the middle of it.
package struct SecurePort: Sendable {
  /// Also that of the behaviour which redirects to it.
  package let name: String
  let end: ServerBehaviour.End
  /// What it does when the first bytes of a client have arrived.
  package let actions: [ServerAction]

  private init(_ name: String, _ end: ServerBehaviour.End, _ actions: ServerAction...) {
    self.name = name
    self.end = end
    self.actions = actions
  }

  /// The head of a record of TLS: its type, version 1.2 and length.
  private static func record(_ type: UInt8, _ length: UInt16, _ bytes: [UInt8]) -> ServerAction {
    .send([type, 3, 3, UInt8(length >> 8), UInt8(length & 255)] + bytes)
  }

  package static let all = [
    SecurePort("tls-garbage", .notSecure, .send([UInt8](repeating: 0xa5, count: 2000)), .wait(50)),
    SecurePort(
      "tls-plain", .notSecure, .send(Array("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n".utf8)), .wait(50)),
    SecurePort("tls-alert", .notSecure, record(21, 2, [2, 40]), .wait(50)),
    SecurePort("tls-unknown-record", .notSecure, record(99, 4, [1, 2, 3, 4]), .wait(50)),
    SecurePort("tls-hello-malformed", .notSecure, record(22, 8, [2, 0, 0, 4, 9, 9, 9, 9]), .wait(50)),
    SecurePort("tls-record-too-long", .notSecure, record(22, 0xffff, [UInt8](repeating: 0, count: 100)), .wait(50)),
    SecurePort("tls-close", .file),
    SecurePort("tls-reset", .file, .reset),
    SecurePort("tls-close-in-record", .file, record(22, 200, [2, 0, 0, 100, 3, 3])),
    SecurePort("tls-close-alert", .file, record(21, 2, [1, 0])),
    SecurePort("tls-silent-then-close", .file, .wait(700)),
  ]
}
