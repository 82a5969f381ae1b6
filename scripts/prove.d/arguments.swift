// SPDX-License-Identifier: Apache-2.0

// What the commands of scripts/prove share.

import Foundation

/// Prints at once, also into a pipe.
func show(_ text: String) { FileHandle.standardOutput.write(Data((text + "\n").utf8)) }

/// Ends with an error about an argument.
func refuse(_ reason: String) -> Never {
  FileHandle.standardError.write(Data("error: \(reason)\n".utf8))
  exit(2)
}

/// The value of an option that takes a number of at least 1.
func number(_ argument: String, _ value: String) -> Int {
  guard let number = Int(value), number > 0 else { refuse("\(argument): a whole number of at least 1 is expected") }
  return number
}
