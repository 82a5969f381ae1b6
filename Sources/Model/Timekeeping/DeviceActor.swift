// SPDX-License-Identifier: Apache-2.0

/// The device: its services run on this actor, as the views of an app run on the main actor. A call from one service to
/// another is synchronous, and nothing runs in between.
///
/// A process has one device. Several in one process, as in tests, share the executor and nothing else.
@globalActor package actor DeviceActor {
  package static let shared = DeviceActor()
  package static let executor = ServiceExecutor("device")
  package nonisolated var unownedExecutor: UnownedSerialExecutor { Self.executor.asUnownedSerialExecutor() }

  /// What follows from the call that runs now, in order. Everything before the index `next` is done.
  @DeviceActor private static var following: [@DeviceActor () -> Void] = []
  @DeviceActor private static var next = 0
  @DeviceActor private static var isSettling = false

  /// Does something after the call that runs now, and after what else follows from it. So a service has finished with an
  /// event when another one calls it. A transaction of the device that is due begins after it.
  @DeviceActor package static func follow(_ work: @escaping @DeviceActor () -> Void) {
    following.append(work)
    if following.count == 1 { executor.submit { assumeIsolated { settle() } } }
  }

  /// Does now what follows, and what follows from that. Returns at once within something that follows.
  @DeviceActor package static func settle() {
    guard !isSettling else { return }
    isSettling = true
    while next < following.count {
      let work = following[next]
      next += 1
      work()
    }
    following.removeAll(keepingCapacity: following.count < 64)
    next = 0
    isSettling = false
  }

  /// Does work on the executor, which runs this call. Traps elsewhere.
  package nonisolated static func assumeIsolated<Result: Sendable, Failure: Error>(
    _ work: @DeviceActor () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    executor.checkIsolated()
    // As `MainActor.assumeIsolated` does it: the language has no other way for an actor of a program.
    typealias Unisolated = () throws(Failure) -> Result
    return try withoutActuallyEscaping(work) { work throws(Failure) in
      try unsafeBitCast(work, to: Unisolated.self)()
    }
  }
}
