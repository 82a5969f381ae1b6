// SPDX-License-Identifier: Apache-2.0

import ChaosCampaign
import Foundation

/// A disk that may lose power at any time: from the calls of processes it computes what the disk may have then.
///
/// A file has everything before its last completed `fsync` or `fdatasync`; of later writes, any 4 KiB pages. A folder
/// has its names in the order of their changes, at least up to its last completed `fsync`; of later ones, any number.
/// Nothing else is assumed: a synchronised file may lose its name, and a folder may be older than another.
struct DiskModel {
  /// A change by one call of a process. Paths are absolute.
  enum Change: Equatable {
    /// `open` with `O_CREAT`: a file, if it does not exist.
    case create(String)
    case write(String, at: Int, [UInt8])
    /// A write with `O_APPEND`.
    case append(String, [UInt8])
    /// A copy within the kernel; `nil` is the whole file.
    case copy(from: String, start: Int, count: Int?, to: String, at: Int)
    case resize(String, to: Int)
    case makeFolder(String)
    case rename(String, to: String)
    case link(String, to: String)
    case remove(String)
    /// `fsync` or `fdatasync` of a file or a folder.
    case synchronize(String)
  }

  /// A path of the disk cannot be modelled.
  struct Unknown: Error, CustomStringConvertible {
    let description: String
  }

  private enum Node: Equatable {
    case file(Int)
    case folder
  }

  private struct NameChange {
    enum Kind {
      case set(String, Node)
      case remove(String)
      case move(String, to: String, Node)
    }

    let call: Int
    let kind: Kind
    var hasEnded = false

    /// The folders whose names it changes.
    var folders: Set<String> {
      switch kind {
      case .set(let path, _), .remove(let path): [DiskModel.folder(of: path)]
      case .move(let from, let to, _): [DiskModel.folder(of: from), DiskModel.folder(of: to)]
      }
    }
  }

  /// What a call synchronises when it ends.
  private enum Synchronization {
    case file(Int, Set<Int>)
    case folder(String, Set<Int>)
  }

  /// The uppermost folder, which the disk has in any case.
  private let root: String
  private var files: [DiskFile] = []
  /// The names that a process sees now.
  private var names: [String: Node] = [:]
  /// The names that the disk has in any case.
  private var durableNames: [String: Node] = [:]
  private var pendingNames: [NameChange] = []
  /// The file that each call in progress changes.
  private var changing: [Int: Int] = [:]
  private var synchronizing: [Int: Synchronization] = [:]
  /// Files whose synchronisation has no effect: a disk, or a program, that does not wait.
  private let ignoresSynchronization: (String) -> Bool

  /// - Parameters:
  ///   - root: the uppermost folder.
  ///   - start: what is on the disk below it at the start.
  ///   - ignoring: paths whose synchronisation has no effect.
  init(root: String, start: State = State(), ignoring: @escaping (String) -> Bool = { _ in false }) {
    self.root = root
    for folder in start.folders.union([root]) { names[folder] = .folder }
    for (path, content) in start.contents {
      names[path] = .file(files.count)
      files.append(DiskFile(content))
    }
    durableNames = names
    ignoresSynchronization = ignoring
  }

  /// What a process reads in a file now; `nil` when it does not exist.
  func content(_ path: String) -> [UInt8]? { file(path).map { files[$0].current } }

  /// The paths of all files now.
  var paths: [String] { names.compactMap { path, node in node == .folder ? nil : path } }

  private func file(_ path: String) -> Int? {
    if case .file(let file) = names[path] { file } else { nil }
  }

  // MARK: Calls

  /// A call begins: from now on the disk may have its change.
  ///
  /// - Throws: `Unknown` for a change of a file that the disk does not have.
  mutating func begin(_ call: Int, _ change: Change) throws {
    switch change {
    case .create(let path):
      guard names[path] == nil else { return }
      files.append(DiskFile())
      rename(call, .set(path, .file(files.count - 1)))
    case .makeFolder(let path): rename(call, .set(path, .folder))
    case .write(let path, let offset, let bytes): try write(call, path: path, change: .write(at: offset, bytes))
    case .append(let path, let bytes):
      try write(call, path: path, change: .write(at: try self.bytes(path).count, bytes))
    case .resize(let path, let length):
      if try bytes(path).count != length { try write(call, path: path, change: .resize(to: length)) }
    case .copy(let from, let start, let count, let path, let offset):
      let bytes = try bytes(from).dropFirst(start)
      try write(call, path: path, change: .write(at: offset, Array(count.map { bytes.prefix($0) } ?? bytes)))
    case .rename(let path, let to):
      // A file of an untraced process gets a name here: its content is unknown, and so it is not on the disk.
      guard let node = names[path] else { return }
      guard node != .folder else { throw Unknown(description: "\(path) is a folder and is renamed to \(to)") }
      rename(call, .move(path, to: to, node))
    case .link(let path, let to):
      guard let node = names[path] else { throw Unknown(description: "\(path) is unknown and is linked to \(to)") }
      rename(call, .set(to, node))
    case .remove(let path):
      if names[path] != nil { rename(call, .remove(path)) }
    case .synchronize(let path): beginSynchronization(call, path)
    }
  }

