// SPDX-License-Identifier: Apache-2.0

import CPlatform
package import Foundation
import Glibc
import Synchronization

/// The stored work that a process handles now, in a file that remains when the process ends by a trap.
///
/// Stored work is handled again by the next instance. Work that ends its process would therefore end each instance.
/// Work that was under way in two instances in a row that ended by a trap (SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE or
/// SIGSEGV) is *set aside*: its service does not handle it again, and fails it with a reason. After the first such end
/// it is *suspect*. The device loads suspect tasks one at a time, so that a task which was only under way at the same time
/// is not set aside with it.
///
/// Another end, such as SIGKILL, says nothing about the work and counts for nothing. Any thread.
package final class UnderWay: Sendable {
  package struct Work: Hashable, Sendable, CustomStringConvertible {
    package enum Kind: String, Sendable { case task, notification, timeline, image }
    package let kind: Kind
    package let name: String

    package init(_ kind: Kind, _ name: String) {
      self.kind = kind
      self.name = name
    }

    package var description: String { "\(kind) \(name)" }

    fileprivate init?(text: String) {
      let parts = text.split(separator: " ", maxSplits: 1)
      guard parts.count == 2, let kind = Kind(rawValue: String(parts[0])) else { return nil }
      self.init(kind, String(parts[1]))
    }
  }

  /// The file cannot be created or mapped.
  package struct Failure: Error, CustomStringConvertible {
    let path: String
    let code: Int32
    package var description: String {
      "\(path) cannot be created or mapped: \(String(cString: strerror(code))); the process needs write permission and "
        + "\(Page.size / 1024) KiB of the disk"
    }
  }

  private struct Entry {
    var slot: Int
    var traps = 0
    var signal: UInt8 = 0
    var isUnderWay = false
    var isSetAside: Bool { traps >= UnderWay.limit }
  }

  private struct State {
    var entries: [Work: Entry] = [:]
    var free: [Int]
  }

  /// How many ends in a row set work aside. Source: ours.
  private static let limit = 2
  private let page: Page
  private let state: Mutex<State>
  /// Work that is set aside since this instance started.
  package let setAside: [Work]

  /// Reads what the former instance left, and records from now on if a trap ends this process.
  ///
  /// - Parameters:
  ///   - path: of the file, which is created.
  ///   - store: the identity of the database with the work. What was under way of another one is forgotten.
  package convenience init(path: String, of store: UUID) throws(Failure) {
    try self.init(page: path, of: store)
    process_record_traps(page.trap)
  }

  /// The same without a handler of signals.
  convenience init(page path: String, of store: UUID) throws(Failure) { self.init(try Page(path: path), store) }

  /// Work that no later instance learns of, for a service without a file.
  package convenience init() { self.init(Page()) }

  private init(_ page: Page, _ store: UUID = UUID()) {
    self.page = page
    page.keep(only: store)
    let signal = UInt8(truncatingIfNeeded: page.trap.pointee)
    var state = State(free: Array((0..<Page.slots).reversed()))
    var setAside: [Work] = []
    for slot in 0..<Page.slots {
      guard let (work, entry) = page.read(slot).flatMap({ text, entry in Work(text: text).map { ($0, entry) } }),
        state.entries[work] == nil
      else {
        page.clear(slot)
        continue
      }
      var keptEntry = entry
      if entry.isUnderWay, signal != 0, !entry.isSetAside {
        keptEntry.traps += 1
        keptEntry.signal = signal
        if keptEntry.isSetAside { setAside.append(work) }
      }
      keptEntry.isUnderWay = false
      if keptEntry.traps == 0 { page.clear(slot) } else { state.entries[work] = keptEntry }
      page.setHead(slot, keptEntry)
    }
    page.trap.pointee = 0
    let taken = Set(state.entries.values.map(\.slot))
    state.free.removeAll(where: taken.contains)
    self.state = Mutex(state)
    self.setAside = setAside.sorted { $0.description < $1.description }
  }

  // MARK: Work

  /// Begins to handle work. What exceeds 512 at once, or has a name of more than 500 bytes, is not recorded.
  package func begin(_ work: Work) {
    state.withLock { state in
      if var entry = state.entries[work] {
        entry.isUnderWay = true
        state.entries[work] = entry
        return page.setHead(entry.slot, entry)
      }
      let text = work.description
      guard text.utf8.count <= Page.textLimit, let slot = state.free.popLast() else { return }
      let entry = Entry(slot: slot, isUnderWay: true)
      state.entries[work] = entry
      page.write(text, entry)
    }
  }

  /// The work was handled, and this process still runs: it is suspect no longer.
  package func end(_ work: Work) {
    state.withLock { state in
      guard let entry = state.entries.removeValue(forKey: work) else { return }
      page.clear(entry.slot)
      state.free.append(entry.slot)
    }
  }

  /// Handles work in one call.
  package func handle<Value, Problem: Error>(_ work: Work, _ body: () throws(Problem) -> Value) throws(Problem) -> Value
  {
    begin(work)
    defer { end(work) }
    return try body()
  }

  /// Why the work is not handled; `nil` if it is.
  package func reason(_ work: Work) -> String? {
    state.withLock { state in
      guard let entry = state.entries[work], entry.isSetAside else { return nil }
      let name = process_trap_name(Int32(entry.signal)).map { String(cString: $0) } ?? "a trap"
      return "set aside: the process ended by \(name) twice in a row while it handled this"
    }
  }

  /// Whether work of a kind is set aside and has not been failed.
  package func hasSetAside(_ kind: Work.Kind) -> Bool {
    state.withLock { state in state.entries.contains { $0.key.kind == kind && $0.value.isSetAside } }
  }

  /// Work that was under way when a former instance ended by a trap, and is not set aside.
  package func suspects(_ kind: Work.Kind) -> Set<Work> {
    state.withLock { state in
      Set(state.entries.filter { $0.key.kind == kind && $0.value.traps > 0 && !$0.value.isSetAside }.keys)
    }
  }

  /// What `SIGILL` and the others do to this process's page. For tests: a trap ends the process that runs the tests.
  func recordTrap(_ signal: Int32) { page.trap.pointee = UInt32(signal) }

  // MARK: The page

  /// A header with the signal of the trap and the identity of the database, and slots of 512 bytes: a word with the length of the text, the signal, the
  /// number of traps and whether it is under way, then the text.
  private struct Page: Sendable {
    static let slots = 512
    private static let slotSize = 512
    static let textLimit = slotSize - 4
    private static let header = 4096
    static let size = header + slots * slotSize

    // The first word is written by the handler of a signal; slots are written under the lock of `UnderWay`.
    private nonisolated(unsafe) let bytes: UnsafeMutableRawPointer

    init(path: String) throws(Failure) {
      let file = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
      guard file >= 0 else { throw Failure(path: path, code: errno) }
      defer { close(file) }
      // Allocated, since a page that the disk has no room for ends the process.
      let code = posix_fallocate(file, 0, off_t(Self.size))
      guard code == 0 else { throw Failure(path: path, code: code) }
      guard let bytes = mmap(nil, Self.size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0), bytes != MAP_FAILED else {
        throw Failure(path: path, code: errno)
      }
      self.bytes = bytes
    }

    /// Of this process alone.
    init() {
      bytes = UnsafeMutableRawPointer.allocate(byteCount: Self.size, alignment: 8)
      bytes.initializeMemory(as: UInt8.self, repeating: 0, count: Self.size)
    }

    /// Clears what belongs to another database.
    func keep(only store: UUID) {
      let own = (bytes + 16).assumingMemoryBound(to: uuid_t.self)
      if UUID(uuid: own.pointee) == store { return }
      for index in 0..<Self.slots { clear(index) }
      trap.pointee = 0
      own.pointee = store.uuid
    }

    var trap: UnsafeMutablePointer<UInt32> { bytes.assumingMemoryBound(to: UInt32.self) }

    private func slot(_ index: Int) -> UnsafeMutableRawPointer { bytes + Self.header + index * Self.slotSize }

    func read(_ index: Int) -> (String, Entry)? {
      let head = slot(index).load(as: UInt32.self)
      let length = Int(head & 0xffff)
      guard length > 0, length <= Self.textLimit else { return nil }
      let text = UnsafeRawBufferPointer(start: slot(index) + 4, count: length)
      let entry = Entry(
        slot: index, traps: Int(head >> 24 & 0x7f), signal: UInt8(head >> 16 & 0xff), isUnderWay: head >> 31 == 1)
      return (String(decoding: text, as: UTF8.self), entry)
    }

    func write(_ text: String, _ entry: Entry) {
      var text = text
      let target = UnsafeMutableRawBufferPointer(start: slot(entry.slot) + 4, count: Self.textLimit)
      text.withUTF8 { target.copyBytes(from: $0) }
      set(entry.slot, length: text.utf8.count, entry)
    }

    func setHead(_ index: Int, _ entry: Entry) {
      let length = Int(slot(index).load(as: UInt32.self) & 0xffff)
      if length > 0 { set(index, length: length, entry) }
    }

    private func set(_ index: Int, length: Int, _ entry: Entry) {
      let counts = UInt32(min(entry.traps, 0x7f)) << 24 | UInt32(entry.signal) << 16
      shared_store(slot(index), UInt32(length) | counts | (entry.isUnderWay ? 1 << 31 : 0))
    }

    func clear(_ index: Int) { shared_store(slot(index), 0) }
  }
}
