// SPDX-License-Identifier: Apache-2.0

import APNs
import Dispatch
import FidelityRules
import Foundation
import NIOCore
import NIOHPACK
import NIOSSL
import Testing

@testable import APNsServer

@Suite(.timeLimit(.minutes(1))) struct `The APNs server` {
  @Test(.rule("APNS-38"), arguments: [["h2"], [], ["http/1.1"]])
  func `the server uses HTTP/2 whatever the client offers by ALPN`(alpn: [String]) async throws {
    let backend = TestBackend()
    let lab = try await TestAPNsServer.start(backend)
    let client = try await lab.connect(alpn: alpn)
    client.send(HTTP2Frames.greeting + HTTP2Frames.push(on: 1, id: "one"))
    let settings = await client.next { $0.settings != nil }
    #expect(settings?.settings == [1: 4096, 3: 1, 4: 65_535, 5: 16_384, 6: 8000])
    // after the first authorized push the client may open more streams
    let more = await client.next { $0.settings != nil || $0.kind == 1 }
    let then = await client.next { $0.settings != nil || $0.kind == 1 }
    #expect([more?.settings, then?.settings].compactMap { $0 } == [[3: 1000]])
    #expect(backend.requests.map { $0["host"] } == ["api.push.apple.com"])
    #expect(lab.front.counters == .init(connections: 1, accepted: 1, turnedAway: 0, requests: 1))
    await client.close()
    await lab.stop()
  }

  @Test func `the server refuses a TLS 1.1 client`() async throws {
    let lab = try await TestAPNsServer.start()
    let client = try await lab.connect {
      $0.minimumTLSVersion = .tlsv1
      $0.maximumTLSVersion = .tlsv11
    }
    #expect(await client.next() == nil)
    #expect(await lab.log.line(with: "closed: ") != nil)
    await lab.stop()
  }

  @Test func `the server raises the stream limit before it answers the first authorized request`() async throws {
    let lab = try await TestAPNsServer.start()
    let client = try await lab.connect()
    client.send(HTTP2Frames.greeting + HTTP2Frames.acknowledgement + HTTP2Frames.push(on: 1))
    // the server's SETTINGS and its acknowledgement come first; this backend answers within `receive`
    var kinds: [UInt8] = []
    while let frame = await client.next(where: { $0.kind == 1 || $0.kind == 4 && !$0.ends }) {
      kinds.append(frame.kind)
      if frame.kind == 1 { break }
    }
    #expect(kinds == [4, 4, 1])
    await client.close()
    await lab.stop()
  }

  @Test func `the server sends responses that its backend produces on another thread`() async throws {
    let lab = try await TestAPNsServer.start(
      TestBackend { request, answer in
        DispatchQueue.global().async {
          answer(.ok(request))
          // a second answer is ignored
          answer(.ok(request))
        }
      })
    let client = try await lab.connect()
    client.send(HTTP2Frames.greeting + HTTP2Frames.acknowledgement + HTTP2Frames.push(on: 1))
    _ = await client.next { $0.kind == 1 }
    client.send(HTTP2Frames.acknowledgement)
    client.send((0..<500).flatMap { HTTP2Frames.push(on: 3 + $0 * 2, id: "\($0)") })
    var decoder = HPACKDecoder(allocator: ByteBufferAllocator())
    var ids: Set<String> = []
    while ids.count < 500, let answer = try await client.answer(&decoder) {
      ids.insert(answer.headers["apns-id"] ?? "")
    }
    #expect(ids == Set((0..<500).map { "\($0)" }))
    await client.close()
    await lab.stop()
  }

  @Test func `the server delays a response by the operator's latency`() async throws {
    let lab = try await TestAPNsServer.start(
      TestBackend { request, answer in
        answer(APNsAnswer(status: 200, apnsID: "late", latency: request["apns-id"] == "slow" ? 0.2 : 0))
      })
    let client = try await lab.connect()
    client.send(HTTP2Frames.greeting + HTTP2Frames.push(on: 1, id: "slow") + HTTP2Frames.push(on: 3))
    #expect(await client.next { $0.kind == 1 }?.stream == 3)
    #expect(await client.next { $0.kind == 1 }?.stream == 1)
    await client.close()
    await lab.stop()
  }

  @Test(.rule("APNS-38")) func `a client with a certificate of the trusted CA gets the full stream limit at once`()
    async throws
  {
    let backend = TestBackend()
    let lab = try await TestAPNsServer.start(backend, asksForCertificate: true)
    let identity = try #require(try TestAPNsServer.authority?.issue("a provider"))
    let client = try await lab.connect(identity: identity)
    client.send(HTTP2Frames.greeting)
    #expect(await client.next { $0.settings != nil }?.settings?[3] == 1000)
    #expect(backend.certificates == [try identity.0.toDERBytes()])
    let other = try await lab.connect()
    other.send(HTTP2Frames.greeting)
    #expect(await other.next { $0.settings != nil }?.settings?[3] == 1)
    #expect(backend.certificates.last == .some(nil))
    await client.close()
    await other.close()
    await lab.stop()
  }

  @Test(.rule("APNS-40"), arguments: ["of another CA", "expired"])
  func `a client certificate that is expired or of another CA is answered with BadCertificate`(kind: String)
    async throws
  {
    let backend = TestBackend()
    let lab = try await TestAPNsServer.start(backend, asksForCertificate: true)
    let authority = kind == "expired" ? TestAPNsServer.authority : try TestAuthority("Test CA")
    let identity = try #require(try authority?.issue("a provider", validFor: kind == "expired" ? -60 : 3600))
    let client = try await lab.connect(identity: identity)
    client.send(HTTP2Frames.greeting + HTTP2Frames.push(on: 1, id: "mine"))
    var decoder = HPACKDecoder(allocator: ByteBufferAllocator())
    let answer = try #require(try await client.answer(&decoder))
    #expect(answer.headers[":status"] == "403" && answer.headers["apns-id"] == "mine")
    #expect(answer.text == #"{"reason":"BadCertificate"}"#)
    #expect(await client.farewell() == .init(last: 1, code: 0, text: #"{"reason":"BadCertificate"}"#))
    #expect(backend.requests.isEmpty && backend.certificates.isEmpty)
    #expect(await lab.log.line(with: "the client certificate ") != nil)
    await lab.stop()
  }

  @Test func `the server closes an idle connection with Apple's reason IdleTimeout`() async throws {
    var limits = APNsServerLimits.unhurried
    limits.idle = 0.3
    let lab = try await TestAPNsServer.start(limits: limits)
    let client = try await lab.connect()
    client.send(HTTP2Frames.greeting + HTTP2Frames.acknowledgement)
    #expect(await client.farewell() == .init(last: 0, code: 0, text: #"{"reason":"IdleTimeout"}"#))
    #expect(await lab.log.line(with: "closed: IdleTimeout") != nil)
    await lab.stop()
  }

  @Test(arguments: [[], HTTP2Frames.preface])
  func `the server closes a connection that never starts HTTP/2`(bytes: [UInt8]) async throws {
    var limits = APNsServerLimits.unhurried
    limits.handshake = 0.3
    let lab = try await TestAPNsServer.start(limits: limits)
    let client = try await lab.connect()
    client.send(bytes)
    #expect(await lab.log.line(with: "closed: no HTTP/2 connection within 0.3 s") != nil)
    // A client that did not complete TLS receives nothing.
    let farewell = await client.farewell()
    #expect(farewell == nil || farewell?.text == "no HTTP/2 connection within 0.3 s")
    await lab.stop()
  }

  @Test func `the server refuses connections above its limit`() async throws {
    var limits = APNsServerLimits.unhurried
    limits.connections = 1
    let lab = try await TestAPNsServer.start(limits: limits)
    let first = try await lab.connect()
    first.send(HTTP2Frames.greeting)
    #expect(await first.next() != nil)
    let second = try await lab.connect()
    #expect(await second.next() == nil)
    #expect(lab.front.counters.turnedAway == 1)
    #expect(
      await lab.log.line(with: "no more connections are accepted, and existing ones are served: the limit") != nil)
    await first.close()
    #expect(await lab.log.line(with: "connections are accepted again") != nil)
    await lab.stop()
  }

  @Test func `a client that causes many lines of the log gets a few of them, and the number of the others`()
    async throws
  {
    let lab = try await TestAPNsServer.start()
    let client = try await lab.connect()
    client.send(HTTP2Frames.greeting + HTTP2Frames.acknowledgement)
    let bad = HTTP2Frames.request.filter { $0.0 != ":path" }
    for number in 0..<LimitedLog.lines + 7 {
      let stream = 1 + 2 * number
      client.send(HTTP2Frames.headers(bad, on: stream, ends: true))
      #expect(await client.next { $0.kind == 3 && $0.stream == stream } != nil)
    }
    #expect(await lab.log.line(with: "more lines") == "7 more lines of the last 10 s are left out")
    await client.close()
    await lab.stop()
  }

  @Test func `without a free descriptor beyond the reserve there is a reason, which names the limit`() {
    #expect(Descriptors.objection(limit: 1 << 20) == nil)
    let objection = Descriptors.objection(limit: 3)
    #expect(objection == "of 3 descriptors, only 0 are left; raise the limit (`ulimit -n`)")
    #expect(Descriptors.reserve(of: 300) == 32 && Descriptors.reserve(of: 64) == 8)
  }

  @Test(.rule("APNS-43", "HTTP-57", "HTTP-64"))
  func `a server that shuts down finishes pending requests and refuses new ones`() async throws {
    let held = HeldResponses()
    let lab = try await TestAPNsServer.start(TestBackend { request, answer in held.keep { answer(.ok(request)) } })
    let client = try await lab.connect()
    client.send(HTTP2Frames.greeting + HTTP2Frames.acknowledgement + HTTP2Frames.push(on: 1))
    await held.come()
    async let stopped: Void = lab.front.shutDown(within: 3600)
    var decoder = HPACKDecoder(allocator: ByteBufferAllocator())
    let ping = await client.next { $0.kind == 6 }
    #expect(ping?.bytes.count == 8 && ping?.flags == 0)
    #expect(
      await client.next { $0.kind == 7 }?.farewell == .init(last: 0x7fff_ffff, code: 0, text: #"{"reason":"Shutdown"}"#)
    )
    client.send(HTTP2Frames.acknowledgement + HTTP2Frames.push(on: 3))
    let refused = try #require(try await client.answer(&decoder))
    #expect(refused.stream == 3 && refused.headers[":status"] == "503" && refused.text == #"{"reason":"Shutdown"}"#)
    client.send(HTTP2Frames.frame(6, flags: 1, ping?.bytes ?? []))
    held.release()
    #expect(try await client.answer(&decoder)?.headers[":status"] == "200")
    #expect(await client.farewell() == .init(last: 3, code: 0, text: #"{"reason":"Shutdown"}"#))
    await stopped
  }

  @Test func `a server that shuts down waits no longer than the given time`() async throws {
    let held = HeldResponses()
    let lab = try await TestAPNsServer.start(TestBackend { request, answer in held.keep { answer(.ok(request)) } })
    let client = try await lab.connect()
    client.send(HTTP2Frames.greeting + HTTP2Frames.push(on: 1))
    await held.come()
    await lab.front.shutDown(within: 0)
    #expect(await client.farewell()?.text == #"{"reason":"Shutdown"}"#)
    held.release()
  }
}
