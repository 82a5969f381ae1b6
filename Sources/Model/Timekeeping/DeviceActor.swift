// SPDX-License-Identifier: Apache-2.0

/// The device: its services run on this actor, as the views of an app run on the main actor. A call from one service to
/// another is synchronous, and nothing runs in between.
///
/// A process has one device. Several in one process, as in tests, share the executor and nothing else.
@globalActor package actor DeviceActor {
  package static let shared = DeviceActor()
  package static let executor = ServiceExecutor("device")
  package nonisolated var unownedExecutor: UnownedSerialExecutor { Self.executor.asUnownedSerialExecutor() }

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
