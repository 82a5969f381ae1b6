import AuthoredProcess
import Conversations
import Foundation
import MessageBus
import Testing
import WidgetLabTesting

@testable import BackgroundURLSession
@testable import ForegroundURLSession

/// Inline requests obey the device's network.
@Suite(.timeLimit(.minutes(1))) struct NetworkTests {
  @Test func `without a network a request fails with -1009, and with it succeeds`() async throws {
    try await Scene.run({ _ in .text("there") }) { scene in
      let session = scene.session()
      scene.network(.off)
      let error = await failure { try await session.data(from: scene.server.url()) }
      #expect(error?.code == .notConnectedToInternet && error?.networkUnavailableReason == nil)
      scene.network(.wifi)
      let answer = try await session.text(from: scene.server.url())
      #expect(answer == "there")
      #expect(scene.server.requests.count == 1)
    }
  }

  @Test func `a request that may not use a cellular network says so`() async throws {
    try await Scene.run({ _ in .text("there") }) { scene in
      scene.network(.cellular)
      let wifiOnly = scene.session { $0.allowsCellularAccess = false }
      let cheapOnly = scene.session { $0.allowsExpensiveNetworkAccess = false }
      let first = await failure { try await wifiOnly.data(from: scene.server.url()) }
      #expect(first?.code == .notConnectedToInternet && first?.networkUnavailableReason == .cellular)
      let second = await failure { try await cheapOnly.data(from: scene.server.url()) }
      #expect(second?.code == .notConnectedToInternet && second?.networkUnavailableReason == .expensive)
      let answer = try await scene.session().text(from: scene.server.url())
      #expect(answer == "there")
    }
  }

  @Test func `a request that may not use a constrained network says so`() async throws {
    try await Scene.run({ _ in .text("there") }) { scene in
      scene.network(.wifi, isConstrained: true)
      let modest = scene.session { $0.allowsConstrainedNetworkAccess = false }
      let failure = await failure { try await modest.data(from: scene.server.url()) }
      #expect(failure?.code == .notConnectedToInternet && failure?.networkUnavailableReason == .constrained)
      let answer = try await scene.session().text(from: scene.server.url())
      #expect(answer == "there")
    }
  }

  @Test func `waitsForConnectivity waits, says so once, and goes out when there is a network`() async throws {
    try await Scene.run({ _ in .text("there") }) { scene in
      let recorder = Recorder()
      scene.network(.off)
      scene.session(recorder) { $0.waitsForConnectivity = true }.dataTask(with: scene.server.url()).resume()
      await recorder.hears("waits")
      scene.network(.off, rate: 1)
      #expect(scene.server.requests.isEmpty)
      scene.network(.wifi)
      await recorder.hears("end")
      #expect(recorder.all == ["waits", "response 200", "data there", "end 0"])
    }
  }

  @Test func `a network that goes away takes the request with it`() async throws {
    try await Scene.run({ _ in LocalServer.Reply(body: Data("ab".utf8), holdsAfter: 1) }) { scene in
      let recorder = Recorder()
      scene.session(recorder).dataTask(with: scene.server.url()).resume()
      await recorder.hears("data a")
      scene.network(.off)
      await recorder.hears("end")
      #expect(recorder.all.last == "end -1005")
    }
  }

  @Test func `a slow network makes a body slow, up and down`() async throws {
    try await Scene.run({ _ in LocalServer.Reply(body: Data(count: 40_000)) }) { scene in
      let session = scene.session()
      scene.network(.wifi, rate: 100_000)
      var request = URLRequest(url: scene.server.url())
      let clock = ContinuousClock()
      let down = try await clock.measure { _ = try await session.data(for: request) }
      #expect(down >= .milliseconds(400))
      request.httpMethod = "PUT"
      request.httpBody = Data(count: 40_000)
      let sent = request
      let both = try await clock.measure { _ = try await session.data(for: sent) }
      #expect(both >= .milliseconds(800))
      // A rate that stayed would make this last for hours.
      scene.network(.wifi, rate: 1)
      scene.network(.wifi)
      _ = try await session.data(for: sent)
    }
  }

  @Test func `the host says how the network is`() async throws {
    try await Scene.run({ _ in .text("") }) { scene in
      let network = DeviceNetwork.of(scene.process)
      let (changes, change) = AsyncStream.makeStream(of: Void.self)
      network.watch(scene.server) { change.yield() }
      let host = scene.bus.connection(.host("phone"))
      _ = try await host.start()
      _ = try await scene.process.connection.start()
      host.notify(
        NetworkChanged(state: NetworkState(path: .cellular, rate: 7)), to: scene.process.address, story: .none)
      for await _ in changes { break }
      #expect(network.current == NetworkState(path: .cellular, rate: 7))
    }
  }

  @Test func `bytes pass one after the other, and nothing is saved up`() {
    var limit = RateLimit()
    let start = ContinuousClock.now
    #expect(limit.pass(500, at: start, rate: 1000) == start + .milliseconds(500))
    #expect(limit.pass(500, at: start, rate: 1000) == start + .seconds(1))
    let later = start + .seconds(10)
    #expect(limit.pass(1000, at: later, rate: 1000) == later + .seconds(1))
    #expect(RateLimit.piece(at: nil) == 65_536 && RateLimit.piece(at: 1) == 1024 && RateLimit.piece(at: 50_000) == 5000)
  }
}
