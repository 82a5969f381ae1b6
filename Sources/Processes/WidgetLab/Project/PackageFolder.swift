// SPDX-License-Identifier: Apache-2.0

import AuthorProjects
import Cluster
import Foundation
import Glibc

/// The folder of a package that `widgetlab new --from` writes, and updates when it is run again.
struct PackageFolder {
  /// What the last run wrote: `.widgetlab-package.json`.
  struct Record: Codable {
    /// The path of the project.
    var project: String
    /// The paths of all files and links in the package.
    var files: [String] = []
    /// The texts that the author may change, as they were written.
    var texts: [String: String] = [:]
  }

  /// What a run changed.
  struct Changes {
    var isNew = false
    var written = 0
    var removed = 0
    /// Files that are kept because the author has changed them.
    var kept: [String] = []
  }

  /// Absolute.
  let path: String

  private static let recordName = ".widgetlab-package.json"
  private var recordPath: String { "\(path)/\(Self.recordName)" }

  /// What the last run wrote; `nil` without one.
  var record: Record? { try? JSONFile.read(Record.self, at: recordPath) }

  /// Writes a package, and removes what an earlier run wrote and the package no longer has. What is the same is not
  /// touched, so that a build compiles only what has changed.
  ///
  /// - Throws: a command error when the folder is another one's, or cannot be written.
  func write(_ plan: PackagePlan, project: String) throws -> Changes {
    let earlier = try earlierRecord()
    var changes = Changes()
    changes.isNew = earlier == nil
    var record = Record(project: project)
    do {
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
      for file in earlier?.files ?? [] where plan.items[file] == nil {
        try remove(file, written: earlier?.texts[file], &changes)
      }
      for (file, item) in plan.items.sorted(by: { $0.key < $1.key }) {
        record.files.append(file)
        if case .text(let text) = item { record.texts[file] = text }
        try write(item, at: file, earlier: earlier?.texts[file], &changes)
      }
      try JSONFile.write(record, to: recordPath)
    } catch let error as CocoaError {
      throw CommandError(
        Exit.configuration, "the package cannot be written: \(error.localizedDescription)", at: path,
        advice: "choose a writable folder with --output")
    }
    return changes
  }

  private func earlierRecord() throws -> Record? {
    if let record { return record }
    let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
    // Packages that the project needs are resolved before the package is written.
    guard names.allSatisfy({ $0 == ".build" }) else {
      throw CommandError(
        Exit.configuration, "this folder exists, and `widgetlab new` has not written it", at: path,
        advice: "choose another one with --output")
    }
    return nil
  }

  private func write(
    _ item: PackagePlan.Item, at file: String, earlier: String?, _ changes: inout Changes
  ) throws {
    let place = "\(path)/\(file)"
    switch item {
    case .link(let target):
      let destination = Self.relative(target, to: URL(fileURLWithPath: place).deletingLastPathComponent().path)
      guard try link(place, to: destination) else { return }
    case .resource(let target):
      guard try link(place, to: target) else { return }
    case .view(let data, _):
      guard Self.isLink(place) || FileManager.default.contents(atPath: place) != data else { return }
      try prepare(place)
      try data.write(to: URL(fileURLWithPath: place))
    case .text(let text):
      let current = try? String(contentsOfFile: place, encoding: .utf8)
      guard current != text else { return }
      if let current, current != earlier {
        changes.kept.append(file)
        return
      }
      try prepare(place)
      try text.write(toFile: place, atomically: true, encoding: .utf8)
    }
    changes.written += 1
  }

  /// - Returns: whether the link has changed.
  private func link(_ place: String, to destination: String) throws -> Bool {
    guard (try? FileManager.default.destinationOfSymbolicLink(atPath: place)) != destination else { return false }
    try prepare(place)
    try FileManager.default.createSymbolicLink(atPath: place, withDestinationPath: destination)
    return true
  }

  /// Makes the folder of a path, and removes what is at the path.
  private func prepare(_ place: String) throws {
    let folder = URL(fileURLWithPath: place).deletingLastPathComponent().path
    unlink(place)
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
  }

  private func remove(_ file: String, written: String?, _ changes: inout Changes) throws {
    let place = "\(path)/\(file)"
    if let written, let current = try? String(contentsOfFile: place, encoding: .utf8), current != written {
      changes.kept.append(file)
      return
    }
    guard unlink(place) == 0 else { return }
    changes.removed += 1
    var folder = URL(fileURLWithPath: place).deletingLastPathComponent().path
    // Only empty folders can be removed.
    while folder.count > path.count, rmdir(folder) == 0 {
      folder = URL(fileURLWithPath: folder).deletingLastPathComponent().path
    }
  }

  private static func isLink(_ path: String) -> Bool {
    (try? FileManager.default.destinationOfSymbolicLink(atPath: path)) != nil
  }

  /// The path from a folder to a file, with `..`.
  private static func relative(_ path: String, to folder: String) -> String {
    let (target, base) = (path.split(separator: "/"), folder.split(separator: "/"))
    let shared = zip(target, base).prefix { $0 == $1 }.count
    return (Array(repeating: "..", count: base.count - shared) + target.dropFirst(shared).map(String.init))
      .joined(separator: "/")
  }
}
