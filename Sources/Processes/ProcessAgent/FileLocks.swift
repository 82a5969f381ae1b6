// SPDX-License-Identifier: Apache-2.0

import DefaultsLog
import Glibc
import Messages

/// A lock of a process on an open file, from `/proc/PID/fdinfo`.
struct FileLock: Hashable {
  /// `POSIX`, `FLOCK`, `OFDLCK` or `LEASE`.
  let type: String
  let isExclusive: Bool
  /// The locked bytes. The last is `Int.max` for a lock up to the end of the file.
  let bytes: ClosedRange<Int>
  /// The absolute path of the file.
  let path: String

  /// - Parameters:
  ///   - line: a line of fdinfo, such as `lock:⇥1: POSIX  ADVISORY  READ 4711 fe:00:1234 128 128`.
  ///   - path: the file of the descriptor.
  init?(_ line: Substring, path: String) {
    let words = line.split(whereSeparator: \.isWhitespace)
    guard words.count == 9, words[0] == "lock:", let first = Int(words[7]) else { return nil }
    let last = words[8] == "EOF" ? Int.max : Int(words[8]) ?? -1
    guard last >= first else { return nil }
    self.type = String(words[2])
    self.isExclusive = words[4] == "WRITE"
    self.bytes = first...last
    self.path = path
  }

  /// The locks of a process. Empty when it does not exist.
  static func locks(of pid: Int32) -> [FileLock] {
    ProcFile.numbers(in: "/proc/\(pid)/fdinfo").flatMap { descriptor -> [FileLock] in
      guard let data = ProcFile.contents("/proc/\(pid)/fdinfo/\(descriptor)"),
        data.split(separator: UInt8(ascii: "\n")).contains(where: { $0.starts(with: "lock:".utf8) }),
        let path = ProcFile.target(ofLink: "/proc/\(pid)/fd/\(descriptor)")
      else { return [] }
      return String(decoding: data, as: UTF8.self).split(separator: "\n").compactMap { FileLock($0, path: path) }
    }
  }
}

/// SQLite's locks, which are `fcntl` locks of certain bytes. Source: the file formats of SQLite.
extension FileLock {
  /// The bytes of a database that SQLite locks instead of the whole file: pending, reserved, and 510 bytes for shared.
  private static let databaseBytes = 0x4000_0000...0x4000_0000 + 511
  private static let sharedBytes = 0x4000_0000 + 2...0x4000_0000 + 511
  /// The byte of the shared memory of a write-ahead log that each open connection locks.
  private static let connectionByte = 128
  private static let sharedMemory = "-shm"

  /// Whether an open connection to a database with a write-ahead log holds this lock, also without a transaction.
  private var isOfWALConnection: Bool {
    type == "POSIX" && !isExclusive && path.hasSuffix(Self.sharedMemory)
      && bytes == Self.connectionByte...Self.connectionByte
  }

  private var isSharedLockOfDatabase: Bool { type == "POSIX" && !isExclusive && bytes == Self.sharedBytes }

  private var isOfSQLite: Bool {
    type == "POSIX" && (path.hasSuffix(Self.sharedMemory) || Self.databaseBytes.contains(bytes.lowerBound))
  }

  /// The path of the database for a lock of SQLite, otherwise that of the file.
  private var subject: String {
    isOfSQLite && path.hasSuffix(Self.sharedMemory) ? String(path.dropLast(Self.sharedMemory.count)) : path
  }

  private var kind: String {
    if isOfSQLite { return "SQLite transaction" }
    return switch type {
    case "FLOCK": "flock"
    case "LEASE": "lease"
    default: "fcntl"
    }
  }

  /// The locks for which a phone ends a suspended process, sorted: those on files of its app groups, without those of
  /// idle connections to SQLite databases and those of user defaults.
  ///
  /// - Parameter groups: the folders of the app groups by identifier, without symbolic links.
  static func held(_ locks: [FileLock], groups: [String: String]) -> [HeldLock] {
    let connected = Set(locks.filter(\.isOfWALConnection).map(\.subject))
    let held = locks.compactMap { lock -> HeldLock? in
      guard let (group, folder) = groups.first(where: { lock.path.hasPrefix($0.value + "/") }) else { return nil }
      let isIdle = lock.isOfWALConnection || lock.isSharedLockOfDatabase && connected.contains(lock.path)
      guard !isIdle, !DefaultsFile.isFile(lock.path, in: folder) else { return nil }
      return HeldLock(group: group, file: String(lock.subject.dropFirst(folder.count + 1)), kind: lock.kind)
    }
    return Set(held).sorted { ($0.group, $0.file, $0.kind) < ($1.group, $1.file, $1.kind) }
  }
}

/// Reads files of `/proc`, of which the agent reads dozens whenever a child is suspended.
enum ProcFile {
  /// The names in a folder that are numbers, such as process, thread and descriptor numbers. Empty when the folder does
  /// not exist.
  static func numbers(in folder: String) -> [Int32] {
    guard let stream = opendir(folder) else { return [] }
    defer { closedir(stream) }
    var numbers: [Int32] = []
    while let entry = readdir(stream) {
      let number = withUnsafeBytes(of: &entry.pointee.d_name) { name in
        Int32(String(decoding: name.prefix { $0 != 0 }, as: UTF8.self))
      }
      if let number { numbers.append(number) }
    }
    return numbers
  }

  /// The first 64 KiB of a file; `nil` when it cannot be read.
  static func contents(_ path: String) -> [UInt8]? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var failed = false
    let bytes = [UInt8](unsafeUninitializedCapacity: 64 << 10) { buffer, count in
      while count < buffer.count {
        let result = read(descriptor, buffer.baseAddress?.advanced(by: count), buffer.count - count)
        if result < 0, errno == EINTR { continue }
        failed = result < 0
        guard result > 0 else { return }
        count += result
      }
    }
    return failed ? nil : bytes
  }

  /// The target of a symbolic link; `nil` when it cannot be read, or is longer than a path may be.
  static func target(ofLink path: String) -> String? {
    var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
    let length = readlink(path, &bytes, bytes.count)
    guard (1..<bytes.count).contains(length) else { return nil }
    return String(decoding: bytes[..<length].lazy.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}
