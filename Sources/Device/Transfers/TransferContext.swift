// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import MessageBus
import Messages
import ProcessActions
import Stores
import Synchronization
import Timekeeping

/// What the parts of one transfer service share: the database, the bus, the clock and the folder with the part files. Any
/// thread.
final class TransferContext: Sendable {
  let store: TransferStore
  let commits = CommitSchedule()
  let bus: any BusConnection
  let clock: any ControllableClock
  let settings: TransferSettings
  /// Which app an extension belongs to.
  let families: AppFamilies
  let outputs: Outputs<TransferOutput>
  /// What owners are needed for: events, and questions to their code.
  let processActions: Outputs<ProcessAction>
  /// The tasks that are handled now.
  let underWay: UnderWay
  /// The space of the disk; `nil` when it is not known.
  let space: @Sendable () -> TransferSpace?
  private let folder: String
  private let over = Atomic(false)
  /// Why the last attempt of a task failed, since this host runs.
  let failures = Mutex<[TaskKey: String]>([:])
  /// The folders of sessions: a name takes two digests.
  private let folders = Mutex<[SessionKey: String]>([:])

  /// - Parameter folder: where the part files are.
  /// - Throws: database errors.
  init(
    folder: String, database: any DatabaseWriter, bus: any BusConnection, clock: any ControllableClock,
    settings: TransferSettings, families: AppFamilies, underWay: UnderWay,
    space: @escaping @Sendable () -> TransferSpace?, transactions: DeviceTransactions?
  ) throws {
    self.folder = folder
    self.underWay = underWay
    self.store = try TransferStore(transactions ?? DeviceTransactions(immediate: database))
    self.bus = bus
    self.clock = clock
    self.settings = settings
    self.families = families
    self.space = space
    self.outputs = Outputs(clock)
    self.processActions = Outputs(clock)
  }

  // MARK: The end

  /// The database cannot be written, or the host leaves. From then on the state machines handle no event.
  var isOver: Bool { over.load(ordering: .acquiring) }

  /// Stops the state machines, because the host leaves.
  func stop() { over.store(true, ordering: .releasing) }

  /// Stops the state machines, because the database cannot be written. The host must exit.
  @DeviceActor func broken(_ error: any Error) {
    stop()
    outputs.yield(.broken("the transfer state cannot be written: \(error)"))
  }

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
