package import Archive
public import Foundation

/// One or more lines of text that cannot be edited. Source: `SwiftUI.Text`.
public struct Text: View, Equatable, Sendable, ArchivedView {
  let content: String

  /// A text as it stands.
  public init(verbatim content: String) { self.content = content }

  /// A text as it stands.
  @_disfavoredOverload public init<S: StringProtocol>(_ content: S) { self.content = String(content) }

  /// A text by its key. There are no translations: the key is the text.
  public init(_ key: LocalizedStringKey) { self.content = key.text }

  /// There is none.
  public var body: Never { fatalError("Text has no body") }
  package var archive: ViewArchive { .text(content) }
}

/// The key of a text in a strings file. Source: `SwiftUI.LocalizedStringKey`.
public struct LocalizedStringKey: Equatable, Sendable, ExpressibleByStringInterpolation {
  let text: String

  /// A key.
  public init(_ value: String) { text = value }
  /// A key.
  public init(stringLiteral value: String) { text = value }
  /// A key with values in it.
  public init(stringInterpolation: StringInterpolation) { text = stringInterpolation.text }

  /// Puts values into a key. Source: `SwiftUI.LocalizedStringKey.StringInterpolation`.
  public struct StringInterpolation: StringInterpolationProtocol {
    var text = ""

    /// Begins a key.
    public init(literalCapacity: Int, interpolationCount: Int) {
      text.reserveCapacity(literalCapacity + 2 * interpolationCount)
    }
    /// A part of the key.
    public mutating func appendLiteral(_ literal: String) { text += literal }
    /// A text.
    public mutating func appendInterpolation(_ string: String) { text += string }
    /// A number, grouped and rounded as the region does.
    public mutating func appendInterpolation<T: BinaryInteger>(_ value: T) { text += value.formatted() }
    /// A text view's text.
    public mutating func appendInterpolation(_ text: Text) { self.text += text.content }
    /// A value in a format.
    public mutating func appendInterpolation<F: FormatStyle>(_ input: F.FormatInput, format: F)
    where F.FormatOutput == String {
      text += format.format(input)
    }
  }
}
