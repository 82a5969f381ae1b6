// SPDX-License-Identifier: Apache-2.0

import APNs
import FidelityRules
import Foundation
import NIOCore
import NIOHPACK
import Testing

@testable import APNsServer

/// The behaviour of the socket. `FaultTests` tests the protocol decisions.
@Suite(.timeLimit(.minutes(1))) struct `Misbehaving clients` {
  @Test(arguments: [
    Array("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8),
    HTTP2Frames.greeting + HTTP2Frames.frame(0, stream: 1, [UInt8](repeating: 0, count: 20_000)),
    HTTP2Frames.greeting + HTTP2Frames.credit(0x7fff_ffff, to: 0),
  ])
  func `a client that violates HTTP/2 receives a GOAWAY with the reason that is logged`(bytes: [UInt8]) async throws {
    let lab = try await TestAPNsServer.start()
    let client = try await lab.connect()
    client.send(bytes)
    let farewell = try #require(await client.farewell())
    #expect(await lab.log.line(with: "closed: \(farewell.text)") != nil)
    await lab.stop()
  }

  /// The flood continues after the GOAWAY: the client still reads it, and other connections are served.
  @Test(
    arguments: [
      ("CONTINUATION", HTTP2Frames.headers(on: 1, isWhole: false), HTTP2Frames.frame(9, stream: 1)),
      ("PING", [], HTTP2Frames.frame(6, [0, 0, 0, 0, 0, 0, 0, 0])),
      ("empty DATA", HTTP2Frames.headers(on: 1), HTTP2Frames.data("", on: 1, ends: false)),
    ])
  func `a flooding client is disconnected while other clients are served`(name: String, first: [UInt8], each: [UInt8])
    async throws
  {
    let lab = try await TestAPNsServer.start()
    let (bad, good) = (try await lab.connect(), try await lab.connect())
    good.send(HTTP2Frames.greeting + HTTP2Frames.acknowledgement + HTTP2Frames.push(on: 1))
    _ = await good.next { $0.kind == 1 }
    bad.send(HTTP2Frames.greeting + first)
    for _ in 0..<50 { bad.send((0..<200).flatMap { _ in each }) }
    good.send(HTTP2Frames.push(on: 3))
    #expect(await good.next { $0.kind == 1 }?.stream == 3)
    #expect(await bad.farewell()?.code == 11, "\(name)")
    good.send(HTTP2Frames.push(on: 5))
    #expect(await good.next { $0.kind == 1 }?.stream == 5)
    await good.close()
    await lab.stop()
  }

  @Test(.rule("HTTP-25")) func `a client that does not read is not read from and is disconnected`() async throws {
    var limits = APNsServerLimits.unhurried
    limits.unwritable = 0.5
    // Otherwise the client would read the rest before the close.
    limits.ending = 0
    limits.nuisances = .max
    let lab = try await TestAPNsServer.start(limits: limits)
    let client = try await lab.connect()
    client.send(HTTP2Frames.greeting + HTTP2Frames.acknowledgement)
    // the TLS handshake is complete, which requires reading
    _ = await client.next { $0.settings != nil }
    try await client.stopReading()
    let pings = (0..<3000).flatMap { _ in HTTP2Frames.frame(6, [0, 0, 0, 0, 0, 0, 0, 0]) }
    for _ in 0..<500 { client.send(pings) }
    async let last = client.isSent(pings)
    #expect(await lab.log.line(with: "the client did not read for 0.5 s") != nil)
    // a client that reads would have received 25 MB of responses
    #expect(await last == false)
    await client.close()
    await lab.stop()
  }

  @Test(.rule("APNS-42"))
  func `a client without credit gets responses up to its credit and then only responses without a body`() async throws {
    #expect(APNsServerLimits().waitingBodies == 256 && APNsServerLimits().unwritable == 30)
    var limits = APNsServerLimits.unhurried
    limits.unwritable = 1
    let lab = try await TestAPNsServer.start(
      TestBackend { request, answer in
        if request["apns-id"] == "bad" {
          answer(APNsAnswer(status: 400, reason: "BadDeviceToken", apnsID: "bad"))
        } else {
          answer(.ok(request))
        }
      }, limits: limits)
    let client = try await lab.connect()
    client.send(HTTP2Frames.greeting + HTTP2Frames.acknowledgement + HTTP2Frames.push(on: 1))
    _ = await client.next { $0.kind == 1 }
    client.send(HTTP2Frames.acknowledgement)
    // 65,535 bytes of credit are 2427 bodies of 27 bytes
    for batch in 0..<12 {
      client.send((0..<200).flatMap { HTTP2Frames.push(on: 3 + (batch * 200 + $0) * 2, id: "bad") })
      for _ in 0..<200 { #expect(await client.next { $0.kind == 0 } != nil) }
    }
    client.send(
      (0..<40).flatMap { HTTP2Frames.push(on: 4803 + $0 * 2, id: "bad") } + HTTP2Frames.push(on: 5001, id: "good"))
    #expect(await client.next { $0.kind == 1 && $0.stream == 5001 }?.ends == true)
    #expect(await client.farewell()?.text == "no flow-control credit for 1 s")
    await lab.stop()
  }
}
