package import Archive
public import Foundation

/// One or more lines of text that cannot be edited. Source: `SwiftUI.Text`.
nonisolated public struct Text: View, Equatable, Sendable, ArchivedView {
  /// There is none.
  public typealias Body = Never

  indirect enum Content: Equatable, Sendable {
    case verbatim(String)
    case key(LocalizedStringKey, table: String?, bundle: Bundle?)
    case resource(LocalizedStringResource)
    /// A text that the system writes anew as time passes, by its arguments.
    case live([String: ArchivedValue])
    case image(Image)
    case sum(Text, Text)
  }

  let content: Content
  /// The first applied first.
  var modifiers: [ViewArchive.Modifier] = []

  init(content: Content) { self.content = content }

  /// A text as it stands.
  public init(verbatim content: String) { self.content = .verbatim(content) }

  /// A text as it stands.
  @_disfavoredOverload public init<S: StringProtocol>(_ content: S) { self.content = .verbatim(String(content)) }

  /// A text by its key.
  public init(
    _ key: LocalizedStringKey, tableName: String? = nil, bundle: Bundle? = nil, comment: StaticString? = nil
  ) {
    content = .key(key, table: tableName, bundle: bundle)
  }

  /// A text of a strings file.
  @_disfavoredOverload public init(_ resource: LocalizedStringResource) { content = .resource(resource) }

  /// A picture among text.
  public init(_ image: Image) { content = .image(image) }

  /// A text with attributes. Its characters alone are kept.
  public init(_ attributedContent: AttributedString) { content = .verbatim(String(attributedContent.characters)) }

  /// A value in a format.
  public init<F: FormatStyle>(_ input: F.FormatInput, format: F)
  where F.FormatInput: Equatable, F.FormatOutput == String {
    content = .verbatim(format.format(input))
  }

  /// A value in a format.
  public init<Subject: ReferenceConvertible>(_ subject: Subject, formatter: Formatter) {
    content = .verbatim(formatter.string(for: subject) ?? "")
  }

  /// A value in a format.
  public init<Subject: NSObject>(_ subject: Subject, formatter: Formatter) {
    content = .verbatim(formatter.string(for: subject) ?? "")
  }

  /// Two texts as one.
  public static func + (lhs: Text, rhs: Text) -> Text { Text(content: .sum(lhs, rhs)) }

  package func archive(in context: ArchivingContext) -> ViewArchive { archive(in: context.environment) }

  /// The text in the language of an environment; what it says later, of a live text, by its arguments.
  package func resolved(in environment: EnvironmentValues = EnvironmentValues()) -> String {
    archive(in: environment).lines.joined()
  }

  private func archive(in environment: EnvironmentValues) -> ViewArchive {
    var archive =
      switch content {
      case .verbatim(let text): ViewArchive.text(text)
      case .live(let arguments): ViewArchive("Text", arguments)
      case .image(let image): image.archive
      case .sum(let first, let second):
        ViewArchive("Text", children: first.runs(in: environment) + second.runs(in: environment))
      case .resource(let resource): ViewArchive.text(resource.resolved(in: environment.locale))
      case .key(let key, let table, let bundle):
        key.archive(in: environment, table: table, bundle: bundle)
      }
    archive.modifiers += modifiers
    return archive
  }

  /// The text as parts of another.
  func runs(in environment: EnvironmentValues) -> [ViewArchive] {
    let archive = archive(in: environment)
    return archive.modifiers.isEmpty && !archive.children.isEmpty ? archive.children : [archive]
  }

  func modified(_ name: String, _ arguments: [String: ArchivedValue?] = [:]) -> Text {
    var text = self
    text.modifiers.append(ViewArchive.Modifier(name, arguments.compactMapValues { $0 }))
    return text
  }
}

extension Text {
  /// Where a text is cut. Source: `SwiftUI.Text.TruncationMode`.
  public enum TruncationMode: Sendable, NamedArgument {
    /// At its beginning.
    case head
    /// At its end.
    case tail
    /// In its middle.
    case middle
  }

  /// Which letters are shown. Source: `SwiftUI.Text.Case`.
  public enum Case: Sendable, NamedArgument {
    /// Capitals.
    case uppercase
    /// Small letters.
    case lowercase
  }

  /// A line under or through a text. Source: `SwiftUI.Text.LineStyle`.
  public struct LineStyle: Hashable, Sendable {
    let pattern: Pattern
    let color: Color?

    /// How a line is drawn. Source: `SwiftUI.Text.LineStyle.Pattern`.
    public struct Pattern: Hashable, Sendable, NamedArgument {
      let name: String
      // swift-format-ignore: AllPublicDeclarationsHaveDocumentation
      public static let solid = Pattern(name: "solid"), dot = Pattern(name: "dot"), dash = Pattern(name: "dash"),
        dashDot = Pattern(name: "dashDot"), dashDotDot = Pattern(name: "dashDotDot")
    }

    /// A line.
    public init(pattern: Pattern = .solid, color: Color? = nil) {
      self.pattern = pattern
      self.color = color
    }

    /// One line.
    public static let single = LineStyle()
  }

  /// How large a text is beside others of its style. Source: `SwiftUI.Text.Scale`.
  public struct Scale: Hashable, Sendable, NamedArgument {
    let name: String
    // swift-format-ignore: AllPublicDeclarationsHaveDocumentation
    public static let `default` = Scale(name: "default"), secondary = Scale(name: "secondary")
  }
}
