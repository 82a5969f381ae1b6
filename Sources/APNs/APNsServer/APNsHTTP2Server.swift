// SPDX-License-Identifier: Apache-2.0

package import APNs
import Archive
import Glibc
import NIOCore
import NIOPosix
import NIOSSL

/// The APNs server for providers: HTTP/2 over TLS, with a backend that handles the requests.
///
/// Frames and flow control are implemented here, over the HPACK of swift-nio-http2. The connection handler of that
/// library accepts at most 100 streams from a client that has not yet acknowledged our SETTINGS, closes the connection
/// when a client opens one stream too many, and cannot report why it closes a connection.
package final class APNsHTTP2Server: Sendable {
  package struct Counters: Hashable, Sendable {
    /// Open connections.
    package let connections: Int
    package let accepted: Int
    /// Connections closed on arrival because of the connection limit.
    package let turnedAway: Int
    package let requests: Int
  }

  /// The bound port.
  package let port: Int
  private let group: MultiThreadedEventLoopGroup
  private let listener: any Channel
  private let registry: ConnectionRegistry

  package var counters: Counters { registry.counters }

  private init(port: Int, group: MultiThreadedEventLoopGroup, listener: any Channel, registry: ConnectionRegistry) {
    self.port = port
    self.group = group
    self.listener = listener
    self.registry = registry
  }

  /// Binds the port and starts serving.
  ///
  /// - Parameter log: called with the reason when a connection is closed or a stream reset. Runs on an event loop and
  ///   must not block.
  /// - Throws: `APNsServerError`, or the error of binding the port.
  package static func start(
    _ configuration: APNsServerConfiguration, backend: any APNsBackend,
    log: @escaping @Sendable (String) -> Void = { _ in }
  ) async throws -> APNsHTTP2Server {
    let tls = try configuration.tls()
    let authority: ClientAuthority?
    do {
      authority = try configuration.clientAuthority.map { try ClientAuthority(derEncoded: $0) }
    } catch {
      throw APNsServerError(.certificate, "the client CA is not a valid certificate: \(error)")
    }
    let group = MultiThreadedEventLoopGroup(numberOfThreads: max(1, configuration.eventLoops))
    let registry = ConnectionRegistry(
      limits: configuration.limits, backend: backend, authority: authority, on: group.next(), log: log)
    let bootstrap = ServerBootstrap(group: group)
      .serverChannelOption(.backlog, value: 4096)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .serverChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(Listener(registry)) }
      }
      .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          let handler = NIOSSLServerHandler(context: tls) { _, promise in promise.succeed(.certificateVerified) }
          try channel.pipeline.syncOperations.addHandlers([
            handler, APNsConnectionHandler(registry, handler, on: channel.eventLoop),
          ])
        }
      }
    do {
      let listener = try await bootstrap.bind(host: configuration.host, port: configuration.port).get()
      return APNsHTTP2Server(
        port: listener.localAddress?.port ?? 0, group: group, listener: listener, registry: registry)
    } catch {
      try? await group.shutdownGracefully()
      throw APNsServerError(
        .endpoint,
        "cannot listen on \(configuration.host):\(configuration.port): \(error). Is the port in use?")
    }
  }

  /// Stops accepting connections. Each connection receives `Shutdown`, finishes its requests and closes; those still
  /// open after `seconds` are closed. Returns when all are closed. Call once.
  package func shutDown(within seconds: Double) async {
    try? await listener.close().get()
    let registry = registry
    registry.beginShutdown()
    // Scheduled after the shutdown was announced, so that each connection sends its GOAWAY even when `seconds` is 0.
    let end = group.next().scheduleTask(in: .nanoseconds(Int64(saturating: seconds * 1e9))) { registry.abandon() }
    await registry.untilEmpty()
    end.cancel()
    try? await group.shutdownGracefully()
  }
}

/// Accepts connections within the limits of the registry and of the process. Confined to the event loop of the listener.
///
/// A connection that is one too many is closed, and the listener pauses, so that clients that connect again and again
/// do not take all time. Without the pause, NIO would report a failed `accept` again at once, and without end.
final class Listener: ChannelInboundHandler {
  typealias InboundIn = any Channel

  /// How long the listener pauses.
  private static let pause = TimeAmount.milliseconds(100)
  /// The quiet time after which the end of the strain is logged.
  private static let quiet = TimeAmount.seconds(1)

  private let registry: ConnectionRegistry
  /// The strain since it began; `nil` without one.
  private var strain: (turnedAway: Int, last: NIODeadline)?
  private var resuming: Scheduled<Void>?

  init(_ registry: ConnectionRegistry) { self.registry = registry }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    if let objection = registry.objection() {
      // Counted before the client sees it.
      registry.turnAway()
      unwrapInboundIn(data).close(promise: nil)
      strained(objection, turnedAway: 1, context)
    } else {
      context.fireChannelRead(data)
    }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    guard let error = error as? IOError else { return context.fireErrorCaught(error) }
    strained(String(cString: strerror(error.errnoCode)), turnedAway: 0, context)
  }

  func handlerRemoved(context: ChannelHandlerContext) { resuming?.cancel() }

  private func strained(_ reason: String, turnedAway: Int, _ context: ChannelHandlerContext) {
    if strain == nil {
      registry.log("no more connections are accepted, and existing ones are served: \(reason)")
    }
    strain = ((strain?.turnedAway ?? 0) + turnedAway, .now())
    guard resuming == nil else { return }
    try? context.channel.syncOptions?.setOption(.autoRead, value: false)
    resume(context)
  }

  /// Accepts again after the pause, and looks for the end of the strain until it is quiet.
  private func resume(_ context: ChannelHandlerContext) {
    resuming = context.eventLoop.assumeIsolated().scheduleTask(in: Self.pause) {
      self.resuming = nil
      try? context.channel.syncOptions?.setOption(.autoRead, value: true)
      guard let strain = self.strain else { return }
      guard NIODeadline.now() - strain.last >= Self.quiet else { return self.resume(context) }
      self.strain = nil
      self.registry.log("connections are accepted again; closed on arrival: \(strain.turnedAway)")
    }
  }
}

/// The descriptors of this process.
enum Descriptors {
  /// The descriptors that connections leave for files and for the bus.
  static func reserve(of limit: Int) -> Int { min(32, limit / 8) }

  /// Why no more connection is accepted; `nil` while there are descriptors beyond the reserve.
  ///
  /// - Parameter limit: the limit of the process, which can be changed from outside.
  static func objection(limit: Int = limit) -> String? {
    // The kernel gives the lowest free number, so that this one tells how many are in use.
    let lowest = open("/dev/null", O_RDONLY | O_CLOEXEC)
    if lowest >= 0 { close(lowest) }
    guard lowest < 0 || Int(lowest) >= limit - reserve(of: limit) else { return nil }
    return "of \(limit) descriptors, only \(reserve(of: limit)) are left; raise the limit (`ulimit -n`)"
  }

  /// The limit of this process.
  static var limit: Int {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 256 }
    return Int(clamping: limit.rlim_cur)
  }
}
