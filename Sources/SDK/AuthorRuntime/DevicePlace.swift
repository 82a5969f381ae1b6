// SPDX-License-Identifier: Apache-2.0

package import Archive
import Foundation
import Glibc
import Synchronization

/// Where the device is, and what its user permits, as this process knows it: from its environment at its launch, and later
/// by messages.
package final class DevicePlace: Sendable {
  /// What the process knows.
  package struct State: Hashable, Sendable {
    package var location: DeviceLocation?
    /// Whether the user has forbidden apps to use the location.
    package var isDenied: Bool
  }

  private struct Known {
    var state: State
    var observers: [Int: @Sendable (State) -> Void] = [:]
    var answers: [Int: AsyncStream<Void>.Continuation] = [:]
    var next = 0
  }

  private let knownPlace: Mutex<Known>

  init(_ environment: [String: String]) {
    let state = State(
      location: environment["SIMULATOR_LOCATION"].flatMap { DeviceLocation($0) },
      isDenied: environment["SIMULATOR_LOCATION_ACCESS"] == "denied")
    knownPlace = Mutex(Known(state: state))
  }

  /// That of a process. Created once; any thread.
  package static func of(_ process: HostedProcess) -> DevicePlace {
    process.part(DevicePlace.self) { _ in DevicePlace(ProcessInfo.processInfo.environment) }
  }

  package var state: State { knownPlace.withLock { $0.state } }

  /// Calls a closure after each change, on any thread.
  ///
  /// - Returns: a number for `forget`.
  package func observe(_ change: @escaping @Sendable (State) -> Void) -> Int {
    knownPlace.withLock { knownPlace in
      knownPlace.next += 1
      knownPlace.observers[knownPlace.next] = change
      return knownPlace.next
    }
  }

  /// An element after each change, from now on, of what the user answers to an app that asks to show notifications.
  package var answerChanges: AsyncStream<Void> {
    let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    let number = knownPlace.withLock { knownPlace in
      knownPlace.next += 1
      knownPlace.answers[knownPlace.next] = continuation
      return knownPlace.next
    }
    continuation.onTermination = { [weak self] _ in
      _ = self?.knownPlace.withLock { $0.answers.removeValue(forKey: number) }
    }
    return stream
  }

  package func forget(_ number: Int) { _ = knownPlace.withLock { $0.observers.removeValue(forKey: number) } }

  /// The device's settings arrived.
  package func set(_ settings: DeviceSettings) {
    let state = State(location: settings.location, isDenied: settings.isLocationDenied)
    let observers = knownPlace.withLock { knownPlace -> [@Sendable (State) -> Void] in
      guard knownPlace.state != state else { return [] }
      knownPlace.state = state
      return Array(knownPlace.observers.values)
    }
    for observer in observers { observer(state) }
    // Those that wait ask the host again, which knows the answer.
    for answer in knownPlace.withLock({ Array($0.answers.values) }) { answer.yield() }
  }
}

/// A lock on a folder, which threads and processes hold in turn. The operating system releases it with its process.
package enum FolderLock {
  /// Why a folder was not locked.
  package struct Failure: Error {
    /// `errno`. `EWOULDBLOCK`: another holder kept the lock for the whole time.
    package let code: Int32
    /// Whether the folder was opened.
    package let isOpened: Bool
  }

  /// Takes the lock, and waits for it if necessary. Blocks the thread.
  ///
  /// - Parameters:
  ///   - folder: an existing folder.
  ///   - patience: how long to wait for another holder, which may be suspended.
  /// - Returns: a descriptor. The lock ends when it is closed.
  package static func take(_ folder: String, patience: Duration) throws(Failure) -> Int32 {
    let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw Failure(code: errno, isOpened: false) }
    let end = ContinuousClock.now + patience
    while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
      let code = errno
      guard code == EWOULDBLOCK || code == EINTR, ContinuousClock.now < end else {
        close(descriptor)
        throw Failure(code: code, isOpened: true)
      }
      // A wait for the lock would have no end, so the lock is asked for each millisecond.
      poll(nil, 0, 1)
    }
    return descriptor
  }
}
