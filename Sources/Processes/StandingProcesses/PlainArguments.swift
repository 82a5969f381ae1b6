// SPDX-License-Identifier: Apache-2.0

/// Arguments of the form `--name VALUE`, in which a cluster starts its processes.
///
/// ArgumentParser needs 3 ms of each start, because it examines the types of a command at run time. A command that
/// reads its options from here starts without it. Everything else is left to ArgumentParser: other forms of options,
/// wrong values, `--help`. The result is the same, so this accepts only what ArgumentParser accepts.
package struct PlainArguments {
  private var pairs: [(name: String, value: String)] = []

  /// Whether all arguments were taken.
  package var isEmpty: Bool { pairs.isEmpty }

  /// - Parameter arguments: without the name of the executable.
  /// - Returns: `nil` unless these are pairs of a long name and a value that does not begin with `-`, each name once.
  package init?(_ arguments: ArraySlice<String>) {
    var name: String?
    for argument in arguments {
      guard let current = name else {
        guard argument.hasPrefix("--"), argument.utf8.count > 2, !argument.utf8.contains(UInt8(ascii: "=")),
          !pairs.contains(where: { $0.name == argument })
        else { return nil }
        name = argument
        continue
      }
      guard !argument.isEmpty, !argument.hasPrefix("-") else { return nil }
      pairs.append((current, argument))
      name = nil
    }
    if name != nil { return nil }
  }

  /// Removes the value of an option; `nil` if it is not among the arguments.
  ///
  /// - Parameter name: with its dashes.
  package mutating func take(_ name: String) -> String? {
    pairs.firstIndex { $0.name == name }.map { pairs.remove(at: $0).value }
  }
}
