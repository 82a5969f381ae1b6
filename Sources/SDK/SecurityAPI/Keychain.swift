// SPDX-License-Identifier: Apache-2.0

import AuthorRuntime
import Foundation
import Glibc
import Messages

/// The device's keychain, as one process has access to it: through the access groups of which the process is a member.
/// Any thread.
struct Keychain: Sendable {
  /// An access group of the process.
  struct Group: Sendable, Hashable {
    /// As the entitlement has it.
    let name: String

    /// The name without the identifier of a team, which WidgetLab does not know: ten letters or digits and a dot.
    var ownName: String { Self.ownName(of: name) }

    static func ownName(of name: String) -> String {
      let parts = name.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
      guard parts.count == 2, parts[0].utf8.count == 10, parts[0].utf8.allSatisfy(isOfTeam) else { return name }
      return String(parts[1])
    }

    private static func isOfTeam(_ byte: UInt8) -> Bool {
      (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }
  }

  /// The team in the name of the process's own access group, when its entitlement names none.
  static let team = "WIDGETLAB0"

  private let folder: String
  /// The first is the default.
  let groups: [Group]
  private let process: HostedProcess?

  private static let unhosted = Keychain(
    in: home + "/Library/Keychains", bundle: ProcessInfo.processInfo.processName, named: [], appGroups: [])

  private static var home: String {
    let environment = ProcessInfo.processInfo.environment
    return environment["CFFIXED_USER_HOME"] ?? environment["HOME"] ?? "/"
  }

  /// That of the calling code's process; a keychain below `Library` of the home folder in an executable that no agent
  /// started.
  static var current: Keychain {
    HostedProcess.current.map { $0.part(Keychain.self) { Keychain($0, ProcessInfo.processInfo.environment) } }
      ?? unhosted
  }

  /// The keychain for a process, whose environment has the folder and the entitlement.
  init(_ process: HostedProcess, _ environment: [String: String]) {
    let named = environment[KeychainVariables.groups]?.split(separator: ",").map(String.init)
    self.init(
      in: environment[KeychainVariables.folder] ?? process.container + "/Library/Keychains",
      bundle: process.address.bundleIdentifier ?? "", named: named ?? [], appGroups: process.groups.keys.sorted(),
      process)
  }

  /// - Parameters:
  ///   - folder: that of the device's keychain.
  ///   - bundle: the bundle identifier of the process.
  ///   - named: the entitlement `keychain-access-groups`.
  ///   - appGroups: those of the process.
  ///
  /// The order is Apple's: *Sharing access to keychain items among a collection of apps*.
  init(in folder: String, bundle: String, named: [String], appGroups: [String], _ process: HostedProcess? = nil) {
    self.folder = folder
    self.process = process
    let first = named.first.flatMap { name in
      Group.ownName(of: name) == name ? nil : name.split(separator: ".").first.map(String.init)
    }
    var groups: [Group] = []
    for name in named + ["\(first ?? Self.team).\(bundle)"] + appGroups {
      let group = Group(name: name)
      if !groups.contains(where: { $0.ownName == group.ownName }) { groups.append(group) }
    }
    self.groups = groups
  }

  private func file(_ group: Group) -> KeychainFile { KeychainFile(folder: "\(folder)/\(group.ownName)") }

  /// The groups that a query means.
  ///
  /// - Throws: `errSecMissingEntitlement` when the process is no member of the group that the query names.
  private func groups(_ name: String?, _ function: String) throws(KeychainFailure) -> [Group] {
    guard let name else { return groups }
    let ownName = Group.ownName(of: name)
    if let group = groups.first(where: { $0.ownName == ownName }) { return [group] }
    process?.log(
      "\(function): this process is not a member of the access group \(name) (-34018); add it to its entitlements in "
        + "widgetlab.yaml (keychain-access-groups), or to appGroups. Its groups: "
        + groups.map(\.name).joined(separator: ", "))
    throw KeychainFailure(errSecMissingEntitlement)
  }

  // MARK: Operations

