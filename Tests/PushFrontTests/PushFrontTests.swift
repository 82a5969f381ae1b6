import APNs
import Dispatch
import Foundation
import NIOCore
import NIOHPACK
import NIOSSL
import Testing

@testable import PushFront

@Suite(.timeLimit(.minutes(1))) struct `the front` {
  @Test(arguments: [["h2"], [], ["http/1.1"]])
  func `speaks HTTP/2 whatever the client offers by ALPN`(alpn: [String]) async throws {
    let backend = TestBackend()
    let lab = try await TestFront.start(backend)
    let client = try await lab.connect(alpn: alpn)
    client.send(Wire.greeting + Wire.push(on: 1, id: "one"))
    let settings = await client.next { $0.settings != nil }
    #expect(settings?.settings == [1: 4096, 3: 1, 4: 65_535, 5: 16_384, 6: 8000])
    // a first push that is authorized lets the client have more streams
    let more = await client.next { $0.settings != nil || $0.kind == 1 }
    let then = await client.next { $0.settings != nil || $0.kind == 1 }
    #expect([more?.settings, then?.settings].compactMap { $0 } == [[3: 1000]])
    #expect(backend.requests.map { $0["host"] } == ["api.push.apple.com"])
    #expect(lab.front.counters == .init(connections: 1, accepted: 1, turnedAway: 0, requests: 1))
    await client.close()
    await lab.stop()
  }

  @Test func `turns a TLS 1.1 client away`() async throws {
    let lab = try await TestFront.start()
    let client = try await lab.connect {
      $0.minimumTLSVersion = .tlsv1
      $0.maximumTLSVersion = .tlsv11
    }
    #expect(await client.next() == nil)
    #expect(await lab.log.line(with: "closed: ") != nil)
    await lab.stop()
  }

  @Test func `allows more streams before it answers the first authorized request`() async throws {
    let lab = try await TestFront.start()
    let client = try await lab.connect()
    client.send(Wire.greeting + Wire.acknowledgement + Wire.push(on: 1))
    // the front's own SETTINGS and their acknowledgement come first; this backend answers within `receive`
    var kinds: [UInt8] = []
    while let frame = await client.next(where: { $0.kind == 1 || $0.kind == 4 && !$0.ends }) {
      kinds.append(frame.kind)
      if frame.kind == 1 { break }
    }
    #expect(kinds == [4, 4, 1])
    await client.close()
    await lab.stop()
  }

  @Test func `has the answer of a backend that takes its time on another thread`() async throws {
    let lab = try await TestFront.start(
      TestBackend { request, answer in
        DispatchQueue.global().async {
          answer(.ok(request))
          // a second one is of no use
          answer(.ok(request))
        }
      })
    let client = try await lab.connect()
    client.send(Wire.greeting + Wire.acknowledgement + Wire.push(on: 1))
    _ = await client.next { $0.kind == 1 }
    client.send(Wire.acknowledgement)
    client.send((0..<500).flatMap { Wire.push(on: 3 + $0 * 2, id: "\($0)") })
    var decoder = HPACKDecoder(allocator: ByteBufferAllocator())
    var ids: Set<String> = []
    while ids.count < 500, let answer = try await client.answer(&decoder) {
      ids.insert(answer.headers["apns-id"] ?? "")
    }
    #expect(ids == Set((0..<500).map { "\($0)" }))
    await client.close()
    await lab.stop()
  }

  @Test func `answers when the operator's latency is over`() async throws {
    let lab = try await TestFront.start(
      TestBackend { request, answer in
        answer(APNsAnswer(status: 200, apnsID: "late", latency: request["apns-id"] == "slow" ? 0.2 : 0))
      })
    let client = try await lab.connect()
    client.send(Wire.greeting + Wire.push(on: 1, id: "slow") + Wire.push(on: 3))
    #expect(await client.next { $0.kind == 1 }?.stream == 3)
    #expect(await client.next { $0.kind == 1 }?.stream == 1)
    await client.close()
    await lab.stop()
  }

  @Test func `believes a certificate of its CA, and gives it all streams at once`() async throws {
    let backend = TestBackend()
    let lab = try await TestFront.start(backend, asksForCertificate: true)
    let identity = try #require(try TestFront.authority?.issue("a provider"))
    let client = try await lab.connect(identity: identity)
    client.send(Wire.greeting)
    #expect(await client.next { $0.settings != nil }?.settings?[3] == 1000)
    #expect(backend.certificates == [try identity.0.toDERBytes()])
    let other = try await lab.connect()
    other.send(Wire.greeting)
    #expect(await other.next { $0.settings != nil }?.settings?[3] == 1)
    #expect(backend.certificates.last == .some(nil))
    await client.close()
    await other.close()
    await lab.stop()
  }

  @Test(arguments: ["of another CA", "too old"])
  func `answers BadCertificate to one that does not count`(kind: String) async throws {
    let backend = TestBackend()
    let lab = try await TestFront.start(backend, asksForCertificate: true)
    let authority = kind == "too old" ? TestFront.authority : try TestAuthority("Test CA")
    let identity = try #require(try authority?.issue("a provider", validFor: kind == "too old" ? -60 : 3600))
    let client = try await lab.connect(identity: identity)
    client.send(Wire.greeting + Wire.push(on: 1, id: "mine"))
    var decoder = HPACKDecoder(allocator: ByteBufferAllocator())
    let answer = try #require(try await client.answer(&decoder))
    #expect(answer.headers[":status"] == "403" && answer.headers["apns-id"] == "mine")
    #expect(answer.text == #"{"reason":"BadCertificate"}"#)
    #expect(await client.farewell() == .init(last: 1, code: 0, text: #"{"reason":"BadCertificate"}"#))
    #expect(backend.requests.isEmpty && backend.certificates.isEmpty)
    #expect(await lab.log.line(with: "the client's certificate is") != nil)
    await lab.stop()
  }

  @Test func `ends an idle connection with Apple's reason`() async throws {
    var limits = PushFrontLimits.unhurried
    limits.idle = 0.3
    let lab = try await TestFront.start(limits: limits)
    let client = try await lab.connect()
    client.send(Wire.greeting + Wire.acknowledgement)
    #expect(await client.farewell() == .init(last: 0, code: 0, text: #"{"reason":"IdleTimeout"}"#))
    #expect(await lab.log.line(with: "closed: IdleTimeout") != nil)
    await lab.stop()
  }

  @Test(arguments: [[], Wire.preface])
  func `ends one that never begins`(bytes: [UInt8]) async throws {
    var limits = PushFrontLimits.unhurried
    limits.handshake = 0.3
    let lab = try await TestFront.start(limits: limits)
    let client = try await lab.connect()
    client.send(bytes)
    #expect(await lab.log.line(with: "closed: no HTTP/2 connection within 0.3 s") != nil)
    // A client that was too slow for TLS can be told nothing.
    let farewell = await client.farewell()
    #expect(farewell == nil || farewell?.text == "no HTTP/2 connection within 0.3 s")
    await lab.stop()
  }

  @Test func `takes no more connections than it may have`() async throws {
    var limits = PushFrontLimits.unhurried
    limits.connections = 1
    let lab = try await TestFront.start(limits: limits)
    let first = try await lab.connect()
    first.send(Wire.greeting)
    #expect(await first.next() != nil)
    let second = try await lab.connect()
    #expect(await second.next() == nil)
    #expect(lab.front.counters.turnedAway == 1)
    await first.close()
    await lab.stop()
  }

  @Test func `that is shut down finishes what is under way and refuses the rest`() async throws {
    let held = Held()
    let lab = try await TestFront.start(TestBackend { request, answer in held.keep { answer(.ok(request)) } })
    let client = try await lab.connect()
    client.send(Wire.greeting + Wire.acknowledgement + Wire.push(on: 1))
    await held.come()
    async let stopped: Void = lab.front.shutDown(within: 3600)
    var decoder = HPACKDecoder(allocator: ByteBufferAllocator())
    let ping = await client.next { $0.kind == 6 }
    #expect(
      await client.next { $0.kind == 7 }?.farewell == .init(last: 0x7fff_ffff, code: 0, text: #"{"reason":"Shutdown"}"#)
    )
    client.send(Wire.acknowledgement + Wire.push(on: 3))
    let refused = try #require(try await client.answer(&decoder))
    #expect(refused.stream == 3 && refused.headers[":status"] == "503" && refused.text == #"{"reason":"Shutdown"}"#)
    client.send(Wire.frame(6, flags: 1, ping?.bytes ?? []))
    held.release()
    #expect(try await client.answer(&decoder)?.headers[":status"] == "200")
    #expect(await client.farewell() == .init(last: 3, code: 0, text: #"{"reason":"Shutdown"}"#))
    await stopped
  }

  @Test func `that is shut down waits no longer than it is told to`() async throws {
    let held = Held()
    let lab = try await TestFront.start(TestBackend { request, answer in held.keep { answer(.ok(request)) } })
    let client = try await lab.connect()
    client.send(Wire.greeting + Wire.push(on: 1))
    await held.come()
    await lab.front.shutDown(within: 0)
    #expect(await client.farewell()?.text == #"{"reason":"Shutdown"}"#)
    held.release()
  }
}
