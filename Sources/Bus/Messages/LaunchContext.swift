// SPDX-License-Identifier: Apache-2.0
/// The launch context that an agent passes to a child on standard input: one line, then end of file. The runtime reads
/// and closes it before the author's code runs, so the key is in no environment and no argument list.
///
/// The line has fields such as `generation=3`, separated by tabs. It is not JSON: a process would look up a dozen
/// protocol conformances for `JSONDecoder` before its author's first line, at 0.1 ms each.
package struct LaunchContext: Sendable, Hashable {
  /// The child's address on the bus.
  package let address: Address
  /// The generation of this process instance.
  package let generation: UInt32
  /// The host system of its device.
  package let host: Address
  /// The broker's endpoint, such as `tcp://127.0.0.1:7701`.
  package let endpoint: String
  /// The broker's key, z85.
  package let serverKey: String
  /// The key pair of this process instance, z85.
  package let publicKey: String
  package let secretKey: String
  /// The process's container folder.
  package let container: String
  /// Folders of app groups, by group identifier.
  package let groups: [String: String]
  package let rules: ProcessRules
  /// The agent's process id: a child with another parent was orphaned before it could set its parent-death signal.
  package let agentPid: Int32
  /// The page by which faults are injected into the process; `nil` in ordinary use.
  package let faultPoints: String?

  package init(
    address: Address, generation: UInt32, host: Address, endpoint: String, serverKey: String, publicKey: String,
    secretKey: String, container: String, groups: [String: String], rules: ProcessRules = ProcessRules(),
    agentPid: Int32, faultPoints: String? = nil
  ) {
    self.address = address
    self.generation = generation
    self.host = host
    self.endpoint = endpoint
    self.serverKey = serverKey
    self.publicKey = publicKey
    self.secretKey = secretKey
    self.container = container
    self.groups = groups
    self.rules = rules
    self.agentPid = agentPid
    self.faultPoints = faultPoints
  }
}

// MARK: The line

extension LaunchContext {
  /// The prefix of the field of an app group, whose name ends with the group's identifier.
  private static let groupPrefix = "group:"

  /// The line, with its line feed.
  package var line: [UInt8] {
    var fields = [
      ("address", address.text), ("generation", "\(generation)"), ("host", host.text), ("endpoint", endpoint),
      ("serverKey", serverKey), ("publicKey", publicKey), ("secretKey", secretKey), ("container", container),
      ("agentPid", "\(agentPid)"),
    ]
    var (rules, ruleFields) = (self.rules, RuleFields(line: nil))
    rules.pass(to: &ruleFields)
    fields += ruleFields.written
    if let faultPoints { fields.append(("faultPoints", faultPoints)) }
    for (identifier, folder) in groups { fields.append((Self.groupPrefix + identifier, folder)) }
    var line: [UInt8] = []
    for (name, value) in fields {
      if !line.isEmpty { line.append(UInt8(ascii: "\t")) }
      Self.append(name, to: &line)
      line.append(UInt8(ascii: "="))
      Self.append(value, to: &line)
    }
    return line + [UInt8(ascii: "\n")]
  }

  /// Reads the line. `nil` when a field is missing or malformed. Unknown fields are ignored.
  package init?(line: [UInt8]) {
    var fields: [(name: String, value: String)] = []
    var groups: [String: String] = [:]
    var start = line.startIndex
    let end = line.firstIndex(of: UInt8(ascii: "\n")) ?? line.endIndex
    while start < end {
      var (sign, stop) = (start, start)
      while stop < end, line[stop] != UInt8(ascii: "\t") { stop += 1 }
      while sign < stop, line[sign] != UInt8(ascii: "=") { sign += 1 }
      guard sign < stop, let name = Self.text(line[start..<sign]), let value = Self.text(line[(sign + 1)..<stop])
      else { return nil }
      if name.hasPrefix(Self.groupPrefix) {
        groups[String(name.dropFirst(Self.groupPrefix.count))] = value
      } else {
        fields.append((name, value))
      }
      start = stop + 1
    }
    func value(_ name: String) -> String? { fields.first { $0.name == name }?.value }
    guard let address = Address(value("address") ?? ""), let generation = UInt32(value("generation") ?? ""),
      let host = Address(value("host") ?? ""), let endpoint = value("endpoint"), let serverKey = value("serverKey"),
      let publicKey = value("publicKey"), let secretKey = value("secretKey"), let container = value("container"),
      let agentPid = Int32(value("agentPid") ?? "")
    else { return nil }
    var (rules, ruleFields) = (ProcessRules(), RuleFields(line: fields))
    rules.pass(to: &ruleFields)
    guard ruleFields.isComplete else { return nil }
    self.init(
      address: address, generation: generation, host: host, endpoint: endpoint, serverKey: serverKey,
      publicKey: publicKey, secretKey: secretKey, container: container, groups: groups, rules: rules,
      agentPid: agentPid, faultPoints: value("faultPoints"))
  }

