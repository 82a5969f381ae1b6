// SPDX-License-Identifier: Apache-2.0

public import Foundation

extension AttributedString {
  /// How Markdown is read. Source: `Foundation.AttributedString.MarkdownParsingOptions`. Only what is within a line is
  /// read: emphasis, code, strikethrough and links.
  public struct MarkdownParsingOptions: Sendable {
    /// Source: `AttributedString.MarkdownParsingOptions.InterpretedSyntax`.
    public enum InterpretedSyntax: Sendable {
      case full, inlineOnly, inlineOnlyPreservingWhitespace
    }

    /// Source: `AttributedString.MarkdownParsingOptions.FailurePolicy`.
    public enum FailurePolicy: Sendable {
      case throwError, returnPartiallyParsedIfPossible
    }

    public var allowsExtendedAttributes: Bool
    public var interpretedSyntax: InterpretedSyntax
    public var failurePolicy: FailurePolicy
    public var languageCode: String?

    public init(
      allowsExtendedAttributes: Bool = false, interpretedSyntax: InterpretedSyntax = .full,
      failurePolicy: FailurePolicy = .throwError, languageCode: String? = nil
    ) {
      self.allowsExtendedAttributes = allowsExtendedAttributes
      self.interpretedSyntax = interpretedSyntax
      self.failurePolicy = failurePolicy
      self.languageCode = languageCode
    }
  }

  /// A text with the attributes that its Markdown describes.
  public init(markdown: String, options: MarkdownParsingOptions = .init(), baseURL: URL? = nil) throws {
    self = InlineMarkdown(markdown[...], baseURL).text([])
  }
  public init(markdown: Data, options: MarkdownParsingOptions = .init(), baseURL: URL? = nil) throws {
    try self.init(markdown: String(decoding: markdown, as: UTF8.self), options: options, baseURL: baseURL)
  }
}

/// Reads emphasis, code, strikethrough and links. Source: CommonMark 0.31, chapter 6, without nested brackets,
/// references and HTML.
private struct InlineMarkdown {
  private let source: Substring
  private let baseURL: URL?

  init(_ source: Substring, _ baseURL: URL?) {
    self.source = source
    self.baseURL = baseURL
  }

  private static let marks: [(mark: String, intent: InlinePresentationIntent)] = [
    ("**", .stronglyEmphasized), ("__", .stronglyEmphasized), ("~~", .strikethrough), ("*", .emphasized),
    ("_", .emphasized),
  ]

  /// - Parameter intent: that of the text around it.
  func text(_ intent: InlinePresentationIntent) -> AttributedString {
    var result = AttributedString()
    var plain = ""
    var rest = source
    func flush() {
      guard !plain.isEmpty else { return }
      result += Self.run(plain, intent)
      plain = ""
    }
    while let character = rest.first {
      if character == "\\", let next = rest.dropFirst().first, next.isPunctuation || next.isSymbol {
        plain.append(next)
        rest = rest.dropFirst(2)
      } else if character == "`", let end = rest.dropFirst().firstIndex(of: "`") {
        flush()
        result += Self.run(String(rest[rest.index(after: rest.startIndex)..<end]), intent.union(.code))
        rest = rest[rest.index(after: end)...]
      } else if character == "[", let link = Self.link(rest) {
        flush()
        var label = InlineMarkdown(link.label, baseURL).text(intent)
        label.link = URL(string: String(link.target), relativeTo: baseURL)
        result += label
        rest = link.rest
      } else if let found = Self.emphasis(rest, after: plain.last) {
        flush()
        result += InlineMarkdown(found.inner, baseURL).text(intent.union(found.intent))
        rest = found.rest
      } else {
        plain.append(character)
        rest = rest.dropFirst()
      }
    }
    flush()
    return result
  }

  private static func run(_ text: String, _ intent: InlinePresentationIntent) -> AttributedString {
    var run = AttributedString(text)
    if !intent.isEmpty { run.inlinePresentationIntent = intent }
    return run
  }

  private static func emphasis(
    _ rest: Substring, after before: Character?
  ) -> (inner: Substring, intent: InlinePresentationIntent, rest: Substring)? {
    for (mark, intent) in marks where rest.hasPrefix(mark) {
      // An underscore within a word is a character of it.
      if mark.hasPrefix("_"), before?.isLetter == true || before?.isNumber == true { continue }
      let inner = rest.dropFirst(mark.count)
      guard inner.first?.isWhitespace == false, let end = inner.range(of: mark), end.lowerBound > inner.startIndex,
        !inner[inner.index(before: end.lowerBound)].isWhitespace
      else { continue }
      return (inner[..<end.lowerBound], intent, inner[end.upperBound...])
    }
    return nil
  }

  private static func link(_ rest: Substring) -> (label: Substring, target: Substring, rest: Substring)? {
    guard let close = rest.firstIndex(of: "]"), let open = rest.index(close, offsetBy: 1, limitedBy: rest.endIndex),
      open < rest.endIndex, rest[open] == "(", let end = rest[open...].firstIndex(of: ")")
    else { return nil }
    let target = rest[rest.index(after: open)..<end].prefix { $0 != " " }
    return (rest[rest.index(after: rest.startIndex)..<close], target, rest[rest.index(after: end)...])
  }
}

/// What Markdown says about a run. Source: `Foundation.InlinePresentationIntent`, which does not exist on Linux.
public struct InlinePresentationIntent: OptionSet, Hashable, Codable, Sendable {
  public let rawValue: UInt
  public init(rawValue: UInt) { self.rawValue = rawValue }
  public static let emphasized = InlinePresentationIntent(rawValue: 1)
  public static let stronglyEmphasized = InlinePresentationIntent(rawValue: 2)
  public static let code = InlinePresentationIntent(rawValue: 4)
  public static let strikethrough = InlinePresentationIntent(rawValue: 32)
}

extension AttributeScopes {
  /// The attributes that Linux lacks of `AttributeScopes.FoundationAttributes`.
  public struct MarkdownAttributes: AttributeScope {
    public let inlinePresentationIntent: InlinePresentationIntentAttribute

    /// Source: `FoundationAttributes.InlinePresentationIntentAttribute`.
    public enum InlinePresentationIntentAttribute: AttributedStringKey {
      public typealias Value = InlinePresentationIntent
      public static let name = "NSInlinePresentationIntent"
    }
  }
}

extension AttributeDynamicLookup {
  public subscript<T: AttributedStringKey>(dynamicMember keyPath: KeyPath<AttributeScopes.MarkdownAttributes, T>) -> T {
    self[T.self]
  }
}
