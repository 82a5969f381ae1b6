// SPDX-License-Identifier: Apache-2.0

/// Why a request of the page is not answered: an HTTP status, and the message for the user.
package struct ConsoleError: Error, Encodable, Equatable {
  /// A range of characters of a filter expression.
  package struct Place: Encodable, Equatable, Sendable {
    /// The first character.
    package let from: Int
    /// The character after the last one.
    package let to: Int
  }

  /// The HTTP status.
  package let status: Int
  /// What happened.
  package let what: String
  /// Where.
  package let `where`: String?
  /// What to do.
  package let advice: String?
  /// The characters at fault in a filter expression.
  package var place: Place?

  /// Creates an error.
  package init(_ status: Int, _ what: String, at place: String? = nil, advice: String? = nil) {
    self.status = status
    self.what = what
    self.where = place
    self.advice = advice
  }

  private enum CodingKeys: String, CodingKey { case what, `where`, advice, place }
}
