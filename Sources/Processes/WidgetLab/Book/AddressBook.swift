// `stat` counts as this one's, once a library beside has loaded the C headers by it.
import CoreFoundation
import Foundation
import Glibc

/// The clusters of this user that run on this machine: a folder with one file for each living `widgetlab up`.
///
/// A file is locked (`flock`) as long as its `up` lives, however that ends; whoever reads the book removes what nobody holds
/// any more. Folder 0700, files 0600: nobody else writes into it, and none of it is secret but to others.
struct AddressBook: Sendable {
  /// One running cluster. The file is this as JSON.
  struct Entry: Codable, Equatable, Sendable {
    /// The last part of the instance's folder.
    let name: String
    /// The instance's folder.
    let instance: String
    let configuration: String
    /// Of its `widgetlab up`.
    let pid: Int32
    /// When that process began, in the kernel's ticks since the machine did: a pid that was given away again has another.
    let startTime: UInt64
    /// ISO 8601.
    let since: String
    /// Where the bus listens; `nil` until the cluster is ready, as all that follows.
    var endpoint: String?
    var tap: String?
    var publicKey: String?
    var provider: String?

    var isReady: Bool { endpoint != nil }

    /// The entry of this process.
    init(instance: String, configuration: String) {
      name = instance.split(separator: "/").last.map(String.init) ?? instance
      self.instance = instance
      self.configuration = configuration
      pid = getpid()
      startTime = ProcessFacts(pid: getpid()).startTime ?? 0
      since = Date().formatted(.iso8601)
    }
  }

  let folder: String

  /// Where this user's book is: `$XDG_RUNTIME_DIR/widgetlab-<uid>`, or below /tmp without.
  static var ofThisUser: AddressBook {
    let place =
      ProcessInfo.processInfo.environment["XDG_RUNTIME_DIR"].flatMap { $0.hasPrefix("/") ? $0 : nil } ?? "/tmp"
    return AddressBook(folder: "\(place)/widgetlab-\(getuid())")
  }

  /// The file of an instance.
  func file(of instance: String) -> String {
    let hash = instance.utf8.reduce(0xcbf2_9ce4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
    return "\(folder)/\(String(hash, radix: 16)).json"
  }

  /// Makes the folder if it is missing.
  ///
  /// - Throws: a complaint when it cannot be made, or is not this user's alone.
  func open() throws {
    guard mkdir(folder, 0o700) == 0 || errno == EEXIST else {
      throw Complaint(
        Exit.configuration, "the address book cannot be made: \(String(cString: strerror(errno)))", at: folder,
        advice: "set XDG_RUNTIME_DIR to a folder of yours")
    }
    var facts = stat()
    guard lstat(folder, &facts) == 0, facts.st_mode & S_IFMT == S_IFDIR, facts.st_uid == getuid(),
      facts.st_mode & 0o077 == 0
    else {
      throw Complaint(
        Exit.configuration, "the address book is not a folder of this user alone", at: folder,
        advice: "remove it, or set XDG_RUNTIME_DIR to a folder of yours")
    }
  }

  /// Every cluster that runs, by name; what is stale is removed. Empty when there is no book.
  ///
  /// - Throws: a complaint when the book is not this user's alone.
  func running() throws -> [Entry] {
    guard access(folder, F_OK) == 0 else { return [] }
    try open()
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    return names.filter { $0.hasSuffix(".json") }.compactMap { entry(at: "\(folder)/\($0)") }
      .sorted { ($0.name, $0.instance) < ($1.name, $1.instance) }
  }

  /// The entry of a file whose `up` lives; removes the file of one that does not.
  private func entry(at path: String) -> Entry? {
    let descriptor = Glibc.open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    if flock(descriptor, LOCK_EX | LOCK_NB) == 0 {
      // Another one may stand there by now, which is not ours to remove.
      if BookFile.isStill(descriptor, at: path) { unlink(path) }
      return nil
    }
    let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: false)
    guard let data = try? handle.readToEnd(), let entry = try? JSONDecoder().decode(Entry.self, from: data),
      ProcessFacts(pid: entry.pid).startTime == entry.startTime
    else { return nil }
    return entry
  }
}

/// The file by which an `up` stands in the book.
final class BookFile: Sendable {
  private let path: String
  private let descriptor: CInt

  /// Enters it, locked until this process ends or `remove`.
  ///
  /// - Throws: a complaint when that cannot be.
  init(_ entry: AddressBook.Entry, in book: AddressBook) throws {
    try book.open()
    path = book.file(of: entry.instance)
    var found: CInt = -1
    // A reader that finds the file of a dead `up` removes it, maybe just now.
    for _ in 0..<100 where found < 0 {
      let candidate = Glibc.open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
      guard candidate >= 0 else { break }
      if flock(candidate, LOCK_EX) == 0, Self.isStill(candidate, at: path) {
        found = candidate
      } else {
        close(candidate)
      }
    }
    descriptor = found
    guard found >= 0 else {
      throw Complaint(
        Exit.configuration, "the address book cannot be written: \(String(cString: strerror(errno)))", at: path)
    }
    try write(entry)
  }

  /// Writes the entry anew.
  func write(_ entry: AddressBook.Entry) throws {
    let bytes = Array(try Output.jsonData(entry)) + [UInt8(ascii: "\n")]
    guard pwrite(descriptor, bytes, bytes.count, 0) == bytes.count, ftruncate(descriptor, off_t(bytes.count)) == 0
    else {
      throw Complaint(
        Exit.configuration, "the address book cannot be written: \(String(cString: strerror(errno)))", at: path)
    }
  }

  /// Takes it out.
  func remove() {
    unlink(path)
    close(descriptor)
  }

  /// Whether the file that is open still has this name.
  static func isStill(_ descriptor: CInt, at path: String) -> Bool {
    var (own, there) = (stat(), stat())
    return fstat(descriptor, &own) == 0 && lstat(path, &there) == 0 && own.st_ino == there.st_ino
      && own.st_dev == there.st_dev
  }
}

extension ProcessFacts {
  /// When the process began, in the kernel's ticks since the machine did; `nil` when there is no such process.
  var startTime: UInt64? {
    guard let stat = try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8),
      let end = stat.lastIndex(of: ")")
    else { return nil }
    // The 22nd field; the second one ends with the parenthesis.
    let fields = stat[stat.index(after: end)...].split(separator: " ")
    return fields.count > 19 ? UInt64(fields[19]) : nil
  }
}
