// SPDX-License-Identifier: Apache-2.0

import AuthorRuntime
import BusTesting
import FidelityRules
import Foundation
import MessageBus
import Messages
import Testing
import WidgetLabTesting

@testable import URLSessionAPI

/// Inline requests obey the device's network.
@Suite(.timeLimit(.minutes(1))) struct NetworkTests {
  @Test(.rule("INLINE-07", "SESSION-07")) func `a request fails with -1009 without a network and succeeds with one`()
    async throws
  {
    try await CurlFixture.run({ _ in .text("there") }) { fixture in
      let session = fixture.session()
      fixture.network(.off)
      let error = await failure { try await session.data(from: fixture.server.url()) }
      #expect(error?.code == .notConnectedToInternet && error?.networkUnavailableReason == nil)
      #expect(error?.localizedDescription == "The Internet connection appears to be offline.")
      #expect(error?.errorUserInfo[NSDebugDescriptionErrorKey] as? String == "the device has no network")
      fixture.network(.wifi)
      let answer = try await session.text(from: fixture.server.url())
      #expect(answer == "there")
      #expect(fixture.server.requests.count == 1)
    }
  }

  @Test(.rule("INLINE-07", "PROCESS-14"))
  func `a request that may not use a cellular or expensive network fails with -1009 and the reason`() async throws {
    try await CurlFixture.run({ _ in .text("there") }) { fixture in
      fixture.network(.cellular)
      let wifiOnly = fixture.session { $0.allowsCellularAccess = false }
      let cheapOnly = fixture.session { $0.allowsExpensiveNetworkAccess = false }
      let first = await failure { try await wifiOnly.data(from: fixture.server.url()) }
      #expect(first?.code == .notConnectedToInternet && first?.networkUnavailableReason == .cellular)
      #expect(first?.networkUnavailableReason?.rawValue == 0)
      let second = await failure { try await cheapOnly.data(from: fixture.server.url()) }
      #expect(second?.code == .notConnectedToInternet && second?.networkUnavailableReason == .expensive)
      #expect(second?.networkUnavailableReason?.rawValue == 1)
      let answer = try await fixture.session().text(from: fixture.server.url())
      #expect(answer == "there")
    }
  }

  @Test(.rule("INLINE-07"))
  func `a request that may not use a constrained network fails with -1009 and the reason`() async throws {
    try await CurlFixture.run({ _ in .text("there") }) { fixture in
      fixture.network(.wifi, isConstrained: true)
      let modest = fixture.session { $0.allowsConstrainedNetworkAccess = false }
      let failure = await failure { try await modest.data(from: fixture.server.url()) }
      #expect(failure?.code == .notConnectedToInternet && failure?.networkUnavailableReason == .constrained)
      #expect(failure?.networkUnavailableReason?.rawValue == 2)
      let answer = try await fixture.session().text(from: fixture.server.url())
      #expect(answer == "there")
    }
  }

  @Test(.rule("INLINE-08"))
  func `a request with waitsForConnectivity reports once that it waits, and is sent with the next network`()
    async throws
  {
    try await CurlFixture.run({ _ in .text("there") }) { fixture in
      let recorder = Recorder()
      fixture.network(.off)
      fixture.session(recorder) { $0.waitsForConnectivity = true }.dataTask(with: fixture.server.url()).resume()
      await recorder.waitFor("waits")
      fixture.network(.off, rate: 1)
      #expect(fixture.server.requests.isEmpty)
      fixture.network(.wifi)
      await recorder.waitFor("end")
      #expect(recorder.all == ["waits", "response 200", "data there", "end 0"])
    }
  }

  @Test(.rule("INLINE-09")) func `a running request ends with -1005 when the network is lost`() async throws {
    try await CurlFixture.run({ _ in LocalServer.Reply(body: Data("ab".utf8), holdsAfter: 1) }) { fixture in
      let recorder = Recorder()
      fixture.session(recorder).dataTask(with: fixture.server.url()).resume()
      await recorder.waitFor("data a")
      fixture.network(.off)
      await recorder.waitFor("end")
      #expect(recorder.all.last == "end -1005")
    }
  }

  @Test(.rule("INLINE-10")) func `header fields do not count against a network's rate limit`() async throws {
    let headers = ["X-Long": String(repeating: "a", count: 4_000)]
    try await CurlFixture.run({ _ in .text("", 200, headers) }) { fixture in
      // 4,000 bytes would take more than an hour.
      fixture.network(.wifi, rate: 1)
      var request = URLRequest(url: fixture.server.url())
      request.setValue(headers["X-Long"], forHTTPHeaderField: "X-Long")
      let (data, _) = try await fixture.session().data(for: request)
      #expect(data.isEmpty)
    }
  }

  @Test(.rule("INLINE-10")) func `a network's rate limit slows down downloads and uploads`() async throws {
    try await CurlFixture.run({ _ in LocalServer.Reply(body: Data(count: 40_000)) }) { fixture in
      let session = fixture.session()
      fixture.network(.wifi, rate: 100_000)
      var request = URLRequest(url: fixture.server.url())
      let clock = ContinuousClock()
      let down = try await clock.measure { _ = try await session.data(for: request) }
      #expect(down >= .milliseconds(400))
      request.httpMethod = "PUT"
      request.httpBody = Data(count: 40_000)
      let sentRequest = request
      let both = try await clock.measure { _ = try await session.data(for: sentRequest) }
      #expect(both >= .milliseconds(800))
      // Both directions of both requests at once need the bytes of all.
      let together = try await clock.measure {
        async let one = session.data(for: sentRequest)
        async let other = session.data(for: sentRequest)
        _ = try await (one, other)
      }
      #expect(together >= .milliseconds(1600))
      // With the rate of 1 byte per second still in force, this would take hours.
      fixture.network(.wifi, rate: 1)
      fixture.network(.wifi)
      _ = try await session.data(for: sentRequest)
    }
  }

  @Test func `a process takes the network state from the host's network.changed message`() async throws {
    try await CurlFixture.run({ _ in .text("") }) { fixture in
      let network = DeviceNetwork.of(fixture.process)
      let (changes, change) = AsyncStream.makeStream(of: Void.self)
      network.watch(fixture.server) { change.yield() }
      let host = fixture.bus.connection(.host("phone"))
      _ = try await host.start()
      _ = try await fixture.process.connection.start()
      host.notify(
        NetworkChanged(state: NetworkState(path: .cellular, rate: 7)), to: fixture.process.address, context: .none)
      for await _ in changes { break }
      #expect(network.current == NetworkState(path: .cellular, rate: 7))
    }
  }

  @Test func `a rate limit passes bytes in sequence and does not accumulate unused capacity`() {
    var limit = RateLimit()
    let start = ContinuousClock.now
    #expect(limit.pass(500, at: start, rate: 1000) == start + .milliseconds(500))
    #expect(limit.pass(500, at: start, rate: 1000) == start + .seconds(1))
    let later = start + .seconds(10)
    #expect(limit.pass(1000, at: later, rate: 1000) == later + .seconds(1))
    #expect(RateLimit.piece(at: nil) == 65_536 && RateLimit.piece(at: 1) == 1024 && RateLimit.piece(at: 50_000) == 5000)
  }
}
