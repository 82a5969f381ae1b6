import Testing
import ZeroMQ

@testable import Transfers

extension TransferDaemon {
  /// Whether its work is done on that loop's thread.
  fileprivate func works(on loop: Loop) -> Bool { loop.isCurrent }
}

@Suite(.timeLimit(.minutes(1))) struct `the keeper of transfers` {
  @Test func `a handler of the bus has it do its work, and does not lend it the thread of the bus`() async throws {
    let scene = try await TransferScene(.init(bytes: figures(1000)))
    let daemon = try await scene.host()
    let loop = Loop(name: "bus")
    await loop.task { #expect(await !daemon.works(on: loop)) }.value
    await loop.stop()
    await scene.end(daemon)
  }
}
