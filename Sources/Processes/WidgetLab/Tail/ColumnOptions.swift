// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import JournalAnalysis

extension TailColumn {
  /// Reads `time,kind,note`.
  ///
  /// - Throws: a validation error that the argument parser prints, with exit code 64.
  static func list(_ text: String) throws -> [TailColumn] {
    let words = text.split(separator: ",", omittingEmptySubsequences: false).map {
      $0.trimmingCharacters(in: .whitespaces)
    }
    return try words.map { word in
      guard let column = TailColumn(rawValue: word) else {
        throw ValidationError("--columns: '\(word)' is not a column; use \(names)")
      }
      return column
    }
  }
}

/// When colours are printed.
enum ColorPolicy: String, CaseIterable, ExpressibleByArgument {
  case auto, always, never

  var isColored: Bool {
    switch self {
    case .auto: Output.isColored
    case .always: true
    case .never: false
    }
  }
}