  /// Bytes that separate, and the byte that begins an escape.
  private static func isEscaped(_ byte: UInt8) -> Bool {
    byte < 0x20 || byte == UInt8(ascii: "=") || byte == UInt8(ascii: "%")
  }

  /// Writes such bytes as `%` and two hexadecimal digits.
  private static func append(_ text: String, to line: inout [UInt8]) {
    let digits = Array("0123456789ABCDEF".utf8)
    for byte in text.utf8 {
      if isEscaped(byte) {
        line += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      } else {
        line.append(byte)
      }
    }
  }

  private static func text(_ field: ArraySlice<UInt8>) -> String? {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(field.count)
    var place = field.startIndex
    while place < field.endIndex {
      var byte = field[place]
      if byte == UInt8(ascii: "%") {
        guard place + 2 < field.endIndex, let high = digit(field[place + 1]), let low = digit(field[place + 2])
        else { return nil }
        byte = high << 4 | low
        place += 2
      }
      bytes.append(byte)
      place += 1
    }
    return String(validating: bytes, as: UTF8.self)
  }

  private static func digit(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
    case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
    default: nil
    }
  }
}

/// Rules for an author's process that Apple does not document. Source of the values: Documentation/fidelity.
package struct ProcessRules: Codable, Hashable, Sendable {
  /// How long a call on an author's thread waits for the host. Seconds.
  package var callDeadline = 5.0
  /// A request that the process performs itself fails with -1007 after this many redirections.
  package var inlineRedirectLimit = 20
  /// Whether the first completion of several matching handlers acknowledges a session's events, instead of the last.
  package var firstCompletionCounts = false
  /// Whether calls of a provider may overlap, on several threads.
  package var callsProvidersConcurrently = false

  package init() {}

  /// The only place that names the rules for the line, which is written and read here.
  fileprivate mutating func pass(to fields: inout RuleFields) {
    fields.pass("callDeadline", &callDeadline)
    fields.pass("inlineRedirectLimit", &inlineRedirectLimit)
    fields.pass("firstCompletionCounts", &firstCompletionCounts)
    fields.pass("callsProvidersConcurrently", &callsProvidersConcurrently)
  }
}

/// The fields of the rules in a line.
private struct RuleFields {
  /// The fields of the line that is read; `nil` to write one.
  let line: [(name: String, value: String)]?
  private(set) var written: [(String, String)] = []
  /// Whether the line has each field, with a valid value.
  private(set) var isComplete = true

  init(line: [(name: String, value: String)]?) { self.line = line }

  /// Writes the value, or reads it.
  mutating func pass<Value: LosslessStringConvertible>(_ name: String, _ value: inout Value) {
    guard let line else { return written.append((name, value.description)) }
    if let field = line.first(where: { $0.name == name }), let new = Value(field.value) {
      value = new
    } else {
      isComplete = false
    }
  }
}

/// The environment variables by which the host says why it launches a process.
package enum LaunchVariables {
  /// Set when the user opens the app.
  package static let isInFront = "WIDGETLAB_LAUNCHED_IN_FRONT"
}

/// The environment variables by which the host gives a process its access to the device's keychain.
package enum KeychainVariables {
  /// The folder of the device's keychain.
  package static let folder = "WIDGETLAB_KEYCHAIN"
  /// The access groups of the entitlement `keychain-access-groups`, between commas.
  package static let groups = "WIDGETLAB_KEYCHAIN_GROUPS"
}