  /// Adds an item to a group: the first of the process, if the query names none.
  ///
  /// - Returns: what the query requests of the item; `nil` when it requests nothing.
  func add(_ query: KeychainQuery) throws(KeychainFailure) -> Any? {
    guard let itemClass = query.itemClass, let group = try groups(query.accessGroup, "SecItemAdd").first else {
      throw KeychainFailure(errSecParam)
    }
    if query.attributes[kSecAttrSynchronizable] == .number(1) {
      process?.noticeUnsimulated(
        "kSecAttrSynchronizable", "the item is stored on this device, and not synchronised with others")
    }
    let item = KeychainItem(itemClass, query.attributes, data: query.data ?? Data(), at: Date())
    try file(group).change { items throws(KeychainFailure) in
      guard !items.contains(where: item.isSame) else { throw KeychainFailure(errSecDuplicateItem) }
      items.append(item)
    }
    return Self.object(of: item, in: group, query.parts)
  }

  /// The items that a query means, up to its limit.
  ///
  /// - Returns: what the query requests of the item, or of each of several; `nil` when it requests nothing.
  /// - Throws: `errSecItemNotFound` when no item matches.
  func copy(_ query: KeychainQuery) throws(KeychainFailure) -> Any? {
    var foundItems: [(item: KeychainItem, group: Group)] = []
    for group in try groups(query.accessGroup, "SecItemCopyMatching") {
      foundItems += try file(group).items().filter(query.fits).map { ($0, group) }
      if let limit = query.limit, foundItems.count >= limit { break }
    }
    guard let first = foundItems.first else { throw KeychainFailure(errSecItemNotFound) }
    guard !query.parts.isEmpty else { return nil }
    guard query.limit != 1 else { return Self.object(of: first.item, in: first.group, query.parts) }
    return foundItems.prefix(query.limit ?? foundItems.count).compactMap {
      Self.object(of: $0.item, in: $0.group, query.parts)
    }
  }

  /// Changes the items that a query means. In each access group it changes all of them or none.
  ///
  /// - Throws: `errSecItemNotFound` when no item matches, `errSecDuplicateItem` when an item would be the same as another one
  ///   afterwards, `errSecUnimplemented` for a move to another access group.
  func update(_ query: KeychainQuery, _ dictionary: CFDictionary) throws(KeychainFailure) {
    let changes = try KeychainQuery.changes(dictionary, of: query.itemClass)
    let target = try changes.accessGroup.map { name throws(KeychainFailure) in try groups(name, "SecItemUpdate")[0] }
    var isFound = false
    for group in try groups(query.accessGroup, "SecItemUpdate") {
      guard try has(query, group) else { continue }
      if let target, target.ownName != group.ownName {
        throw .notSimulated("kSecAttrAccessGroup", "SecItemUpdate cannot move an item to another group: it returns -4")
      }
      let date = Date()
      let isChanged = try file(group).change { items throws(KeychainFailure) in
        let places = items.indices.filter { query.fits(items[$0]) }
        for place in places {
          items[place].attributes.merge(changes.attributes) { $1 }
          items[place].attributes[kSecAttrModificationDate] = .date(date)
          if let data = changes.data { items[place].data = data }
        }
        for place in places {
          guard items.count(where: { $0.isSame(as: items[place]) }) == 1 else {
            throw KeychainFailure(errSecDuplicateItem)
          }
        }
        return !places.isEmpty
      }
      isFound = isFound || isChanged
    }
    if !isFound { throw KeychainFailure(errSecItemNotFound) }
  }

  /// Deletes the items that a query means.
  ///
  /// - Throws: `errSecItemNotFound` when no item matches.
  func delete(_ query: KeychainQuery) throws(KeychainFailure) {
    var isFound = false
    for group in try groups(query.accessGroup, "SecItemDelete") {
      guard try has(query, group) else { continue }
      let isChanged = try file(group).change { items throws(KeychainFailure) in
        let count = items.count
        items.removeAll(where: query.fits)
        return items.count < count
      }
      isFound = isFound || isChanged
    }
    if !isFound { throw KeychainFailure(errSecItemNotFound) }
  }

