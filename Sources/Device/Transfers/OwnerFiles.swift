// SPDX-License-Identifier: Apache-2.0

import Foundation
import Messages

/// The files in the owners' containers: copies of downloads, and lists that do not fit in an envelope. The database
/// has the path of each file before the file exists, so that each is removed with its delivery.
struct OwnerFiles: Sendable {
  let store: TransferStore
  /// The folder of an owner.
  let container: @Sendable (Address) -> String?

  /// Returns new file names like those of a device (observed): in the owner's container, below `Library/Caches`.
  ///
  /// - Throws: `NoContainer`, file system and database errors.
  func copyNames(_ count: Int, for owner: Address, _ delivery: UUID) throws -> [String] {
    guard count > 0 else { return [] }
    let folder = try folder(of: owner)
    let names = (0..<count).map { _ in "\(folder)/CFNetworkDownload_\(OwnerFiles.randomLetters()).tmp" }
    try store.addCopies(names, of: delivery)
    return names
  }

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
  func overflow(
    _ body: some Encodable, _ values: [some Encodable], for owner: Address, _ delivery: UUID
  ) throws -> String? {
    let lines = try BodyCoding.lines(values)
    guard try BodyCoding.data(body).count + lines.count > Wire.bodyLimit else { return nil }
    let path = try "\(folder(of: owner))/\(UUID().uuidString).json"
    try store.addCopies([path], of: delivery)
    try lines.write(to: URL(fileURLWithPath: path))
    return path
  }

  /// Removes the files of a delivery.
  ///
  /// - Throws: database errors.
  func remove(of delivery: UUID) throws {
    let copies = try store.copies(of: delivery)
    guard !copies.isEmpty else { return }
    for copy in copies { unlink(copy) }
    store.forgetCopies(of: delivery)
  }

  /// Removes the files of deliveries that an earlier host deleted just before it exited.
  ///
  /// - Throws: database errors.
  func removeOrphans() throws {
    let copies = try store.orphanedCopies()
    for copy in copies { unlink(copy) }
    try store.forget(copies)
  }

  private func folder(of owner: Address) throws -> String {
    guard let container = container(owner), let bundle = owner.bundleIdentifier else { throw NoContainer(owner: owner) }
    let folder = "\(container)/Library/Caches/com.apple.nsurlsessiond/Downloads/\(bundle)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    return folder
  }
}

/// The owner is no longer in the configuration.
struct NoContainer: Error, CustomStringConvertible {
  let owner: Address
  var description: String { "\(owner) has no folder on this device" }
}
