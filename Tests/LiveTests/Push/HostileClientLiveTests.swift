// SPDX-License-Identifier: Apache-2.0

import Cluster
import Foundation
import Testing
import WidgetLabTesting

/// What a client without authentication can do to the operator, and to other clients.
@Suite(.live, .timeLimit(.live)) struct `The push server with hostile clients` {
  @Test func `control characters of a request do not reach the operator's terminal or the log`() async throws {
    try await LonePushServer.run("control characters") { lone in
      let server = try #require(try lone.serving)
      let attack = "\u{1b}]0;PWNED\u{7}\u{1b}[2J\u{1b}]52;c;eA==\u{7}\u{9b}2J\u{202e}"
      let answer = try await lone.curl(server, token: "ab", topic: "a" + attack)
      #expect(answer.output.contains("HTTP 400"), "\(answer)")
      // It is refused by HTTP/2 itself, which is in the log of the process.
      _ = try await lone.curl(server, token: "ab", arguments: "-H 'content-length: 1\(attack)'")
      let log = try await lone.log(with: "invalid content-length")
      for arguments in [
        ["push", "log"], ["push", "log", "--json"], ["tail", "--no-follow"],
        ["tail", "--no-follow", "--color", "always"], ["tail", "--no-follow", "--output", "json"],
      ] {
        let printed = try await lone.tool(arguments).output
        #expect(printed.contains("PWNED") || arguments[0] == "tail", "\(arguments)")
        for sequence in ["\u{1b}]", "\u{1b}[2J", "\u{9b}", "\u{202e}", "\u{7}"] {
          #expect(!printed.contains(sequence), "\(arguments)")
        }
      }
      #expect(!log.contains("\u{1b}") && !log.contains("\u{9b}"))
    }
  }

  @Test func `without descriptors the push server pauses, logs it, and accepts connections again`() async throws {
    try await LonePushServer.run("descriptors") { lone in
      let server = try #require(try lone.serving)
      let inUse = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(server.pid)/fd").count
      let tool = try await LabChild.start(
        "/usr/bin/prlimit", ["--pid", "\(server.pid)", "--nofile=\(inUse + 30)"],
        output: lone.instance.path + "/prlimit.out", errors: lone.instance.path + "/prlimit.err")
      try #require(await tool.ending() == 0)
      var lines: [RawLine] = []
      for _ in 0..<60 { lines.append(try RawLine(server.development)) }
      let log = try await lone.log(with: "no more connections are accepted")
      #expect(log.contains("of \(inUse + 30) descriptors, only"), "\(log)")
      lines = []
      _ = try await lone.log(with: "connections are accepted again")
      #expect(try await lone.curl(server, token: "ab").output.contains("HTTP 400"))
    }
  }
}

extension LonePushServer {
  /// The push server that runs.
  fileprivate var serving: PushServerAnnouncement? { get throws { try PushServerAnnouncement.read(in: instance) } }

  /// The log of the push server when it has these words.
  fileprivate func log(with words: String) async throws -> String {
    let deadline = ContinuousClock.now + LabTimeout.usual
    while ContinuousClock.now < deadline {
      let log = try String(contentsOfFile: instance.path + "/push-server.err", encoding: .utf8)
      if log.contains(words) { return log }
      try await Task.sleep(for: LabTimeout.pollInterval)  // polls a file that another process writes
    }
    throw LabError("the push server did not log: \(words)")
  }
}
