// SPDX-License-Identifier: Apache-2.0

import DeviceRules
import Dispatch
import Foundation
import MessageBus
import Messages
import Stores
import Synchronization
import Timekeeping

/// What the parts of one transfer service share: the database, the bus, the clock and the folder with the part files. Any
/// thread.
final class TransferContext: Sendable {
  let core: DeviceCore
  let store: TransferStore
  let commits = CommitSchedule()
  let bus: any BusConnection
  let clock: any ControllableClock
  let settings: TransferSettings
  /// Which app an extension belongs to.
  let families: AppFamilies
  /// The tasks that are handled now.
  let underWay: UnderWay
  /// The space of the disk; `nil` when it is not known.
  let space: @Sendable () -> TransferSpace?
  /// Where the part files are.
  let folder: String
  /// Why the last attempt of a task failed, since this host runs.
  let failures = Mutex<[TaskKey: String]>([:])
  /// The folders of sessions: a name takes two digests.
  private let folders = Mutex<[SessionKey: String]>([:])

  init(
    _ storedState: TransferService.Stored, core: DeviceCore, folder: String, bus: any BusConnection,
    clock: any ControllableClock, space: @escaping @Sendable () -> TransferSpace?
  ) {
    self.core = core
    self.folder = folder
    self.underWay = storedState.underWay
    self.store = storedState.store
    self.bus = bus
    self.clock = clock
    self.settings = storedState.settings
    self.families = storedState.families
    self.space = space
  }

  /// The database cannot be written. The host must exit.
  @DeviceActor func broken(_ error: any Error) { core.fail("the transfer state cannot be written: \(error)") }

  /// What an owner is needed for.
  @DeviceActor func need(_ action: ProcessAction) { core.handle(.ownerProcess(action)) }

  // MARK: Part files

  /// The part file of a task.
  func path(_ key: TaskKey) -> String { "\(folder(of: key.session))/\(key.identifier).part" }

  private func folder(of session: SessionKey) -> String {
    folders.withLock { folders in
      if let known = folders[session] { return known }
      let name = "\(WholeFile.name(for: session.owner.text))/\(WholeFile.name(for: session.identifier))"
      let folder = "\(folder)/\(name)"
      folders[session] = folder
      return folder
    }
  }

  /// The size of a task's part file in bytes.
  func bytes(_ key: TaskKey) -> Int64 { WholeFile.size(path(key)) }

  /// The number of bytes that the task has received, in the database or in its part file.
  func bytes(of task: StoredTask) -> Int64 { task.contentLength ?? bytes(task.key) }

  /// Removes part files whose rows an earlier host deleted just before it exited.
  ///
  /// - Throws: database errors.
  func removeOrphanedParts() throws {
    let known = Set(try store.taskKeys().map { path($0.key) })
    for name in (try? FileManager.default.subpathsOfDirectory(atPath: folder)) ?? [] where name.hasSuffix(".part") {
      let file = "\(folder)/\(name)"
      if !known.contains(file) { unlink(file) }
    }
  }

  /// Removes the part files of tasks that have not ended, if the machine was started again since they were written:
  /// what the disk has of them is unknown. These tasks begin at byte 0. The file of an ended task is complete.
  ///
  /// - Throws: database errors, and those of the file with the identifier of the start.
  func removePartsOfEarlierBoot(_ boot: String = machineBoot) throws {
    let path = folder + "/boot"
    let former = FileManager.default.contents(atPath: path).map { String(decoding: $0, as: UTF8.self) }
    guard former != boot else { return }
    for task in try store.taskKeys() where !task.hasEnded { unlink(self.path(task.key)) }
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    try Data(boot.utf8).write(to: URL(fileURLWithPath: path))
  }

  /// The kernel's identifier of this start of the machine.
  static var machineBoot: String {
    let path = "/proc/sys/kernel/random/boot_id"
    return FileManager.default.contents(atPath: path).map { String(decoding: $0, as: UTF8.self) } ?? ""
  }

  // MARK: The journal

  /// Records a step of a task in the journal.
  func record(
    _ key: TaskKey, step: TransferProgress.Step, bytes: Int64, detail: String? = nil, sha256: String? = nil
  ) {
    let notice = TransferProgress(
      owner: key.session.owner, session: key.session.identifier, taskIdentifier: key.identifier, step: step,
      bytes: bytes, sha256: sha256, detail: detail)
    bus.record(notice, context: key.session.context)
  }
}

/// When to write what waits for the disk: at once, or a little later when such a write was a moment ago. A new task, which
/// is written at once, takes it along. So many ends share a wait for the disk, and a single one is not delayed.
final class CommitSchedule: Sendable {
  private struct State {
    var commit: (@DeviceActor () -> Void)?
    var isPlanned = false
    var last = DispatchTime(uptimeNanoseconds: 0)
  }

  private static let interval = DispatchTimeInterval.milliseconds(16)

  private let state = Mutex(State())

  /// Sets what writes. Must be called once, before the first request.
  func begin(_ commit: @escaping @DeviceActor () -> Void) { state.withLock { $0.commit = commit } }

  /// Something must be written soon.
  func request() {
    let due: DispatchTime? = state.withLock { state in
      guard !state.isPlanned else { return nil }
      state.isPlanned = true
      return state.last + CommitSchedule.interval
    }
    guard let due else { return }
    DeviceActor.executor.post(after: due) { [weak self] in DeviceActor.assumeIsolated { self?.fire() } }
  }

  @DeviceActor private func fire() {
    let commit = state.withLock { state in
      state.isPlanned = false
      state.last = .now()
      return state.commit
    }
    commit?()
  }
}

/// The space of the file system with the part files and the owners' copies. Downloads leave a reserve of it free, so that
/// the databases and the journal can be written.
package struct TransferSpace: Hashable, Sendable {
  package let folder: String
  /// Bytes, the reserve included.
  package let free: Int64
  /// Bytes.
  package let reserve: Int64

  package init(folder: String, free: Int64, reserve: Int64) {
    self.folder = folder
    self.free = free
    self.reserve = reserve
  }

  /// Checks that a body fits beside the reserve: what is missing of it in the part file, and all of it once more in the
  /// copy that the owner gets.
  ///
  /// - Parameters:
  ///   - length: bytes; a server may declare any number.
  ///   - storedLength: the bytes that the part file has.
  /// - Throws: -3003.
  func require(bodyOf length: Int64, stored storedLength: Int64 = 0) throws(TransferFault) {
    try require(length > .max / 2 ? .max : 2 * length - min(storedLength, length))
  }

  /// Checks that a number of bytes fits beside the reserve.
  ///
  /// - Throws: -3003.
  func require(_ bytes: Int64) throws(TransferFault) {
    guard bytes > 0, free - reserve < bytes else { return }
    throw TransferFault(
      .cannotWriteToFile,
      "no space left on the disk: \(folder) has \(free >> 10) KiB free, of which \(reserve >> 10) KiB are reserved; "
        + "\(bytes >> 10) KiB are needed")
  }
}
