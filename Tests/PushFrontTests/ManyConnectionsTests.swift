import Foundation
import Glibc
import NIOCore
import Testing

@testable import PushFront

/// Tests that need a quiet machine. `scripts/test` runs the suites of this name in sequence, after all other tests.
@Suite(.serialized) enum QuietTests {}

extension QuietTests {
  @Suite struct `many connections that are idle` {
    /// Both ends of each are in this process: ten thousand take as many file descriptors twice, if it may have so many.
    private static let count =
      ProcessInfo.processInfo.environment["WIDGETLAB_LONG"] == "1" ? min(10_000, (fileLimit() - 1000) / 2) : 300

    // Ten thousand connections of `scripts/test --long` take more than a minute.
    @Test(.timeLimit(.minutes(10))) func `leave the others served, and take a bounded memory each`() async throws {
      _ = Self.fileLimit()
      let lab = try await TestFront.start()
      let first = try await lab.connect()
      let before = try residentBytes()
      let idle = try await connect(Self.count, to: lab)
      let grown = try residentBytes() - before
      #expect(lab.front.counters.connections == Self.count + 1)
      first.send(Wire.greeting + Wire.push(on: 1))
      #expect(await first.next { $0.kind == 1 }?.ends == true)
      print(
        "\(Self.count) idle connections take \(grown >> 20) MiB, both ends together: \((grown / Self.count) >> 10) KiB each"
      )
      // `swift test` runs other tests beside this one, which take memory of the same process.
      let others = ProcessInfo.processInfo.environment["WIDGETLAB_QUIET"] == "1" ? 0 : 512 << 20
      #expect(grown < Self.count * 150 << 10 + others)
      for client in idle { await client.close() }
      await first.close()
      await lab.stop()
      #expect(lab.front.counters.connections == 0)
    }

    /// Connections that have said all that HTTP/2 wants of them, some at a time.
    private func connect(_ count: Int, to lab: TestFront) async throws -> [TestClient] {
      try await withThrowingTaskGroup(of: TestClient.self) { group in
        var clients: [TestClient] = []
        for number in 0..<count {
          if number >= 50, let client = try await group.next() { clients.append(client) }
          group.addTask {
            let client = try await lab.connect()
            client.send(Wire.greeting + Wire.acknowledgement)
            let acknowledged = await client.next { $0.kind == 4 && $0.ends }
            try #require(acknowledged != nil)
            return client
          }
        }
        for try await client in group { clients.append(client) }
        return clients
      }
    }

    /// How many files this process may have open, after it asked for as many as it can get.
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
