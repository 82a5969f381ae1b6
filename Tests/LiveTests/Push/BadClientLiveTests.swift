// SPDX-License-Identifier: Apache-2.0

import Cluster
import FidelityRules
import Foundation
import Glibc
import Testing
import WidgetLabTesting

/// Faulty and malicious clients of the real push server; the decisions are tested in `FaultTests` and `DeadlineTests`.
@Suite(.live, .timeLimit(.live)) struct `The push server with bad clients` {
  /// The input of `scripts/push.d/bad_clients.py`.
  private struct Plan: Encodable {
    let url: String
    let ca: String
    var connections = 0
  }

  /// The script's output for a client that misbehaved.
  private struct End: Decodable {
    let code: Int?
    let text: String?
    let ended: Bool
  }

  /// The script's output for idle clients.
  private struct Idle: Decodable {
    let open: Int
    let ended: Int
  }

  /// The cases of the script, each with its HTTP/2 error code and a part of the reason.
  private static let cases: [(name: String, code: Int, words: String)] = [
    ("preface", 1, "preface"), ("frame-size", 6, "frame of 20000"), ("stream-zero", 1, "HEADERS on stream 0"),
    ("window-overflow", 3, "2^31-1"), ("hpack", 9, "HPACK"), ("huge-headers", 11, "header block"),
    ("continuation-flood", 11, "header block"), ("reset-flood", 11, "RST_STREAM"), ("ping-flood", 11, "PING"),
    ("settings-flood", 11, "SETTINGS"), ("empty-data", 11, "empty"), ("endless-body", 11, "streams that are closed"),
    ("slow-greeting", 4, "within 10 s"), ("slow-request", 11, "incomplete request"),
    ("no-credit", 11, "no flow-control credit for 30 s"),
  ]

  /// Runs all cases at once. The push server waits at most half a minute for a slow client (ours).
  @Test(.rule("APNS-41"))
  func `the push server closes each bad client with a reason, serves the others and bounds its memory`() async throws {
    try await ProviderFixture.with("bad clients", rules: ["slowedRefusals: 0", "endedRefusals: 0"]) { fixture in
      let plan = Plan(url: fixture.place.development, ca: fixture.place.certificateAuthority)
      let good = fixture.plan([.init(to: try await fixture.token(), token: try await fixture.key())])
      #expect(try await fixture.send([good], with: "httpx")[0].map(\.status) == [200])
      let before = try residentBytes(of: fixture.place.pid).highest
      let ends = try await withThrowingTaskGroup(of: (String, End).self) { group in
        for name in Self.cases.map(\.name) {
          group.addTask {
            let output = try await fixture.script("bad_clients.py", [name], plan: plan)
            return (name, try JSONDecoder().decode(End.self, from: output))
          }
        }
        for _ in 0..<5 { #expect(try await fixture.send([good], with: "httpx")[0].map(\.status) == [200]) }
        return try await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
      }
      for (name, code, words) in Self.cases {
        let end = try #require(ends[name])
        #expect(end.ended && end.code == code, "\(name): \(end)")
        #expect(end.text?.contains(words) == true, "\(name): \(end)")
      }
      #expect(try await fixture.send([good], with: "httpx")[0].map(\.status) == [200])
      let grown = try residentBytes(of: fixture.place.pid).highest - before
      #expect(grown < 64 << 20 || LiveFixture.isSanitized, "\(grown >> 20) MiB more than before")
    }
  }

  @Test
  func `the push server holds many idle connections in bounded memory and serves another one`() async throws {
    try await ProviderFixture.with("idle clients") { fixture in
      let count = BulkFixture.isLong ? 10_000 : 1000
      let good = fixture.plan([.init(to: try await fixture.token(), token: try await fixture.key())])
      let before = try residentBytes(of: fixture.place.pid).now
      let plan = Plan(url: fixture.place.development, ca: fixture.place.certificateAuthority, connections: count)
      let script = try await fixture.begin("bad_clients.py", ["idle"], plan: plan)
      async let ending = script.child.ending()
      do {
        try await fixture.output("all are open", script)
        #expect(try await fixture.send([good], with: "httpx")[0].map(\.status) == [200])
        let grown = try residentBytes(of: fixture.place.pid).now - before
        #expect(
          grown < count * 64 << 10 || LiveFixture.isSanitized, "\((grown / count) >> 10) KiB for each connection")
      } catch {
        try LabProcess(pid: script.child.pid).signal(SIGKILL)
        throw error
      }
      try LabProcess(pid: script.child.pid).signal(SIGTERM)
      #expect(await ending == 0)
      let idle = try JSONDecoder().decode(Idle.self, from: Data(contentsOf: URL(fileURLWithPath: script.output)))
      #expect(idle.open == count && idle.ended == 0)
    }
  }
}

extension ProviderFixture {
  /// Returns when a script has printed a text on its standard error.
  fileprivate func output(_ words: String, _ script: Script) async throws {
    let deadline = ContinuousClock.now + .seconds(300)
    while ContinuousClock.now < deadline {
      let text = (try? String(contentsOfFile: script.errors, encoding: .utf8)) ?? ""
      if text.contains(words) { return }
      if text.contains("Error") { throw LabError("the script printed: \(text)") }
      try await Task.sleep(for: .milliseconds(50))  // polls the script's output
    }
    throw LabError("the script did not print: \(words)")
  }
}

/// The resident memory of a process, current and peak, in bytes.
private func residentBytes(of pid: Int32) throws -> (now: Int, highest: Int) {
  let lines = try String(contentsOfFile: "/proc/\(pid)/status", encoding: .utf8).split(separator: "\n")
  func value(_ name: String) -> Int {
    let line = lines.first { $0.hasPrefix(name + ":") }
    return (line?.split(separator: " ").dropLast().last.flatMap { Int($0) } ?? 0) * 1024
  }
  return (value("VmRSS"), value("VmHWM"))
}
