// SPDX-License-Identifier: Apache-2.0

import Foundation
import NIOCore
import NIOPosix
import NIOSSL
import Synchronization

/// A server that sends raw bytes, valid or not. The test scripts the response to each request.
final class RawServer: Sendable {
  /// The steps of a response, in order. After the last step the connection stays open without data.
  enum Step: Sendable {
    case send(String)
    case bytes([UInt8])
    case close
    /// Sends this number of bytes, one every 50 ms.
    case drip(Int)
    /// Sends the same text repeatedly until a write fails.
    case endless(String)
  }

  /// A received request.
  struct Seen: Sendable {
    /// Starts at 1.
    let number: Int
    let head: String
    let body: [UInt8]

    /// The value of a header.
    func header(_ name: String) -> String? {
      let lines = head.split(separator: "\r\n").filter { $0.lowercased().hasPrefix(name.lowercased() + ":") }
      return lines.first.map { $0.dropFirst(name.count + 1).trimmingCharacters(in: .whitespaces) }
    }

    var line: String { head.split(separator: "\r\n").first.map(String.init) ?? "" }
  }

  private let requests = Mutex<[Seen]>([])
  private let script: @Sendable (Seen) -> [Step]
  private let channel = Mutex<(any Channel)?>(nil)

  private init(_ script: @escaping @Sendable (Seen) -> [Step]) { self.script = script }

  /// Starts a server on a free port.
  static func start(
    certificate: String? = nil, _ script: @escaping @Sendable (Seen) -> [Step]
  ) async throws -> RawServer {
    let server = RawServer(script)
    let context = try certificate.map(TestCertificates.context)
    let bootstrap = ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          if let context { try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: context)) }
          try channel.pipeline.syncOperations.addHandler(Message(server))
        }
      }
    let channel = try await bootstrap.bind(host: "127.0.0.1", port: 0).get()
    server.channel.withLock { $0 = channel }
    return server
  }

  func stop() async { try? await channel.withLock { $0 }?.close() }
  var port: Int { channel.withLock { $0?.localAddress?.port } ?? 0 }
  var url: String { "http://127.0.0.1:\(port)/file" }
  var seen: [Seen] { requests.withLock { $0 } }

  fileprivate func took(_ head: String, _ body: [UInt8]) -> [Step] {
    let seen = requests.withLock { requests in
      requests.append(Seen(number: requests.count + 1, head: head, body: body))
      return requests[requests.count - 1]
    }
    return script(seen)
  }
}

private final class Message: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer
  private let server: RawServer
  private var got: [UInt8] = []

  init(_ server: RawServer) { self.server = server }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    got += unwrapInboundIn(data).readableBytesView
    let end = Array("\r\n\r\n".utf8)
    while let range = got.firstRange(of: end) {
      let head = String(decoding: got[..<range.lowerBound], as: UTF8.self)
      let seen = RawServer.Seen(number: 0, head: head, body: [])
      let length = seen.header("Content-Length").flatMap(Int.init) ?? 0
      guard got.count >= range.upperBound + length else { return }
      let body = Array(got[range.upperBound..<range.upperBound + length])
      got.removeFirst(range.upperBound + length)
      perform(server.took(head, body)[...], context.channel)
    }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

  private func perform(_ steps: ArraySlice<RawServer.Step>, _ channel: any Channel) {
    guard let step = steps.first, channel.isActive else { return }
    let rest = steps.dropFirst()
    switch step {
    case .send(let text):
      channel.writeAndFlush(ByteBuffer(string: text), promise: nil)
      perform(rest, channel)
    case .bytes(let bytes):
      channel.writeAndFlush(ByteBuffer(bytes: bytes), promise: nil)
      perform(rest, channel)
    case .close: channel.writeAndFlush(ByteBuffer()).whenComplete { _ in channel.close(promise: nil) }
    case .drip(let count):
      guard count > 0 else { return perform(rest, channel) }
      let next = NIOLoopBound((self, [.send("x"), .drip(count - 1)] + rest), eventLoop: channel.eventLoop)
      channel.eventLoop.scheduleTask(in: .milliseconds(50)) { next.value.0.perform(next.value.1[...], channel) }
    case .endless(let text):
      let next = NIOLoopBound(self, eventLoop: channel.eventLoop)
      // Deferred: a write that completes immediately would recurse, and the stack would grow with each write.
      channel.writeAndFlush(ByteBuffer(string: text)).whenSuccess {
        channel.eventLoop.execute { next.value.perform([.endless(text)], channel) }
      }
    }
  }
}

/// A server that responds in plain text to any bytes.
final class PlainTalker: Sendable {
  private let channel: any Channel
  private init(_ channel: any Channel) { self.channel = channel }

  static func start() async throws -> PlainTalker {
    let bootstrap = ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(Talk()) }
      }
    return PlainTalker(try await bootstrap.bind(host: "127.0.0.1", port: 0).get())
  }

  var port: Int { channel.localAddress?.port ?? 0 }
  func stop() async { try? await channel.close() }

  private final class Talk: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      context.channel.writeAndFlush(ByteBuffer(string: "500 what do you say\r\n"), promise: nil)
    }
  }
}

