// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import Synchronization

/// The log of one domain of user defaults. Any number of processes read and append to it at once.
///
/// Each change is one `write` at the end of the file: it is visible to all processes at their next read, it is not
/// lost with the process, and no writer waits for another. A suspended process therefore blocks no other process. A
/// process that has the file open holds a shared lock on it, so that `compact` leaves the file alone. Any thread.
package final class DefaultsFile: Sendable {
  /// A failure of a call of the operating system.
  package struct Failure: Error, CustomStringConvertible {
    package let path: String
    /// What was attempted, such as `opened`.
    package let attempt: String
    /// `errno`.
    package let code: Int32
    package var description: String { "\(path) cannot be \(attempt): \(String(cString: strerror(code)))" }
  }

  private struct State {
    var descriptor: Int32 = -1
    var position: off_t = 0
    var scanner = DefaultsScanner()
    var contents = DefaultsContents()
  }

  package let path: String
  private let state = Mutex(State())

  /// Does not touch the file.
  package init(_ path: String) { self.path = path }

  deinit { state.withLock { if $0.descriptor >= 0 { close($0.descriptor) } } }

  /// The file of a domain.
  ///
  /// - Parameter folder: the container or the folder of the app group.
  package static func path(of domain: String, in folder: String) -> String {
    "\(self.folder(in: folder))/\(domain.addingPercentEncoding(withAllowedCharacters: allowed) ?? domain)\(suffix)"
  }

  /// The domains that have a file in a container or in the folder of an app group, in alphabetical order.
  package static func domains(in folder: String) -> [String] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: self.folder(in: folder))) ?? []
    return names.filter { $0.hasSuffix(suffix) }
      .compactMap { String($0.dropLast(suffix.count)).removingPercentEncoding }.sorted()
  }

  /// Whether the path is that of a domain's file in a container or in the folder of an app group.
  package static func isFile(_ path: String, in folder: String) -> Bool {
    path.hasPrefix(self.folder(in: folder) + "/") && path.hasSuffix(suffix)
  }

  private static func folder(in folder: String) -> String { folder + "/Library/Preferences" }
  private static let suffix = ".defaults"
  private static let allowed = CharacterSet(charactersIn: "/%\0").inverted

  // MARK: Reading

  /// The value of a key, a binary property list, with all changes that were written before this call.
  package func value(forKey key: String) throws(Failure) -> [UInt8]? { try values()[key] }

  /// All values, binary property lists by key.
  package func values() throws(Failure) -> [String: [UInt8]] {
    try withState { state throws(Failure) in
      try refresh(&state)
      return state.contents.values
    }
  }

  private func withState<Result: Sendable>(
    _ body: (inout State) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try state.withLock { state throws(Failure) in try body(&state) }
  }

  /// Reads what was appended since the last call.
  private func refresh(_ state: inout State) throws(Failure) {
    guard try open(&state, creates: false) else { return }
    var fileStatus = stat()
    guard fstat(state.descriptor, &fileStatus) == 0 else { throw Failure(path: path, attempt: "read", code: errno) }
    guard fileStatus.st_size > state.position else { return }
    var chunk = [UInt8](repeating: 0, count: min(Int(fileStatus.st_size - state.position), 1 << 18))
    while state.position < fileStatus.st_size {
      let count = pread(state.descriptor, &chunk, chunk.count, state.position)
      if count < 0 && errno == EINTR { continue }
      guard count >= 0 else { throw Failure(path: path, attempt: "read", code: errno) }
      guard count > 0 else { return }
      state.position += off_t(count)
      for record in state.scanner.scan(chunk[..<count]) { state.contents.apply(record) }
    }
  }

  // MARK: Writing

  /// Appends a change. When this returns, other processes see it, and it outlives this process.
  package func append(_ record: DefaultsRecord) throws(Failure) {
    guard record.length <= DefaultsRecord.limit else { throw Failure(path: path, attempt: "written", code: EFBIG) }
    let bytes = record.bytes
    try withState { state throws(Failure) in
      guard try open(&state, creates: true) else { throw Failure(path: path, attempt: "opened", code: ENOENT) }
      let count = write(state.descriptor, bytes, bytes.count)
      // The readers skip a part of a record.
      guard count == bytes.count else {
        throw Failure(path: path, attempt: "written", code: count < 0 ? errno : ENOSPC)
      }
    }
  }

  // MARK: Opening

  /// Opens the file, unless it is open. After another file has taken its place, its content is read again.
  ///
  /// - Returns: whether the file exists.
  private func open(_ state: inout State, creates: Bool) throws(Failure) -> Bool {
    if state.descriptor >= 0 {
      var found = stat()
      if fstat(state.descriptor, &found) == 0, found.st_nlink > 0, found.st_size >= state.position { return true }
      close(state.descriptor)
      state = State()
    }
    while true {
      let descriptor = try Self.open(path, creates: creates)
      guard descriptor >= 0 else { return false }
      // Waits while the file is being compacted, for milliseconds; then another file is there.
      guard Self.lock(descriptor, LOCK_SH) else {
        defer { close(descriptor) }
        throw Failure(path: path, attempt: "locked", code: errno)
      }
      guard Self.isSameFile(descriptor, path) else {
        close(descriptor)
        continue
      }
      state.descriptor = descriptor
      return true
    }
  }

  /// - Returns: a descriptor; -1 when there is no file.
  private static func open(_ path: String, creates: Bool) throws(Failure) -> Int32 {
    let flags = O_RDWR | O_APPEND | O_CLOEXEC
    var descriptor = Glibc.open(path, flags | (creates ? O_CREAT : 0), 0o600)
    if descriptor < 0 && errno == ENOENT && creates {
      let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
      try? FileManager.default.createDirectory(
        atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
      descriptor = Glibc.open(path, flags | O_CREAT, 0o600)
    }
    guard descriptor < 0 else { return descriptor }
    if !creates && (errno == ENOENT || errno == ENOTDIR) { return -1 }
    throw Failure(path: path, attempt: "opened", code: errno)
  }

  private static func lock(_ descriptor: Int32, _ operation: Int32) -> Bool {
    while flock(descriptor, operation) != 0 {
      guard errno == EINTR else { return false }
    }
    return true
  }

  /// Whether the file at the path is the one that is open.
  private static func isSameFile(_ descriptor: Int32, _ path: String) -> Bool {
    var (mine, current) = (stat(), stat())
    return fstat(descriptor, &mine) == 0 && stat(path, &current) == 0 && mine.st_ino == current.st_ino
      && mine.st_dev == current.st_dev
  }
}

