// SPDX-License-Identifier: Apache-2.0

import DeviceRules
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
  private let folder: String
  /// Why the last attempt of a task failed, since this host runs.
  let failures = Mutex<[TaskKey: String]>([:])
  /// The folders of sessions: a name takes two digests.
  private let folders = Mutex<[SessionKey: String]>([:])

  /// - Parameter folder: where the part files are.
  init(
    _ stored: TransferService.Stored, core: DeviceCore, folder: String, bus: any BusConnection,
    clock: any ControllableClock, space: @escaping @Sendable () -> TransferSpace?
  ) {
    self.core = core
    self.folder = folder
    self.underWay = stored.underWay
    self.store = stored.store
    self.bus = bus
    self.clock = clock
    self.settings = stored.settings
    self.families = stored.families
    self.space = space
  }

  /// The database cannot be written. The host must exit.
  @DeviceActor func broken(_ error: any Error) { core.fail("the transfer state cannot be written: \(error)") }

  /// What an owner is needed for.
  @DeviceActor func need(_ action: ProcessAction) { core.handle(.ownerProcess(action)) }

  // MARK: Part files

  /// The folder with the parts that resume data refers to.
  var keptParts: String { folder + "/kept" }

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
    _ key: TaskKey, _ step: TransferProgress.Step, _ bytes: Int64, _ detail: String? = nil, _ sha256: String? = nil
  ) {
    let notice = TransferProgress(
      owner: key.session.owner, session: key.session.identifier, taskIdentifier: key.identifier, step: step,
      bytes: bytes, sha256: sha256, detail: detail)
    bus.record(notice, context: key.session.context)
  }
}
