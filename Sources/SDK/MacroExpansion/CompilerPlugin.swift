// SPDX-License-Identifier: Apache-2.0

package import Foundation

// The compiler's plugin protocol, for plugins without swift-syntax. swift-syntax, the usual base of a plugin, takes
// minutes to compile. A package that uses WidgetLab compiles its plugins too.
//
// The protocol is that of `lib/ASTGen` and `SwiftCompilerPluginMessageHandling`. In both directions each message is its
// length as 8 little-endian bytes, followed by that many bytes of JSON: an object with one key, the message's name. The
// compiler ends with an empty message.

/// An error that ends the plugin.
package struct PluginFailure: Error, CustomStringConvertible {
  package var description: String

  package init(description: String) { self.description = description }
}

/// The source that a macro expands to, or the reason why it cannot.
package struct Expansion: Equatable {
  package var source: String
  /// An error of the author's code, which the compiler prints.
  package var problem: String?

  package init(_ source: String, problem: String? = nil) { (self.source, self.problem) = (source, problem) }
}

/// A compiler plugin: an executable that expands macros.
package struct CompilerPlugin {
  /// The plugin's name in error messages.
  private let name: String
  /// What messages the plugin knows, for the error about another one.
  private let knownMacros: String
  /// Expands the macro of a message, given the message's name and content; `nil` if it does not know the message.
  private let expand: (String, [String: Any]) -> Expansion?

  package init(name: String, known knownMacros: String, expand: @escaping (String, [String: Any]) -> Expansion?) {
    (self.name, self.knownMacros, self.expand) = (name, knownMacros, expand)
  }

  /// Answers the compiler's messages until the last one, and returns the status of the process.
  package func run() -> Int32 {
    do {
      while let message = try nextMessage() {
        let answer = try JSONSerialization.data(withJSONObject: try reply(to: message))
        let length = withUnsafeBytes(of: UInt64(answer.count).littleEndian) { Data($0) }
        try FileHandle.standardOutput.write(contentsOf: length + answer)
      }
      return 0
    } catch {
      FileHandle.standardError.write(Data("error: \(name): \(error)\n".utf8))
      return 1
    }
  }

  /// The reply to a message of the compiler.
  package func reply(to message: Data) throws -> [String: Any] {
    guard let object = try? JSONSerialization.jsonObject(with: message) as? [String: Any],
      object.count == 1, let kind = object.keys.first
    else { throw PluginFailure(description: "a message of the compiler is not a JSON object with one key") }
    if kind == "getCapability" { return ["getCapabilityResult": ["capability": ["protocolVersion": 7]]] }
    let content = object[kind] as? [String: Any] ?? [:]
    guard let expansion = expand(kind, content) else {
      throw PluginFailure(
        description: "this compiler sends the message '\(kind)', which the plugin of \(knownMacros) does not know")
    }
    var diagnostics: [[String: Any]] = []
    if let problem = expansion.problem { diagnostics.append(Self.diagnostic(problem, content)) }
    return ["expandMacroResult": ["expandedSource": expansion.source, "diagnostics": diagnostics]]
  }

  /// An error at the macro's attribute.
  private static func diagnostic(_ problem: String, _ content: [String: Any]) -> [String: Any] {
    let syntax = (content["attributeSyntax"] ?? content["syntax"]) as? [String: Any]
    let location = syntax?["location"] as? [String: Any]
    let position: [String: Any] = [
      "fileName": location?["fileName"] as? String ?? "", "offset": location?["offset"] as? Int ?? 0,
    ]
    return [
      "message": problem, "severity": "error", "position": position, "highlights": [], "notes": [], "fixIts": [],
    ]
  }

  /// The next message; `nil` at the compiler's last, empty message and at the end of the input.
  private func nextMessage() throws -> Data? {
    guard let header = try read(8) else { return nil }
    let count = header.reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    if count == 0 { return nil }
    guard count < 1 << 30, let message = try read(Int(count)) else {
      throw PluginFailure(description: "a message of \(count) bytes cannot be read")
    }
    return message
  }

  /// Reads exactly `count` bytes from standard input; nil at the end of the input.
  private func read(_ count: Int) throws -> Data? {
    var data = Data()
    while data.count < count {
      guard let more = try FileHandle.standardInput.read(upToCount: count - data.count), !more.isEmpty else {
        guard data.isEmpty else { throw PluginFailure(description: "the compiler closed the pipe within a message") }
        return nil
      }
      data += more
    }
    return data
  }
}
