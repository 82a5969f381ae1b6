// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization
import Testing

@testable import ZeroMQ

@Suite(.timeLimit(.minutes(1)))
struct CurveTests {
  let server: CurveKeyPair
  let client: CurveKeyPair

  init() throws {
    server = try .generate()
    client = try .generate()
  }

  var serverOptions: Socket.Options { .init(curve: .server(server), zapDomain: "bus", mandatory: true) }
  func clientOptions(_ keys: CurveKeyPair) -> Socket.Options {
    .init(curve: .client(keys, serverPublicKey: server.publicKey))
  }

  @Test func `a key pair has keys of 40 characters, derives its public key and hides its secret key in logs`() throws {
    #expect(client.publicKey.utf8.count == 40)
    #expect(client.secretKey.utf8.count == 40)
    #expect(client != server)
    #expect(try CurveKeyPair(secretKey: client.secretKey) == client)
    #expect(!"\(client)".contains(client.secretKey))
    #expect(throws: ZMQError(code: EINVAL, call: "zmq_curve_public")) { try CurveKeyPair(secretKey: "short") }
  }

  @Test func `a ZeroMQ error is described with its call, text and number`() {
    #expect(ZMQError(code: ENOENT, call: "zmq_bind").description == "zmq_bind: No such file or directory (2)")
  }

  /// The first request that an authenticator received.
  final class Question: Sendable {
    let first = Mutex<AuthenticationRequest?>(nil)
  }

  @Test func `the authenticator receives the domain, the peer address and the verified key`() async throws {
    let question = Question()
    try await withLoop { context, loop in
      try await loop.authenticate(context) { request in
        question.first.withLock { $0 = $0 ?? request }
        return .refuse("")
      }
      let router = try await SocketFixture(context, kind: .router, on: loop, options: serverOptions)
      let dealer = try await SocketFixture(context, kind: .dealer, on: loop, options: clientOptions(client))
      try await dealer.connect(router.bind())
      _ = try await router.events.nextMatch { if case .handshakeFailed = $0 { true } else { false } }
    }
    let request = try #require(question.first.withLock { $0 })
    #expect(request.domain == "bus")
    #expect(request.address == "127.0.0.1")
    #expect(request.mechanism == "CURVE")
    #expect(request.publicKey == client.publicKey)
  }

  @Test func `messages with a known key go both ways, and each received one has the key's user id`() async throws {
    try await withLoop { context, loop in
      try await loop.authenticate(context) { _ in .admit(userID: "extension") }
      let router = try await SocketFixture(context, kind: .router, on: loop, options: serverOptions)
      let dealer = try await SocketFixture(context, kind: .dealer, on: loop, options: clientOptions(client))
      try await dealer.connect(router.bind())
      for text in ["one", "two", "three"] {
        try await dealer.send(text)
        let message = try await router.messages.next()
        #expect(message.text == text)
        #expect(message.userID == "extension")
        try await router.send("answer to \(text)", to: message.peer)
        let answer = try await dealer.messages.next()
        #expect(answer.text == "answer to \(text)")
      }
    }
  }

  @Test func `a successful handshake reports the descriptor of the messages that follow`() async throws {
    try await withLoop { context, loop in
      try await loop.authenticate(context) { _ in .admit(userID: "extension") }
      let router = try await SocketFixture(context, kind: .router, on: loop, options: serverOptions)
      let dealer = try await SocketFixture(context, kind: .dealer, on: loop, options: clientOptions(client))
      try await dealer.connect(router.bind())
      let success = try await router.events.nextMatch { if case .handshakeSucceeded = $0 { true } else { false } }
      try await dealer.send("hello")
      let hello = try await router.messages.next()
      #expect(success == .handshakeSucceeded(descriptor: hello.descriptor))
    }
  }