  /// Whether a group has an item that a query means. A group without one needs no lock, and no file.
  private func has(_ query: KeychainQuery, _ group: Group) throws(KeychainFailure) -> Bool {
    try file(group).items().contains(where: query.fits)
  }

  /// What a query requests of an item: one part, or a dictionary with several; the attributes are a dictionary too.
  private static func object(of item: KeychainItem, in group: Group, _ parts: KeychainQuery.Parts) -> Any? {
    switch parts {
    case []: return nil
    case .data: return item.data
    case .reference: return item.reference
    default: break
    }
    var result: CFDictionary = [:]
    if parts.contains(.attributes) {
      result[kSecClass] = item.itemClass.rawValue
      result[kSecAttrAccessGroup] = group.name
      for (key, value) in item.attributes {
        result[key] = value.object(item.itemClass.attributes[key]?.kind ?? .blob)
      }
    }
    if parts.contains(.data) { result[kSecValueData] = item.data }
    if parts.contains(.reference) { result[kSecValuePersistentRef] = item.reference }
    return result
  }
}

extension KeychainFailure {
  /// A failure because of something that is not simulated. Records its use for the diagnosis `not-simulated`.
  static func notSimulated(_ declaration: String, _ details: String) -> KeychainFailure {
    HostedProcess.current?.noticeUnsimulated(declaration, details)
    return KeychainFailure(errSecUnimplemented)
  }
}

/// The items of one access group, which several processes read and change at once.
///
/// A change replaces the file, so that a reader needs no lock and a process that is killed leaves the old file or the new
/// one. Writers hold a lock on the folder. A process that is suspended within its change stops other writers, and no
/// reader, until it is resumed or ended.
struct KeychainFile: Sendable {
  /// The folder of the access group. It need not exist.
  let folder: String
  /// How long a change waits for the change of another process.
  var patience = Duration.seconds(5)
  var path: String { folder + "/items" }

  /// The items in the order in which they were added. Empty when there is no file.
  ///
  /// - Throws: `errSecIO`, `errSecDecode`.
  func items() throws(KeychainFailure) -> [KeychainItem] {
    let bytes: Data
    do {
      bytes = try Data(contentsOf: URL(fileURLWithPath: path))
    } catch {
      guard access(path, F_OK) != 0, errno == ENOENT || errno == ENOTDIR else { throw KeychainFailure(errSecIO) }
      return []
    }
    do {
      return try PropertyListDecoder().decode([KeychainItem].self, from: bytes)
    } catch {
      throw KeychainFailure(errSecDecode)
    }
  }

  /// Changes the items. When this returns, other processes see the change, and it outlives this process. After an error
  /// nothing is changed.
  ///
  /// - Throws: what `body` throws, `errSecNotAvailable` when another process keeps the lock, `errSecIO`, `errSecDiskFull`
  ///   and `errSecDecode`.
  func change<Result>(
    _ body: (inout [KeychainItem]) throws(KeychainFailure) -> Result
  ) throws(KeychainFailure) -> Result {
    try? FileManager.default.createDirectory(
      atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    let lock: Int32
    do {
      lock = try FolderLock.take(folder, patience: patience)
    } catch {
      throw KeychainFailure(error.code == EWOULDBLOCK ? errSecNotAvailable : errSecIO)
    }
    defer { close(lock) }
    var items = try items()
    let result = try body(&items)
    try write(items)
    return result
  }

  private func write(_ items: [KeychainItem]) throws(KeychainFailure) {
    let encoder = PropertyListEncoder()
    encoder.outputFormat = .binary
    guard let bytes = try? encoder.encode(items) else { throw KeychainFailure(errSecParam) }
    // The lock makes the name sufficient: the next writer replaces the file of one that was killed.
    let new = path + ".new"
    do {
      try bytes.write(to: URL(fileURLWithPath: new))
    } catch let error as CocoaError where error.code == .fileWriteOutOfSpace {
      throw KeychainFailure(errSecDiskFull)
    } catch {
      throw KeychainFailure(errSecIO)
    }
    guard rename(new, path) == 0 else { throw KeychainFailure(errSecIO) }
  }
}
