import APNs
import Foundation
import NIOCore
import NIOHPACK
import Testing

@testable import PushFront

/// What a socket does with it; what is decided is in `FaultTests`.
@Suite(.timeLimit(.minutes(1))) struct `a bad client` {
  @Test(arguments: [
    Array("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8),
    Wire.greeting + Wire.frame(0, stream: 1, [UInt8](repeating: 0, count: 20_000)),
    Wire.greeting + Wire.credit(0x7fff_ffff, to: 0),
  ])
  func `is told why its connection ends`(bytes: [UInt8]) async throws {
    let lab = try await TestFront.start()
    let client = try await lab.connect()
    client.send(bytes)
    let farewell = try #require(await client.farewell())
    #expect(await lab.log.line(with: "closed: \(farewell.text)") != nil)
    await lab.stop()
  }

  /// A flood goes on after the GOAWAY: the client still reads it, and others are served meanwhile.
  @Test(
    arguments: [
      ("CONTINUATION", Wire.headers(on: 1, isWhole: false), Wire.frame(9, stream: 1)),
      ("PING", [], Wire.frame(6, [0, 0, 0, 0, 0, 0, 0, 0])),
      ("empty DATA", Wire.headers(on: 1), Wire.data("", on: 1, ends: false)),
    ])
  func `that floods is closed while others are served`(name: String, first: [UInt8], each: [UInt8]) async throws {
    let lab = try await TestFront.start()
    let (bad, good) = (try await lab.connect(), try await lab.connect())
    good.send(Wire.greeting + Wire.acknowledgement + Wire.push(on: 1))
    _ = await good.next { $0.kind == 1 }
    bad.send(Wire.greeting + first)
    for _ in 0..<50 { bad.send((0..<200).flatMap { _ in each }) }
    good.send(Wire.push(on: 3))
    #expect(await good.next { $0.kind == 1 }?.stream == 3)
    #expect(await bad.farewell()?.code == 11, "\(name)")
    good.send(Wire.push(on: 5))
    #expect(await good.next { $0.kind == 1 }?.stream == 5)
    await good.close()
    await lab.stop()
  }

  @Test func `that does not read is not read from, and is closed`() async throws {
    var limits = PushFrontLimits.unhurried
    limits.unwritable = 0.5
    // Otherwise it would read all the rest before the end.
    limits.ending = 0
    limits.nuisances = .max
    let lab = try await TestFront.start(limits: limits)
    let client = try await lab.connect()
    client.send(Wire.greeting + Wire.acknowledgement)
    // TLS stands, which takes reading too
    _ = await client.next { $0.settings != nil }
    try await client.stopReading()
    let pings = (0..<3000).flatMap { _ in Wire.frame(6, [0, 0, 0, 0, 0, 0, 0, 0]) }
    for _ in 0..<1000 { client.send(pings) }
    async let last = client.isSent(pings)
    #expect(await lab.log.line(with: "the client did not read for 0.5 s") != nil)
    // 51 MB of answers would be here, had they been asked for
    #expect(await last == false)
    await client.close()
    await lab.stop()
  }

  @Test func `that returns no credit is served as far as its credit goes, and with successes after that`() async throws
  {
    var limits = PushFrontLimits.unhurried
    limits.unwritable = 1
    let lab = try await TestFront.start(
      TestBackend { request, answer in
        if request["apns-id"] == "bad" {
          answer(APNsAnswer(status: 400, reason: "BadDeviceToken", apnsID: "bad"))
        } else {
          answer(.ok(request))
        }
      }, limits: limits)
    let client = try await lab.connect()
    client.send(Wire.greeting + Wire.acknowledgement + Wire.push(on: 1))
    _ = await client.next { $0.kind == 1 }
    client.send(Wire.acknowledgement)
    // 65,535 bytes of credit are 2427 bodies of 27 bytes
    for batch in 0..<12 {
      client.send((0..<200).flatMap { Wire.push(on: 3 + (batch * 200 + $0) * 2, id: "bad") })
      for _ in 0..<200 { #expect(await client.next { $0.kind == 0 } != nil) }
    }
    client.send((0..<40).flatMap { Wire.push(on: 4803 + $0 * 2, id: "bad") } + Wire.push(on: 5001, id: "good"))
    #expect(await client.next { $0.kind == 1 && $0.stream == 5001 }?.ends == true)
    #expect(await client.farewell()?.text == "no flow-control credit for 1 s")
    await lab.stop()
  }
}
