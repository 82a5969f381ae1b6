// SPDX-License-Identifier: Apache-2.0

import Glibc
import NIOCore

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
  /// Those that connections leave for files and for the bus.
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
