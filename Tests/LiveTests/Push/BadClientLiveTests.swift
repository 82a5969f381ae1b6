import Cluster
import Foundation
import Glibc
import Testing
import WidgetLabTesting

/// Clients of the real push server that are wrong, or mean it badly; what is decided is in `FaultTests` and
/// `DeadlineTests`.
@Suite(.live, .timeLimit(.live)) struct `a push server with bad clients` {
  /// The shape that `scripts/push.d/bad_clients.py` reads.
  private struct Plan: Encodable {
    let url: String
    let ca: String
    var connections = 0
  }

  /// What it prints of one that misbehaved.
  private struct End: Decodable {
    let code: Int?
    let text: String?
    let ended: Bool
  }

  /// What it prints of those that were idle.
  private struct Idle: Decodable {
    let open: Int
    let ended: Int
  }

  /// The names that the script knows, with the error code that HTTP/2 has for each, and a word of the reason.
  private static let cases: [(name: String, code: Int, words: String)] = [
    ("preface", 1, "preface"), ("frame-size", 6, "a frame of 20000"), ("stream-zero", 1, "HEADERS on stream 0"),
    ("window-overflow", 3, "2^31-1"), ("hpack", 9, "HPACK"), ("huge-headers", 11, "header block"),
    ("continuation-flood", 11, "header block"), ("reset-flood", 11, "RST_STREAM"), ("ping-flood", 11, "PING"),
    ("settings-flood", 11, "SETTINGS"), ("empty-data", 11, "empty"), ("endless-body", 11, "streams that are closed"),
    ("slow-greeting", 4, "within 10 s"), ("slow-request", 11, "not whole within 30 s"),
    ("no-credit", 11, "no flow-control credit for 30 s"),
  ]

  /// All of them at once; the slow ones have Apple's patience, which is ours: half a minute.
  @Test func `ends each with a reason, serves the others meanwhile, and its memory is bounded`() async throws {
    try await ProviderTrial.with("bad clients") { trial in
      let plan = Plan(url: trial.place.development, ca: trial.place.certificateAuthority)
      let good = trial.plan([.init(to: try await trial.token(), token: try await trial.key())])
      #expect(try await trial.send([good], with: "httpx")[0].map(\.status) == [200])
      let before = try residentBytes(of: trial.place.pid).highest
      let ends = try await withThrowingTaskGroup(of: (String, End).self) { group in
        for name in Self.cases.map(\.name) {
          group.addTask {
            let output = try await trial.script("bad_clients.py", [name], plan: plan)
            return (name, try JSONDecoder().decode(End.self, from: output))
          }
        }
        for _ in 0..<5 { #expect(try await trial.send([good], with: "httpx")[0].map(\.status) == [200]) }
        return try await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
      }
      for (name, code, words) in Self.cases {
        let end = try #require(ends[name])
        #expect(end.ended && end.code == code, "\(name): \(end)")
        #expect(end.text?.contains(words) == true, "\(name): \(end)")
      }
      #expect(try await trial.send([good], with: "httpx")[0].map(\.status) == [200])
      let grown = try residentBytes(of: trial.place.pid).highest - before
      #expect(grown < 64 << 20, "\(grown >> 20) MiB more than before")
    }
  }

  @Test func `holds ten thousand idle connections in a bounded memory, and serves another one`() async throws {
    try await ProviderTrial.with("idle clients") { trial in
      let count = 10_000
      let good = trial.plan([.init(to: try await trial.token(), token: try await trial.key())])
      let before = try residentBytes(of: trial.place.pid).now
      let plan = Plan(url: trial.place.development, ca: trial.place.certificateAuthority, connections: count)
      let script = try await trial.begin("bad_clients.py", ["idle"], plan: plan)
      async let ending = script.child.ending()
      do {
        try await trial.said("all are open", script)
        #expect(try await trial.send([good], with: "httpx")[0].map(\.status) == [200])
        let grown = try residentBytes(of: trial.place.pid).now - before
        #expect(grown < count * 64 << 10, "\(grown / count >> 10) KiB for each of them")
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

extension ProviderTrial {
  /// Returns when a script has said this on its standard error.
  fileprivate func said(_ words: String, _ script: Script) async throws {
    let deadline = ContinuousClock.now + .seconds(300)
    while ContinuousClock.now < deadline {
      let text = (try? String(contentsOfFile: script.errors, encoding: .utf8)) ?? ""
      if text.contains(words) { return }
      if text.contains("Error") { throw LabError("the script said: \(text)") }
      try await Task.sleep(for: .milliseconds(50))  // looks into what it says
    }
    throw LabError("the script does not say that \(words)")
  }
}

/// The memory of a process that is its own, now and at most, in bytes.
private func residentBytes(of pid: Int32) throws -> (now: Int, highest: Int) {
  let lines = try String(contentsOfFile: "/proc/\(pid)/status", encoding: .utf8).split(separator: "\n")
  func value(_ name: String) -> Int {
    let line = lines.first { $0.hasPrefix(name + ":") }
    return (line?.split(separator: " ").dropLast().last.flatMap { Int($0) } ?? 0) * 1024
  }
  return (value("VmRSS"), value("VmHWM"))
}
