// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing

@testable import ZeroMQ

@Suite(.timeLimit(.minutes(1)))
struct SocketTests {
  @Test func `a wildcard port is resolved to the bound port`() async throws {
    try await withLoop { context, loop in
      let endpoint = try await SocketFixture(context, kind: .router, on: loop).bind("tcp://127.0.0.1:*")
      let port = try #require(endpoint.split(separator: ":").last.flatMap { UInt16($0) })
      #expect(port > 0)
    }
  }

  @Test func `an endpoint in use and a malformed endpoint are errors`() async throws {
    try await withLoop { context, loop in
      let endpoint = try await SocketFixture(context, kind: .router, on: loop).bind()
      let other = try await SocketFixture(context, kind: .router, on: loop)
      await #expect(throws: ZMQError(code: EADDRINUSE, call: "zmq_bind(\(endpoint))")) {
        try await other.bind(endpoint)
      }
      await #expect(throws: ZMQError(code: EINVAL, call: "zmq_connect(nonsense)")) {
        try await other.connect("nonsense")
      }
    }
  }

  @Test func `a message goes from a DEALER to a ROUTER and back`() async throws {
    try await withLoop { context, loop in
      let router = try await SocketFixture(context, kind: .router, on: loop, options: .init(mandatory: true))
      let dealer = try await SocketFixture(context, kind: .dealer, on: loop)
      try await dealer.connect(router.bind())
      try await dealer.send("question")
      let question = try await router.messages.next()
      #expect(question.text == "question")
      #expect(question.peerAddress == "127.0.0.1")
      #expect(question.userID == nil)
      #expect(!question.isMultipart)
      #expect(try await router.send("answer", to: question.peer) == .queued)
      let answer = try await dealer.messages.next()
      #expect(answer.text == "answer")
      #expect(answer.peer == nil)
    }
  }

  @Test func `a ROUTER changes received frames and sends them on without a copy`() async throws {
    try await withLoop { context, loop in
      let router = try await SocketFixture(context, kind: .router, on: loop, options: .init(mandatory: true))
      let sender = try await SocketFixture(context, kind: .dealer, on: loop)
      let receiver = try await SocketFixture(context, kind: .dealer, on: loop)
      let endpoint = try await router.bind()
      try await receiver.connect(endpoint)
      try await receiver.send("hello")
      let hello = try await router.messages.next()
      try await router.relayFrames(to: try #require(hello.peer))
      try await sender.connect(endpoint)
      let texts = ["short", String(repeating: "long ", count: 1000)]
      for text in texts { try await sender.send(text) }
      for text in texts {
        let changed = "!\(text.dropFirst())"
        let relayed = try await router.messages.next()
        #expect(relayed.text == changed)
        #expect(relayed.peerAddress == "127.0.0.1")
        #expect(try await receiver.messages.next().text == changed)
      }
    }
  }

  @Test func `ten thousand messages arrive in order`() async throws {
    try await withLoop { context, loop in
      let router = try await SocketFixture(context, kind: .router, on: loop, options: .init(receiveHighWaterMark: 100))
      let dealer = try await SocketFixture(context, kind: .dealer, on: loop, options: .init(sendHighWaterMark: 100))
      try await dealer.connect(router.bind())
      let texts = (0..<10_000).map(String.init)
      async let sending: Void = dealer.sendAll(texts)
      var received: [String] = []
      for await message in router.messages {
        received.append(message.text)
        if received.count == texts.count { break }
      }
      try await sending
      #expect(received == texts)
    }
  }

  @Test func `a socket without a connection would block, and reports when it becomes writable`() async throws {
    try await withLoop { context, loop in
      let router = try await SocketFixture(context, kind: .router, on: loop)
      let dealer = try await SocketFixture(context, kind: .dealer, on: loop, options: .init(immediate: true))
      #expect(try await dealer.send("early") == .wouldBlock)
      try await dealer.connect(router.bind())
      try await dealer.writable()
      #expect(try await dealer.send("in time") == .queued)
      #expect(try await router.messages.next().text == "in time")
    }
  }

  @Test func `a message to a disconnected or unknown peer is unroutable`() async throws {
    try await withLoop { context, loop in
      let router = try await SocketFixture(context, kind: .router, on: loop, options: .init(mandatory: true))
      let dealer = try await SocketFixture(context, kind: .dealer, on: loop)
      try await dealer.connect(router.bind())
      try await dealer.send("hello")
      let hello = try await router.messages.next()
      try await dealer.close()
      _ = try await router.events.nextMatch { $0 == .disconnected(descriptor: hello.descriptor) }
      // ZeroMQ reports the disconnection before the socket forgets the peer.
      var late = try await router.send("late", to: hello.peer)
      while late == .queued {
        try Task.checkCancellation()
        await Task.yield()
        late = try await router.send("late", to: hello.peer)
      }
      #expect(late == .unroutable)
      #expect(try await router.send("unknown", to: PeerID(raw: 1)) == .unroutable)
    }
  }

  @Test func `a disconnection is reported with the descriptor of the peer's messages`() async throws {
    try await withLoop { context, loop in
      let router = try await SocketFixture(context, kind: .router, on: loop)
      let endpoint = try await router.bind()
      let (one, other) = (
        try await SocketFixture(context, kind: .dealer, on: loop),
        try await SocketFixture(context, kind: .dealer, on: loop)
      )
      for dealer in [one, other] { try await dealer.connect(endpoint) }
      try await one.send("one")
      let first = try await router.messages.next()
      try await other.send("other")
      let second = try await router.messages.next()
      #expect(first.descriptor > 0)
      #expect(first.descriptor != second.descriptor)
      #expect(first.peer != second.peer)
      try await other.close()
      let event = try await router.events.nextMatch { if case .disconnected = $0 { true } else { false } }
      #expect(event == .disconnected(descriptor: second.descriptor))
    }
  }

  @Test func `a disconnection is reported before the first message of the next connection on the same descriptor`()
    async throws
  {
    try await withLoop { context, loop in
      let (received, sink) = AsyncStream<String?>.makeStream()
      let endpoint: String = try await withCheckedThrowingContinuation { continuation in
        loop.post {
          do throws(ZMQError) {
            let router = try Socket(context, kind: .router, on: loop, options: .init())
            var holders: [Int32: PeerID] = [:]
            router.onEvent { if case .disconnected(let descriptor) = $0 { holders[descriptor] = nil } }
            router.onMessages { batch in
              for message in batch {
                guard let peer = message.peer else { continue }
                let previous = holders.updateValue(peer, forKey: message.descriptor)
                sink.yield(previous.map { "\(peer) took \(message.descriptor) from \($0)" })
              }
            }
            continuation.resume(returning: try router.bind("tcp://127.0.0.1:*"))
          } catch { continuation.resume(throwing: error) }
        }
      }
      for _ in 0..<50 {
        let dealer = try await SocketFixture(context, kind: .dealer, on: loop)
        try await dealer.connect(endpoint)
        try await dealer.send("hello")
        #expect(try await received.next() == nil)
        try await dealer.close()
      }
    }
  }

  @Test func `an XPUB socket receives subscriptions and sends only the messages that begin with the prefix`()
    async throws
  {
    try await withLoop { context, loop in
      let publisher = try await SocketFixture(context, kind: .xpub, on: loop)
      let subscriber = try await SocketFixture(context, kind: .sub, on: loop)
      try await subscriber.connect(publisher.bind())
      try await subscriber.subscribe("transfer.")
      #expect(try await publisher.messages.next().text == "\u{1}transfer.")
      for text in ["timeline.1", "transfer.1", "push.1", "transfer.2"] { try await publisher.send(text) }
      var texts: [String] = []
      for await message in subscriber.messages.prefix(2) { texts.append(message.text) }
      #expect(texts == ["transfer.1", "transfer.2"])
    }
  }

  @Test func `a peer that sends an oversize message is disconnected and may reconnect as a new peer`() async throws {
    try await withLoop { context, loop in
      let router = try await SocketFixture(context, kind: .router, on: loop, options: .init(maxMessageSize: 1_000))
      let dealer = try await SocketFixture(context, kind: .dealer, on: loop)
      try await dealer.connect(router.bind())
      try await dealer.send("small")
      let small = try await router.messages.next()
      try await dealer.send(String(repeating: "x", count: 1_001))
      _ = try await router.events.nextMatch { $0 == .disconnected(descriptor: small.descriptor) }
      _ = try await dealer.events.nextMatch { if case .disconnected = $0 { true } else { false } }
      try await dealer.send("again")
      let again = try await router.messages.next()
      #expect(again.text == "again")
      #expect(again.peer != small.peer)
    }
  }

  @Test func `only the first frame of a multipart message is received, and the message is flagged`() async throws {
    try await withLoop { context, loop in
      let router = try await SocketFixture(context, kind: .router, on: loop)
      let endpoint = try await router.bind()
      let raw = try RawSocket(context, type: Socket.Kind.dealer.type)
      defer { raw.close(linger: .zero) }
      try raw.connect(endpoint)
      _ = try raw.send(Array("first".utf8), more: true)
      _ = try raw.send(Array("second".utf8), more: false)
      _ = try raw.send(Array("single".utf8), more: false)
      let multipart = try await router.messages.next()
      #expect(multipart.text == "first")
      #expect(multipart.isMultipart)
      let single = try await router.messages.next()
      #expect(single.text == "single")
      #expect(!single.isMultipart)
    }
  }

  @Test func `a peer with its own routing id is not served, and an event reports it`() async throws {
    try await withLoop { context, loop in
      let router = try await SocketFixture(context, kind: .router, on: loop)
      let raw = try RawSocket(context, type: Socket.Kind.dealer.type)
      defer { raw.close(linger: .zero) }
      // Option 5 is ZMQ_ROUTING_ID.
      try raw.set(5, "ZMQ_ROUTING_ID", bytes: Array("me".utf8))
      try raw.connect(try await router.bind())
      _ = try raw.send(Array("hello".utf8), more: false)
      let event = try await router.events.nextMatch { if case .foreignRoutingID = $0 { true } else { false } }
      #expect(event != .foreignRoutingID(descriptor: SocketEvent.unknownDescriptor))
    }
  }

  @Test func `a context that runs out of sockets reports an error, and the open sockets keep working`() async throws {
    let context = try Context(maximumSockets: 8)
    let loop = Loop(name: "test-loop")
    let router = try await SocketFixture(context, kind: .router, on: loop)
    let dealer = try await SocketFixture(context, kind: .dealer, on: loop)
    let error = await #expect(throws: ZMQError.self) { _ = try await SocketFixture(context, kind: .dealer, on: loop) }
    #expect(error?.code == EMFILE)
    try await dealer.connect(router.bind())
    try await dealer.send("still here")
    #expect(try await router.messages.next().text == "still here")
    await loop.stop()
    await context.terminate()
  }

  @Test func `a send on a closed socket fails`() async throws {
    try await withLoop { context, loop in
      let dealer = try await SocketFixture(context, kind: .dealer, on: loop)
      try await dealer.close()
      try await dealer.close()
      await #expect(throws: ZMQError(code: ENOTSOCK, call: "zmq_send")) { try await dealer.send("late") }
    }
  }

  @Test func `a context that is terminated closes its open sockets, and the loop keeps running`() async throws {
    let (context, loop) = (try Context(), Loop(name: "test-loop"))
    let router = try await SocketFixture(context, kind: .router, on: loop)
    _ = try await router.bind()
    await context.terminate()
    await #expect(throws: ZMQError(code: ENOTSOCK, call: "zmq_connect(tcp://127.0.0.1:1)")) {
      try await router.connect("tcp://127.0.0.1:1")
    }
    let error = await #expect(throws: ZMQError.self) { _ = try await SocketFixture(context, kind: .dealer, on: loop) }
    #expect(error?.description == "zmq_socket: Context was terminated (156384765)")
    await loop.stop()
  }

  @Test func `a stopped loop sends the pending messages that its sockets' linger allows`() async throws {
    try await withLoop { context, loop in
      let router = try await SocketFixture(context, kind: .router, on: loop)
      let endpoint = try await router.bind()
      let leaving = Loop(name: "leaving-loop")
      let dealer = try await SocketFixture(context, kind: .dealer, on: leaving, options: .init(linger: .seconds(10)))
      try await dealer.connect(endpoint)
      try await dealer.send("last words")
      await leaving.stop()
      #expect(try await router.messages.next().text == "last words")
    }
  }
}
