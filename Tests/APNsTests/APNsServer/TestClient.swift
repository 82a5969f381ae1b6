// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOHPACK
import NIOPosix
import NIOSSL

@testable import APNsServer

/// A client that writes bytes and reads frames, over TLS.
final class TestClient: Sendable {
  private let channel: any Channel
  private let frames: AsyncStream<Seen>

  private init(_ channel: any Channel, _ frames: AsyncStream<Seen>) {
    self.channel = channel
    self.frames = frames
  }

  static func connect(
    to port: Int, alpn: [String] = ["h2"], identity: (NIOSSLCertificate, NIOSSLPrivateKey)? = nil,
    change: (inout TLSConfiguration) -> Void = { _ in }
  ) async throws -> TestClient {
    var tls = TLSConfiguration.makeClientConfiguration()
    tls.certificateVerification = .noHostnameVerification
    tls.trustRoots = .certificates([try NIOSSLCertificate(bytes: try TestAPNsServer.authority?.der ?? [], format: .der)]
    )
    tls.applicationProtocols = alpn
    if let identity {
      tls.certificateChain = [.certificate(identity.0)]
      tls.privateKey = .privateKey(identity.1)
    }
    change(&tls)
    let context = try NIOSSLContext(configuration: tls)
    let (stream, continuation) = AsyncStream<Seen>.makeStream()
    let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .connectTimeout(.minutes(1))
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandlers([
            try NIOSSLClientHandler(context: context, serverHostname: "localhost"), FrameTap(continuation),
          ])
        }
      }
      .connect(host: "127.0.0.1", port: port).get()
    return TestClient(channel, stream)
  }

  func send(_ bytes: [UInt8]) { channel.writeAndFlush(ByteBuffer(bytes: bytes), promise: nil) }

  /// Whether all bytes left this process before the connection closed.
  func isSent(_ bytes: [UInt8]) async -> Bool {
    do {
      try await channel.writeAndFlush(ByteBuffer(bytes: bytes)).get()
      return true
    } catch {
      return false
    }
  }

  /// The next matching frame; `nil` when the connection closes first.
  func next(where isLookedFor: (Seen) -> Bool = { _ in true }) async -> Seen? {
    for await frame in frames where isLookedFor(frame) { return frame }
    return nil
  }

  /// Reads until the connection closes; returns its GOAWAY.
  func farewell() async -> Seen.Farewell? {
    var last: Seen.Farewell?
    for await frame in frames { last = frame.farewell ?? last }
    return last
  }

  /// The HEADERS of the next response, and the text of its DATA.
  func answer(_ decoder: inout HPACKDecoder) async throws -> (stream: Int, headers: [String: String], text: String)? {
    guard let head = await next(where: { $0.kind == 1 }) else { return nil }
    let headers = try head.headers(&decoder)
    guard !head.ends else { return (head.stream, headers, "") }
    let body = await next { $0.kind == 0 && $0.stream == head.stream }
    return (head.stream, headers, body?.text ?? "")
  }

  /// Stops reading.
  func stopReading() async throws { try await channel.setOption(.autoRead, value: false).get() }

  func close() async { try? await channel.close().get() }
}

/// Parses received frames; finishes with the connection.
private final class FrameTap: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  private let continuation: AsyncStream<Seen>.Continuation
  private var input = ByteBuffer()

  init(_ continuation: AsyncStream<Seen>.Continuation) { self.continuation = continuation }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    input.writeImmutableBuffer(unwrapInboundIn(data))
    while let frame = Seen(cutFrom: &input) { continuation.yield(frame) }
    input.discardReadBytes()
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

  func channelInactive(context: ChannelHandlerContext) { continuation.finish() }
}
