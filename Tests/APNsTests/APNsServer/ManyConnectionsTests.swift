// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import NIOCore
import Testing

@testable import APNsServer

/// Tests that need a quiet machine. `scripts/test` runs the suites of this name in sequence, after all other tests.
@Suite(.serialized) enum QuietTests {}

extension QuietTests {
  @Suite struct `Many idle connections` {
    /// Both ends are in this process, so 10,000 connections need 20,000 file descriptors, if permitted.
    private static let count =
      ProcessInfo.processInfo.environment["WIDGETLAB_LONG"] == "1" ? min(10_000, (fileLimit() - 1000) / 2) : 300

    // 10,000 connections in `scripts/test --long` take more than a minute.
    @Test(.timeLimit(.minutes(10)))
    func `idle connections take a bounded amount of memory, and other connections are served`() async throws {
      _ = Self.fileLimit()
      let lab = try await TestAPNsServer.start()
      let first = try await lab.connect()
      let before = try residentBytes()
      let idle = try await connect(Self.count, to: lab)
      let grown = try residentBytes() - before
      #expect(lab.front.counters.connections == Self.count + 1)
      first.send(HTTP2Frames.greeting + HTTP2Frames.push(on: 1))
      #expect(await first.next { $0.kind == 1 }?.ends == true)
      print(
        "\(Self.count) idle connections take \(grown >> 20) MiB, both ends together: \((grown / Self.count) >> 10) KiB each"
      )
      // `swift test` runs other tests concurrently, which use memory of the same process.
      let others = ProcessInfo.processInfo.environment["WIDGETLAB_QUIET"] == "1" ? 0 : 512 << 20
      #expect(grown < Self.count * 150 << 10 + others)
      for client in idle { await client.close() }
      await first.close()
      await lab.stop()
      #expect(lab.front.counters.connections == 0)
    }

    /// Opens connections and completes their HTTP/2 setup, up to 50 at a time.
    private func connect(_ count: Int, to lab: TestAPNsServer) async throws -> [TestClient] {
      try await withThrowingTaskGroup(of: TestClient.self) { group in
        var clients: [TestClient] = []
        for number in 0..<count {
          if number >= 50, let client = try await group.next() { clients.append(client) }
          group.addTask {
            let client = try await lab.connect()
            client.send(HTTP2Frames.greeting + HTTP2Frames.acknowledgement)
            let acknowledged = await client.next { $0.kind == 4 && $0.ends }
            try #require(acknowledged != nil)
            return client
          }
        }
        for try await client in group { clients.append(client) }
        return clients
      }
    }

    /// Raises the soft limit of open files to the hard limit; returns the limit.
    private static func fileLimit() -> Int {
      var limit = rlimit()
      guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 1000 }
      limit.rlim_cur = limit.rlim_max
      setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
      return Int(clamping: limit.rlim_max)
    }
  }
}

func residentBytes() throws -> Int {
  let words = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " ")
  return (Int(words[1]) ?? 0) * 4096
}