  private func bytes(_ path: String) throws -> [UInt8] {
    guard let content = content(path) else { throw Unknown(description: "\(path) is unknown and is used") }
    return content
  }

  private mutating func write(_ call: Int, path: String, change: DiskFile.Pending.Change) throws {
    guard let file = file(path) else { throw Unknown(description: "\(path) is unknown and is written") }
    files[file].begin(change, call: call)
    changing[call] = file
  }

  private mutating func rename(_ call: Int, _ kind: NameChange.Kind) {
    Self.apply(kind, to: &names)
    pendingNames.append(NameChange(call: call, kind: kind))
  }

  private mutating func beginSynchronization(_ call: Int, _ path: String) {
    guard !ignoresSynchronization(path) else { return }
    switch names[path] {
    case .file(let file): synchronizing[call] = .file(file, files[file].covered)
    case .folder: synchronizing[call] = .folder(path, Set(pendingNames.filter(\.hasEnded).map(\.call)))
    case nil: break
    }
  }

  /// A call has ended with success.
  mutating func end(_ call: Int) {
    if let file = changing.removeValue(forKey: call) { files[file].end(call: call) }
    if let index = pendingNames.lastIndex(where: { $0.call == call }) { pendingNames[index].hasEnded = true }
    switch synchronizing.removeValue(forKey: call) {
    case .file(let file, let covered): files[file].synchronize(covered)
    case .folder(let folder, let covered):
      let kept = closure { covered.contains($0.call) && $0.folders.contains(folder) }
      for index in kept { Self.apply(pendingNames[index].kind, to: &durableNames) }
      let calls = Set(kept.map { pendingNames[$0].call })
      pendingNames.removeAll { calls.contains($0.call) }
    case nil: break
    }
  }

  /// The changes of names that `isKept` selects, and those that must precede them: the earlier ones in each of their
  /// folders. A rename between two folders is whole.
  private func closure(_ isKept: (NameChange) -> Bool) -> [Int] {
    var folders: Set<String> = []
    var keptIndices: [Int] = []
    for index in pendingNames.indices.reversed() {
      let change = pendingNames[index]
      guard isKept(change) || !folders.isDisjoint(with: change.folders) else { continue }
      folders.formUnion(change.folders)
      keptIndices.append(index)
    }
    return keptIndices.reversed()
  }

  // MARK: A power failure

  /// What a disk has.
  struct State {
    var folders: Set<String> = []
    var contents: [String: [UInt8]] = [:]
  }

  /// What the disk may have after a power failure now; the seed of the generator selects one of the possibilities.
  func afterFailure(_ chance: DiskChance, using generator: inout SplitMix64) -> State {
    // How many of the changes of each folder's names the disk has.
    var counts: [String: Int] = [:]
    for change in pendingNames { for folder in change.folders { counts[folder, default: 0] += 1 } }
    var left: [String: Int] = [:]
    for (folder, count) in counts.sorted(by: { $0.key < $1.key }) {
      left[folder] = chance.count(upTo: count, using: &generator)
    }
    var chosen: Set<Int> = []
    for change in pendingNames {
      if change.folders.allSatisfy({ left[$0, default: 0] > 0 }) { chosen.insert(change.call) }
      for folder in change.folders { left[folder, default: 0] -= 1 }
    }
    var foundNames = durableNames
    for index in closure({ chosen.contains($0.call) }) { Self.apply(pendingNames[index].kind, to: &foundNames) }
    var state = State()
    for (path, node) in foundNames.sorted(by: { $0.key < $1.key }) where isReachable(path, foundNames) {
      switch node {
      case .folder: state.folders.insert(path)
      case .file(let file): state.contents[path] = files[file].afterFailure(chance, using: &generator)
      }
    }
    return state
  }

  /// Whether the disk has all folders above a path.
  private func isReachable(_ path: String, _ foundNames: [String: Node]) -> Bool {
    var folder = Self.folder(of: path)
    while folder != root {
      guard foundNames[folder] == .folder else { return false }
      folder = Self.folder(of: folder)
    }
    return true
  }

  private static func apply(_ kind: NameChange.Kind, to names: inout [String: Node]) {
    switch kind {
    case .set(let path, let node): names[path] = node
    case .remove(let path): names[path] = nil
    case .move(let from, let to, let node):
      names[from] = nil
      names[to] = node
    }
  }

  /// The folder of a path.
  static func folder(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/"), slash != path.startIndex else { return "/" }
    return String(path[..<slash])
  }
}
