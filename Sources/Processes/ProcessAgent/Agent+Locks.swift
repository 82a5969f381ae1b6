// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import Messages

// Locks on files of app groups that a child holds when the host suspends it.

extension Agent {
  // Less than the time within which the host expects the reply.
  private static let patience = Duration.seconds(4)

  /// Reports the locks of a child that the host has just stopped. Returns when the host has acknowledged the report, so
  /// that it ends the child before it regards it as suspended.
  func reportLocks(of instance: ChildInstance, pid: Int32) async {
    guard let groups = folders[instance]?.groups, !groups.isEmpty else { return }
    let locks = await Self.locks(ofStopped: pid, groups: groups)
    guard !locks.isEmpty else { return }
    let event = LocksHeld(
      address: instance.address, generation: instance.generation, pid: table.reported(pid),
      locks: Array(locks.prefix(LocksHeld.limit)), count: locks.count)
    _ = await delivered(event, UUID())
  }

  /// The locks of a process when all its threads have stopped. Empty when that takes too long, and when the process was
  /// continued before the end.
  @concurrent private static func locks(ofStopped pid: Int32, groups: [String: String]) async -> [HeldLock] {
    let deadline = ContinuousClock.now + patience
    // The kernel reports a stop to the parent when the first thread has stopped, and the others shortly after.
    while !isStopped(pid) {
      guard ContinuousClock.now < deadline, (try? await Task.sleep(for: .microseconds(100))) != nil else { return [] }
    }
    let folders = groups.mapValues { URL(fileURLWithPath: $0).resolvingSymlinksInPath().path }
    let locks = FileLock.held(FileLock.locks(of: pid), groups: folders)
    return isStopped(pid) ? locks : []
  }

  /// Whether all threads of a process are stopped. `true` when it does not exist.
  private static func isStopped(_ pid: Int32) -> Bool {
    ProcFile.numbers(in: "/proc/\(pid)/task").allSatisfy { ChildStatus(of: $0)?.isStopped ?? true }
  }
}

/// The folders of a child.
struct ChildFolders: Sendable {
  let container: String
  /// Folders of app groups, by identifier.
  let groups: [String: String]

  init(_ request: SpawnProcess) {
    container = request.container
    groups = request.groups
  }

  var all: [String] { [container] + groups.values }
}
