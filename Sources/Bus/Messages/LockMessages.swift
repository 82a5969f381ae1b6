// SPDX-License-Identifier: Apache-2.0

// What an agent reports about locks on the files of app groups.

/// A lock of a suspended process on a file of an app group.
package struct HeldLock: Codable, Hashable, Sendable {
  /// The identifier of the app group.
  package let group: String
  /// The path of the file below the group's folder; for SQLite, that of the database.
  package let file: String
  /// The kind of lock: `SQLite transaction`, `flock`, `fcntl` or `lease`.
  package let kind: String
  package init(group: String, file: String, kind: String) {
    self.group = group
    self.file = file
    self.kind = kind
  }
}

/// A child that the host suspended holds locks on files of its app groups. Sent after each such suspension, until the
/// host has acknowledged it; the host ends the child.
package struct LocksHeld: Event, CustomStringConvertible {
  package static let kind: Kind = "process.locks-held"
  /// The maximum number of locks in the event.
  package static let limit = 8
  package let address: Address
  package let generation: UInt32
  package let pid: Int32
  /// Sorted by group, file and kind. At least one.
  package let locks: [HeldLock]
  /// The number of locks, including those that are not in `locks`.
  package let count: Int
  package init(address: Address, generation: UInt32, pid: Int32, locks: [HeldLock], count: Int) {
    self.address = address
    self.generation = generation
    self.pid = pid
    self.locks = locks
    self.count = count
  }

  /// `0xdead10cc: suspended while it held a lock (flock) on notes.db of group.com.example`.
  package var description: String {
    let first = locks.first.map { "(\($0.kind)) on \($0.file) of \($0.group)" } ?? ""
    return "0xdead10cc: suspended while it held a lock \(first)" + (count > 1 ? ", and \(count - 1) more" : "")
  }
}
