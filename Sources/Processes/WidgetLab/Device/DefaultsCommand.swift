// SPDX-License-Identifier: Apache-2.0

import Archive
import ArgumentParser
import Foundation
import JournalAnalysis
import MessageBus
import Messages

/// `widgetlab defaults`.
struct DefaultsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "defaults",
    abstract: "Reads, writes and deletes the UserDefaults of the device's apps and extensions.",
    discussion: """
      A domain is the identifier of an app group, the bundle identifier of an app or an extension (its \
      UserDefaults.standard), or BUNDLE/SUITE for another suite. A process sees a change at its next read. It does not \
      notice it otherwise: reload a widget that shows the value.

      EXAMPLES
        widgetlab defaults read                                   the domains
        widgetlab defaults read group.com.example.CaffeineTracker
        widgetlab defaults read group.com.example.CaffeineTracker limit
        widgetlab defaults write group.com.example.CaffeineTracker limit -int 400
        widgetlab defaults delete group.com.example.CaffeineTracker limit
      """,
    subcommands: [ReadCommand.self, WriteCommand.self, DeleteCommand.self], defaultSubcommand: ReadCommand.self)

  struct ReadCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "read",
      abstract: "Prints the domains, the values of a domain, or one value.",
      discussion: """
        EXAMPLES
          widgetlab defaults read
          widgetlab defaults read com.example.CaffeineTracker --json
        """)

    @OptionGroup var options: InstanceOptions

    @Argument(help: "An app group, a bundle identifier, or BUNDLE/SUITE; without it, the domains are listed.")
    var domain: String?

    @Argument(help: "Only the value of this key.")
    var key: String?

    @Flag(help: "Print JSON: an array of domains, an object of values, or a value. Dates are text, data is Base64.")
    var json = false

    func run() async throws {
      try await reporting {
        let reply = try await OperatorSession.with(options, reading: true) { session in
          try await session.ask(ReadDefaults(domain: domain, key: key))
        }
        if json { return Output.json(data: Data(try Self.json(reply, domain: domain, key: key).utf8)) }
        if let key, let value = reply.values[key] { return Output.printText(value.text) }
        if domain == nil, reply.domains.isEmpty { Output.printError("No domain has a value yet.") }
        for domain in reply.domains { Output.print(domain) }
        for (key, value) in reply.values.sorted(by: { $0.key < $1.key }) { Output.print("\(key) = \(value.text)") }
      }
    }

    static func json(_ reply: ReadDefaults.Reply, domain: String?, key: String?) throws -> String {
      let value: DefaultsValue =
        domain == nil
        ? .array(reply.domains.map { .string($0) }) : key.flatMap { reply.values[$0] } ?? .dictionary(reply.values)
      let options: JSONSerialization.WritingOptions = [.sortedKeys, .withoutEscapingSlashes, .fragmentsAllowed]
      return String(decoding: try JSONSerialization.data(withJSONObject: value.json, options: options), as: UTF8.self)
    }
  }

  struct WriteCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "write",
      abstract: "Sets a value.",
      discussion: """
        EXAMPLES
          widgetlab defaults write GROUP name Espresso
          widgetlab defaults write GROUP limit -int 400
          widgetlab defaults write GROUP isOn -bool true
          widgetlab defaults write GROUP drinks -array tea coffee
        """)

    @OptionGroup var options: InstanceOptions

    @Argument(help: "An app group, a bundle identifier, or BUNDLE/SUITE.")
    var domain: String

    @Argument(help: "The key.")
    var key: String

    @Argument(help: "A string.")
    var value: String?

    @Option(name: .single("string"), parsing: .unconditional, help: "A string.")
    var string: String?

    @Option(name: .single("int"), parsing: .unconditional, help: "An integer.")
    var integer: Int64?

    @Option(name: .single("float"), parsing: .unconditional, help: "A floating-point number.")
    var real: Double?

    @Option(name: .single("bool"), help: ArgumentHelp("true, yes, 1, false, no or 0.", valueName: "bool"))
    var bool: Boolean?

    @Option(name: .single("date"), help: "A time such as 2026-03-01T06:00:00Z.")
    var date: String?

    @Option(name: .single("data"), help: "Bytes in hexadecimal.")
    var data: String?

    @Option(name: .single("array"), parsing: .upToNextOption, help: "Strings.")
    var array: [String] = []

    @Option(name: .single("dict"), parsing: .upToNextOption, help: "Keys and strings in turn.")
    var dictionary: [String] = []

    func validate() throws { _ = try chosen() }

    func run() async throws {
      try await reporting {
        let change = WriteDefaults.Change.set(key: key, value: try chosen())
        _ = try await OperatorSession.with(options) { session in
          try await session.ask(WriteDefaults(domain: domain, change: change))
        }
      }
    }

    /// The one value that the arguments name.
    func chosen() throws -> DefaultsValue {
      let values = try [
        value.map { .string($0) }, string.map { .string($0) }, integer.map { .integer($0) }, real.map { .real($0) },
        bool.map { .bool($0.value) }, date.map { try time($0) }, data.map { try bytes($0) },
        array.isEmpty ? nil : .array(array.map { .string($0) }), dictionary.isEmpty ? nil : try pairs(),
      ].compactMap { (value: DefaultsValue?) in value }
      guard values.count == 1 else {
        throw ValidationError("Give one value: widgetlab defaults write DOMAIN KEY VALUE, or -int 5, -bool true, ….")
      }
      return values[0]
    }

    private func time(_ text: String) throws -> DefaultsValue {
      guard let seconds = ISOTime.seconds(of: text) else {
        throw ValidationError("'\(text)' is not a time; use 2026-03-01T06:00:00Z.")
      }
      return .date(Date(timeIntervalSince1970: seconds))
    }

    private func bytes(_ text: String) throws -> DefaultsValue {
      guard let data = Data(hexadecimal: text) else {
        throw ValidationError("'\(text)' is not data; use two hexadecimal digits for each byte.")
      }
      return .data(data)
    }

    private func pairs() throws -> DefaultsValue {
      guard dictionary.count.isMultiple(of: 2) else { throw ValidationError("-dict needs a string for each key.") }
      let pairs = stride(from: 0, to: dictionary.count, by: 2).map { (dictionary[$0], dictionary[$0 + 1]) }
      return .dictionary(Dictionary(pairs.map { ($0.0, .string($0.1)) }, uniquingKeysWith: { $1 }))
    }
  }

  struct DeleteCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "delete",
      abstract: "Removes a key, or all keys of a domain.",
      discussion: """
        EXAMPLES
          widgetlab defaults delete GROUP limit
          widgetlab defaults delete com.example.CaffeineTracker
        """)

    @OptionGroup var options: InstanceOptions

    @Argument(help: "An app group, a bundle identifier, or BUNDLE/SUITE.")
    var domain: String

    @Argument(help: "The key; without it, all keys.")
    var key: String?

    func run() async throws {
      try await reporting {
        let change = key.map { WriteDefaults.Change.remove(key: $0) } ?? .clear
        _ = try await OperatorSession.with(options) { session in
          try await session.ask(WriteDefaults(domain: domain, change: change))
        }
      }
    }
  }
}

/// As in macOS's `defaults`.
struct Boolean: ExpressibleByArgument {
  let value: Bool

  init?(argument: String) {
    switch argument.lowercased() {
    case "true", "yes", "1": value = true
    case "false", "no", "0": value = false
    default: return nil
    }
  }
}

extension NameSpecification {
  /// `-int`, as in macOS's `defaults`.
  fileprivate static func single(_ name: String) -> NameSpecification { .customLong(name, withSingleDash: true) }
}

extension DefaultsValue {
  /// An object for `JSONSerialization`.
  fileprivate var json: Any {
    switch self {
    case .string(let value): value
    case .integer(let value): value
    case .real(let value): value
    case .bool(let value): value
    case .date(let value): value.formatted(.iso8601)
    case .data(let value): value.base64EncodedString()
    case .array(let values): values.map(\.json)
    case .dictionary(let values): values.mapValues(\.json)
    }
  }
}
