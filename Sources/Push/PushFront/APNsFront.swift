package import APNs
import NIOCore
import NIOPosix
import NIOSSL

/// What providers connect to: HTTP/2 over TLS at the level of frames, as APNs speaks it, with a backend behind it.
///
/// Frames and flow control are our own, over the HPACK of swift-nio-http2: its connection handler takes no more than 100
/// streams from a client that has not yet acknowledged our SETTINGS, answers one stream too many with the end of the
/// connection, and cannot say why it ends one.
package final class APNsFront: Sendable {
  package struct Counters: Hashable, Sendable {
    /// Open now.
    package let connections: Int
    package let accepted: Int
    /// Closed as they came: there were too many.
    package let turnedAway: Int
    package let requests: Int
  }

  /// As it is bound.
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

  /// - Parameter log: is told why a connection was closed or a stream reset; on an event loop, so quickly.
  /// - Throws: `PushFrontError`, or why the port cannot be had.
  package static func start(
    _ configuration: PushFrontConfiguration, backend: any APNsBackend,
    log: @escaping @Sendable (String) -> Void = { _ in }
  ) async throws -> APNsFront {
    let tls = try configuration.tls()
    let authority: ClientAuthority?
    do {
      authority = try configuration.clientAuthority.map { try ClientAuthority(derEncoded: $0) }
    } catch {
      throw PushFrontError("the CA of the clients is no certificate: \(error)")
    }
    let registry = ConnectionRegistry(
      limits: configuration.limits, backend: backend, authority: authority, log: log)
    let group = MultiThreadedEventLoopGroup(numberOfThreads: max(1, configuration.eventLoops))
    let bootstrap = ServerBootstrap(group: group)
      .serverChannelOption(.backlog, value: 4096)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          guard registry.admit() else { return channel.close(promise: nil) }
          let handler = NIOSSLServerHandler(context: tls) { _, promise in promise.succeed(.certificateVerified) }
          try channel.pipeline.syncOperations.addHandlers([
            handler, ProviderConnection(registry, handler, on: channel.eventLoop),
          ])
        }
      }
    do {
      let listener = try await bootstrap.bind(host: configuration.host, port: configuration.port).get()
      return APNsFront(
        port: listener.localAddress?.port ?? 0, group: group, listener: listener, registry: registry)
    } catch {
      try? await group.shutdownGracefully()
      throw PushFrontError(
        "cannot listen on \(configuration.host):\(configuration.port): \(error); is another one there?")
    }
  }

  /// No connection is taken any more; each is told `Shutdown`, finishes what is under way and ends, within so many seconds.
  /// Returns when all are closed. Once.
  package func shutDown(within seconds: Double) async {
    try? await listener.close().get()
    let registry = registry
    registry.beginShutdown()
    // After the connections were told, so that each of them says its GOAWAY even when there is no time.
    let end = group.next().scheduleTask(in: .nanoseconds(Int64(seconds * 1e9))) { registry.abandon() }
    await registry.untilEmpty()
    end.cancel()
    try? await group.shutdownGracefully()
  }
}