  @Test func `messages with different keys have different user ids`() async throws {
    let other = try CurveKeyPair.generate()
    let users = [client.publicKey: "app", other.publicKey: "extension"]
    try await withLoop { context, loop in
      try await loop.authenticate(context) { request in
        request.publicKey.flatMap { users[$0] }.map { .admit(userID: $0) } ?? .refuse("unknown")
      }
      let router = try await SocketFixture(context, kind: .router, on: loop, options: serverOptions)
      let endpoint = try await router.bind()
      for keys in [client, other] {
        let dealer = try await SocketFixture(context, kind: .dealer, on: loop, options: clientOptions(keys))
        try await dealer.connect(endpoint)
        try await dealer.sendAll(["hello", "again"])
        for await message in router.messages.prefix(2) { #expect(message.userID == users[keys.publicKey]) }
      }
    }
  }

  @Test func `a key that is rejected temporarily is admitted once it is known`() async throws {
    try await withLoop { context, loop in
      let isKnown = Atomic(false)
      try await loop.authenticate(context) { _ in
        isKnown.load(ordering: .acquiring) ? .admit(userID: "late") : .tryAgain("not yet")
      }
      let router = try await SocketFixture(context, kind: .router, on: loop, options: serverOptions)
      let dealer = try await SocketFixture(context, kind: .dealer, on: loop, options: clientOptions(client))
      try await dealer.connect(router.bind())
      try await dealer.send("hello")
      let refusal = try await router.events.nextMatch { if case .handshakeFailed = $0 { true } else { false } }
      guard case .handshakeFailed(code: 300, isAuthentication: true, _) = refusal else {
        Issue.record("not a 300: \(refusal)")
        return
      }
      isKnown.store(true, ordering: .releasing)
      let hello = try await router.messages.next()
      #expect(hello.text == "hello")
      #expect(hello.userID == "late")
    }
  }

  @Test func `the refusal of a key is reported by the server and the client`() async throws {
    try await withLoop { context, loop in
      try await loop.authenticate(context) { _ in .refuse("revoked") }
      let router = try await SocketFixture(context, kind: .router, on: loop, options: serverOptions)
      let dealer = try await SocketFixture(context, kind: .dealer, on: loop, options: clientOptions(client))
      try await dealer.connect(router.bind())
      for events in [router.events, dealer.events] {
        let refusal = try await events.nextMatch { if case .handshakeFailed = $0 { true } else { false } }
        guard case .handshakeFailed(code: 400, isAuthentication: true, let descriptor) = refusal else {
          Issue.record("not a 400: \(refusal)")
          continue
        }
        #expect(descriptor > 0)
      }
    }
  }

  @Test func `a client without CURVE is refused by a CURVE server`() async throws {
    try await withLoop { context, loop in
      try await loop.authenticate(context) { _ in .admit(userID: "client") }
      let router = try await SocketFixture(context, kind: .router, on: loop, options: serverOptions)
      let dealer = try await SocketFixture(context, kind: .dealer, on: loop)
      try await dealer.connect(router.bind())
      let refusal = try await router.events.nextMatch { if case .handshakeFailed = $0 { true } else { false } }
      guard case .handshakeFailed(_, isAuthentication: false, _) = refusal else {
        Issue.record("not a protocol error: \(refusal)")
        return
      }
    }
  }

  @Test func `a client that expects another server's key fails the handshake`() async throws {
    let stranger = try CurveKeyPair.generate()
    try await withLoop { context, loop in
      try await loop.authenticate(context) { _ in .admit(userID: "client") }
      let router = try await SocketFixture(context, kind: .router, on: loop, options: serverOptions)
      let options = Socket.Options(curve: .client(client, serverPublicKey: stranger.publicKey))
      let dealer = try await SocketFixture(context, kind: .dealer, on: loop, options: options)
      try await dealer.connect(router.bind())
      _ = try await router.events.nextMatch { if case .handshakeFailed = $0 { true } else { false } }
    }
  }

  @Test func `a CURVE server without an authenticator refuses every client`() async throws {
    try await withLoop { context, loop in
      let router = try await SocketFixture(context, kind: .router, on: loop, options: serverOptions)
      let dealer = try await SocketFixture(context, kind: .dealer, on: loop, options: clientOptions(client))
      try await dealer.connect(router.bind())
      let end = try await router.events.nextMatch {
        switch $0 {
        case .handshakeFailed, .handshakeSucceeded: true
        default: false
        }
      }
      guard case .handshakeFailed = end else {
        Issue.record("admitted: \(end)")
        return
      }
    }
  }

  @Test func `a CURVE server without a ZAP domain and a socket with a malformed key cannot be created`() async throws {
    try await withLoop { context, loop in
      let withoutDomain = Socket.Options(curve: .server(server))
      let error = await #expect(throws: ZMQError.self) {
        _ = try await SocketFixture(context, kind: .router, on: loop, options: withoutDomain)
      }
      #expect(error?.code == EINVAL)
      let malformed = CurveKeyPair(publicKey: client.publicKey, secretKey: "not a key")
      await #expect(throws: ZMQError(code: EINVAL, call: "zmq_setsockopt(ZMQ_CURVE_SECRETKEY)")) {
        _ = try await SocketFixture(context, kind: .dealer, on: loop, options: clientOptions(malformed))
      }
    }
  }

  @Test func `a context refuses a second authenticator`() async throws {
    try await withLoop { context, loop in
      try await loop.authenticate(context) { _ in .refuse("") }
      await #expect(throws: ZMQError(code: EADDRINUSE, call: "zmq_bind(inproc://zeromq.zap.01)")) {
        try await loop.authenticate(context) { _ in .refuse("") }
      }
    }
  }
}