extension DefaultsFile {
  /// A log below this size, in bytes, is not compacted.
  package static let compactedFrom = 64 << 10

  /// Compacts the logs of a container or of the folder of an app group that are mostly outdated and that no process has
  /// open. Call it only in a process that is never suspended: others wait for it.
  ///
  /// - Returns: the domains that were compacted.
  @discardableResult
  package static func compactAll(in folder: String, from minimum: Int = compactedFrom) -> [String] {
    domains(in: folder).filter { compact(path(of: $0, in: folder), from: minimum) }
  }

  /// Replaces a log by one with the present values only, if that makes it less than half as long.
  ///
  /// - Returns: whether it was replaced.
  @discardableResult
  package static func compact(_ path: String, from minimum: Int = compactedFrom) -> Bool {
    let descriptor = Glibc.open(path, O_RDWR | O_CLOEXEC)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    var fileStatus = stat()
    guard fstat(descriptor, &fileStatus) == 0, fileStatus.st_size >= minimum, lock(descriptor, LOCK_EX | LOCK_NB),
      isSameFile(descriptor, path)
    else { return false }
    var head = [UInt8](repeating: 0, count: 64)
    let count = max(0, pread(descriptor, &head, head.count, 0))
    var scanner = DefaultsScanner()
    if case .compacted(let live)? = scanner.scan(head[..<count]).first, UInt64(fileStatus.st_size) < 2 * live {
      return false
    }
    return rewrite(path)
  }

  /// The caller holds the exclusive lock, so the file is read without another lock.
  private static func rewrite(_ path: String) -> Bool {
    guard let data = FileManager.default.contents(atPath: path) else { return false }
    var scanner = DefaultsScanner()
    var contents = DefaultsContents()
    for record in scanner.scan(data) { contents.apply(record) }
    let records = contents.values.sorted { $0.key < $1.key }.flatMap { DefaultsRecord.value($0.key, $0.value).bytes }
    let bytes = DefaultsRecord.compacted(UInt64(records.count)).bytes + records
    guard bytes.count * 2 < data.count else { return false }
    let temporary = path + ".compacting"
    let attributes: [FileAttributeKey: Any] = [.posixPermissions: 0o600]
    guard FileManager.default.createFile(atPath: temporary, contents: Data(bytes), attributes: attributes),
      rename(temporary, path) == 0
    else {
      unlink(temporary)
      return false
    }
    return true
  }
}