/// A port without a listener, reserved so that no other server gets it.
final class UnheardPort: Sendable {
  private let descriptor: Int32
  let port: Int

  init() {
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let descriptor = descriptor
    withUnsafeMutablePointer(to: &address) { address in
      address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        _ = bind(descriptor, address, length)
        _ = getsockname(descriptor, address, &length)
      }
    }
    port = Int(UInt16(bigEndian: address.sin_port))
  }

  deinit { close(descriptor) }
  var url: String { "http://127.0.0.1:\(port)/file" }
}

/// Certificates with one key that no device trusts. Made for these tests.
enum TestCertificates {
  static func context(_ certificate: String) throws -> NIOSSLContext {
    let certificates = try NIOSSLCertificate.fromPEMBytes(Array(certificate.utf8))
    let key = try NIOSSLPrivateKey(bytes: Array(key.utf8), format: .pem)
    return try NIOSSLContext(
      configuration: .makeServerConfiguration(
        certificateChain: certificates.map { .certificate($0) }, privateKey: .privateKey(key)))
  }

  /// For `localhost`, valid until 2120.
  static let selfSigned = """
    -----BEGIN CERTIFICATE-----
    MIIBTjCB9qADAgECAgEBMAoGCCqGSM49BAMCMBQxEjAQBgNVBAMMCWxvY2FsaG9z
    dDAgFw0yMDAxMDEwMDAwMDBaGA8yMTIwMDEwMTAwMDAwMFowFDESMBAGA1UEAwwJ
    bG9jYWxob3N0MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEQEy1oI00rgA243wt
    ouA9soD5q687OJBemjy6xZn3nYOBjRF7OU7ElfWuGe4282vLiA5m0UqozX6v7Wlx
    PsT8Z6M3MDUwFAYDVR0RBA0wC4IJbG9jYWxob3N0MB0GA1UdDgQWBBS5PblW7r5a
    4rnJlSH25ikbEswJeTAKBggqhkjOPQQDAgNHADBEAiAPt8cluaqvUOokk6LYTxWo
    9MkDI5r0p/6HR8ocqekFmQIgYzEUvhjjMisw+UhGUQp+qXtoHsMflhjvV624jrdg
    D9Y=
    -----END CERTIFICATE-----
    """
  /// For `example.com`, valid until 2120.
  static let otherHost = """
    -----BEGIN CERTIFICATE-----
    MIIBVDCB/KADAgECAgEBMAoGCCqGSM49BAMCMBYxFDASBgNVBAMMC2V4YW1wbGUu
    Y29tMCAXDTIwMDEwMTAwMDAwMFoYDzIxMjAwMTAxMDAwMDAwWjAWMRQwEgYDVQQD
    DAtleGFtcGxlLmNvbTBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABEBMtaCNNK4A
    NuN8LaLgPbKA+auvOziQXpo8usWZ952DgY0RezlOxJX1rhnuNvNry4gOZtFKqM1+
    r+1pcT7E/GejOTA3MBYGA1UdEQQPMA2CC2V4YW1wbGUuY29tMB0GA1UdDgQWBBS5
    PblW7r5a4rnJlSH25ikbEswJeTAKBggqhkjOPQQDAgNHADBEAiA9gjqXqhkzSTeh
    6iEY6LSPqzvkMfcBYBXYisK/DS4RPgIgaXWYGE4q6V/URxc4QBI2gqw2EPBG6h/D
    jQLhnKubJ94=
    -----END CERTIFICATE-----
    """
  /// For `localhost`, expired on 2 January 2020.
  static let expired = """
    -----BEGIN CERTIFICATE-----
    MIIBTTCB9KADAgECAgEBMAoGCCqGSM49BAMCMBQxEjAQBgNVBAMMCWxvY2FsaG9z
    dDAeFw0yMDAxMDEwMDAwMDBaFw0yMDAxMDIwMDAwMDBaMBQxEjAQBgNVBAMMCWxv
    Y2FsaG9zdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABEBMtaCNNK4ANuN8LaLg
    PbKA+auvOziQXpo8usWZ952DgY0RezlOxJX1rhnuNvNry4gOZtFKqM1+r+1pcT7E
    /GejNzA1MBQGA1UdEQQNMAuCCWxvY2FsaG9zdDAdBgNVHQ4EFgQUuT25Vu6+WuK5
    yZUh9uYpGxLMCXkwCgYIKoZIzj0EAwIDSAAwRQIhAPixyxCPCeZ/1OkM2agtT8gX
    G5s+yx+yNS6/D0a0E9EJAiBRdL3aLMQpgi5r/PpER6ktc7wegjCJ/i/OSkWE6UUA
    Hw==
    -----END CERTIFICATE-----
    """
  private static let key = """
    -----BEGIN PRIVATE KEY-----
    MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgsMrbzrlhTHT+cLFn
    Kr8C+DyARVo7AN/fFYMHdFfaU0yhRANCAARATLWgjTSuADbjfC2i4D2ygPmrrzs4
    kF6aPLrFmfedg4GNEXs5TsSV9a4Z7jbza8uIDmbRSqjNfq/taXE+xPxn
    -----END PRIVATE KEY-----
    """
}
