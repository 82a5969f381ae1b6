// SPDX-License-Identifier: Apache-2.0

import Foundation

// The compiler plugin of `#Preview`. The compiler checks the types of the macro's arguments itself. The expansion is
// empty, because no Xcode displays the preview. swift-syntax, the usual base of a plugin, takes minutes to compile and
// is not needed for an expansion that does not read its syntax.
//
// The protocol is that of `lib/ASTGen` and `SwiftCompilerPluginMessageHandling`. In both directions each message is its
// length as 8 little-endian bytes, followed by that many bytes of JSON: an object with one key, the message's name. The
// compiler ends with an empty message.

/// An error that ends the plugin.
struct PluginFailure: Error, CustomStringConvertible {
  var description: String
}

/// The reply to a message of the compiler.
func reply(to message: Data) throws -> [String: Any] {
  guard let object = try? JSONSerialization.jsonObject(with: message) as? [String: Any],
    object.count == 1, let name = object.keys.first
  else { throw PluginFailure(description: "a message of the compiler is not a JSON object with one key") }
  switch name {
  case "getCapability": return ["getCapabilityResult": ["capability": ["protocolVersion": 7]]]
  case "expandFreestandingMacro":
    return ["expandMacroResult": ["expandedSource": "", "diagnostics": []]]
  default:
    throw PluginFailure(
      description: "this compiler sends the message '\(name)', which the plugin of #Preview does not know; "
        + "Swift 6.3 sends getCapability and expandFreestandingMacro")
  }
}

/// Reads exactly `count` bytes from standard input; nil at the end of the input.
func read(_ count: Int) throws -> Data? {
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

@main struct Plugin {
  static func main() {
    do {
      while let header = try read(8) {
        let count = header.reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        if count == 0 { return }
        guard count < 1 << 30, let message = try read(Int(count)) else {
          throw PluginFailure(description: "a message of \(count) bytes cannot be read")
        }
        let answer = try JSONSerialization.data(withJSONObject: try reply(to: message))
        let length = withUnsafeBytes(of: UInt64(answer.count).littleEndian) { Data($0) }
        try FileHandle.standardOutput.write(contentsOf: length + answer)
      }
    } catch {
      FileHandle.standardError.write(Data("error: PreviewsMacros: \(error)\n".utf8))
      exit(1)
    }
  }
}
