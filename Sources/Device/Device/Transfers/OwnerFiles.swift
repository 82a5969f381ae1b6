// SPDX-License-Identifier: Apache-2.0

import Foundation
import Messages

/// The files in the owners' containers: copies of downloads, and lists that do not fit in an envelope. The row of a
/// delivery has the paths of its files before the owner gets them. A host that starts removes files that no row has.
struct OwnerFiles: Sendable {
  private let store: TransferStore
  /// The folder of an owner.
  let container: @Sendable (Address) -> String?
  /// The paths of the files of each delivery, and of each list of tasks.
  private var paths: [UUID: [String]]

  /// - Throws: database errors.
  init(store: TransferStore, container: @escaping @Sendable (Address) -> String?) throws {
    self.store = store
    self.container = container
    paths = try store.copies()
  }

  /// Returns new file names like those of a device (observed): in the owner's container, below `Library/Caches`.
  ///
  /// - Throws: `NoContainer`, and file system errors.
  mutating func copyNames(_ count: Int, for owner: Address, _ delivery: UUID) throws -> [String] {
    guard count > 0 else { return [] }
    let folder = try folder(of: owner)
    let names = (0..<count).map { _ in
      "\(folder)/\(OwnerFiles.copyPrefix)\(OwnerFiles.randomLetters())\(OwnerFiles.copySuffix)"
    }
    add(names, to: delivery)
    return names
  }

  private mutating func add(_ names: [String], to delivery: UUID) {
    let all = (paths[delivery] ?? []) + names
    paths[delivery] = all
    store.setCopies(all, of: delivery)
  }

  private static let copyPrefix = "CFNetworkDownload_"
  private static let copySuffix = ".tmp"
  private static let listSuffix = ".json"

  /// Six letters or digits, from one random number.
  private static func randomLetters() -> String {
    var number = UInt64.random(in: 0...UInt64.max)
    return String(
      decoding: (0..<6).map { _ in
        defer { number /= UInt64(letters.count) }
        return letters[Int(number % UInt64(letters.count))]
      }, as: UTF8.self)
  }

  private static let letters = Array("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789".utf8)

  /// Writes values that do not fit in an envelope to a file in the owner's container.
  ///
  /// - Parameters:
  ///   - body: the message without the values.
  ///   - delivery: the delivery that the file belongs to, or another id for a list of tasks. Such a list is removed by
  ///     the owner when it has read it, else when its instance ends, and at the latest when the host restarts.
  /// - Returns: `nil` when the values fit in the envelope.
  mutating func overflow(
    _ body: some DirectJSON, _ values: [some DirectJSON], for owner: Address, _ delivery: UUID
  ) throws -> String? {
    let lines = try BodyCoding.lines(values)
    guard try BodyCoding.data(body).count + lines.count > Wire.bodyLimit else { return nil }
    let path = try "\(folder(of: owner))/\(UUID().uuidString)\(OwnerFiles.listSuffix)"
    add([path], to: delivery)
    try lines.write(to: URL(fileURLWithPath: path))
    return path
  }

  /// Removes the files of a delivery or of a list.
  mutating func remove(of delivery: UUID) {
    for path in paths.removeValue(forKey: delivery) ?? [] { unlink(path) }
  }

  /// Removes the files that an earlier host made for these owners and that belong to no delivery: it exited before it
  /// recorded them, or after it deleted the delivery.
  func removeOrphans(of owners: Set<Address>) {
    let known = Set(paths.values.joined())
    for folder in owners.compactMap(downloads) {
      for name in (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [] {
        let isOurs = name.hasPrefix(OwnerFiles.copyPrefix) && name.hasSuffix(OwnerFiles.copySuffix)
        let path = "\(folder)/\(name)"
        if isOurs || name.hasSuffix(OwnerFiles.listSuffix), !known.contains(path) { unlink(path) }
      }
    }
  }

  private func folder(of owner: Address) throws -> String {
    guard let folder = downloads(of: owner) else { throw NoContainer(owner: owner) }
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    return folder
  }

  private func downloads(of owner: Address) -> String? {
    guard let container = container(owner), let bundle = owner.bundleIdentifier else { return nil }
    return "\(container)/Library/Caches/com.apple.nsurlsessiond/Downloads/\(bundle)"
  }
}

/// The owner is no longer in the configuration.
struct NoContainer: Error, CustomStringConvertible {
  let owner: Address
  var description: String { "\(owner) has no folder on this device" }
}
