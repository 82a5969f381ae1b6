// SPDX-License-Identifier: Apache-2.0

package import Archive
import AuthorRuntime
public import Foundation

/// Source: `SwiftUI.Text`.
nonisolated public struct Text: View, Equatable, Sendable, ArchivedView {
  public typealias Body = Never

  indirect enum Content: Equatable, Sendable {
    case verbatim(String)
    case key(LocalizedStringKey, table: String?, bundle: Bundle?)
    case resource(LocalizedStringResource)
    /// A text that the system updates as time passes, by its arguments.
    case live(ArchivedArguments)
    case image(Image)
    case sum(Text, Text)
  }

  let content: Content
  /// In order of application.
  var modifiers: [ViewArchive.Modifier] = []

  init(content: Content) { self.content = content }

  public init(verbatim content: String) { self.content = .verbatim(content) }

  @_disfavoredOverload public init<S: StringProtocol>(_ content: S) { self.content = .verbatim(String(content)) }

  public init(
    _ key: LocalizedStringKey, tableName: String? = nil, bundle: Bundle? = nil, comment: StaticString? = nil
  ) {
    content = .key(key, table: tableName, bundle: bundle)
  }

  @_disfavoredOverload public init(_ resource: LocalizedStringResource) { content = .resource(resource) }

  public init(_ image: Image) { content = .image(image) }

  /// Only the characters are kept: the diagnosis `not-simulated` names the use of attributes. A string literal is a key,
  /// though it could be this.
  @_disfavoredOverload public init(_ attributedContent: AttributedString) {
    if attributedContent.runs.contains(where: { $0.attributes != AttributeContainer() }) {
      HostedProcess.current?.noticeUnsimulated(
        "AttributedString", "Text shows its characters, without their attributes")
    }
    content = .verbatim(String(attributedContent.characters))
  }

  public init<F: FormatStyle>(_ input: F.FormatInput, format: F)
  where F.FormatInput: Equatable, F.FormatOutput == String {
    content = .verbatim(format.format(input))
  }

  public init<Subject: ReferenceConvertible>(_ subject: Subject, formatter: Formatter) {
    content = .verbatim(formatter.string(for: subject) ?? "")
  }

  // Here `Date` does not conform to `ReferenceConvertible`, as it does on Apple's systems.
  public init(_ subject: Date, formatter: Formatter) { content = .verbatim(formatter.string(for: subject) ?? "") }

  public init<Subject: NSObject>(_ subject: Subject, formatter: Formatter) {
    content = .verbatim(formatter.string(for: subject) ?? "")
  }

  public static func + (lhs: Text, rhs: Text) -> Text { Text(content: .sum(lhs, rhs)) }

  package func archive(in context: ArchivingContext) -> ViewArchive { archive(in: context.environment) }

  /// Returns the text in the language of an environment. A live text is represented by its arguments.
  package func resolved(in environment: EnvironmentValues = EnvironmentValues()) -> String {
    archive(in: environment).lines.joined()
  }

  private func archive(in environment: EnvironmentValues) -> ViewArchive {
    var archive =
      switch content {
      case .verbatim(let text): ViewArchive.text(text)
      case .live(let arguments): ViewArchive(.leaf(.text), arguments)
      case .image(let image): image.archive
      case .sum(let first, let second):
        ViewArchive(.leaf(.text), children: first.runs(in: environment) + second.runs(in: environment))
      case .resource(let resource): ViewArchive.text(resource.resolved(in: environment.locale))
      case .key(let key, let table, let bundle):
        key.archive(in: environment, table: table, bundle: bundle)
      }
    archive.modifiers += modifiers
    return archive
  }

  /// Returns the text as parts of another text.
  func runs(in environment: EnvironmentValues) -> [ViewArchive] {
    let archive = archive(in: environment)
    return archive.modifiers.isEmpty && !archive.children.isEmpty ? archive.children : [archive]
  }

  func modified(_ name: ModifierName, _ arguments: ArchivedArguments = [:]) -> Text {
    var text = self
    text.modifiers.append(ViewArchive.Modifier(name, arguments))
    return text
  }
}

extension Text {
  /// Source: `SwiftUI.Text.TruncationMode`.
  public enum TruncationMode: Sendable, NamedArgument {
    case head
    case tail
    case middle
  }

  /// Source: `SwiftUI.Text.Case`.
  public enum Case: Sendable, NamedArgument {
    case uppercase
    case lowercase
  }

  /// Source: `SwiftUI.Text.LineStyle`.
  public struct LineStyle: Hashable, Sendable {
    let pattern: Pattern
    let color: Color?

    /// Source: `SwiftUI.Text.LineStyle.Pattern`.
    public struct Pattern: Hashable, Sendable, NamedArgument {
      let name: String
      public static let solid = Pattern(name: "solid"), dot = Pattern(name: "dot"), dash = Pattern(name: "dash"),
        dashDot = Pattern(name: "dashDot"), dashDotDot = Pattern(name: "dashDotDot")
    }

    public init(pattern: Pattern = .solid, color: Color? = nil) {
      self.pattern = pattern
      self.color = color
    }

    public static let single = LineStyle()
  }

  /// Source: `SwiftUI.Text.Scale`.
  public struct Scale: Hashable, Sendable, NamedArgument {
    let name: String
    public static let `default` = Scale(name: "default"), secondary = Scale(name: "secondary")
  }
}

extension Text {
  /// Source: `SwiftUI.Text.DateStyle`.
  public struct DateStyle: Equatable, Codable, Sendable, NamedArgument {
    let name: String
    public static let time = DateStyle(name: "time"), date = DateStyle(name: "date"),
      relative = DateStyle(name: "relative"), offset = DateStyle(name: "offset"), timer = DateStyle(name: "timer")
  }

  /// The system updates the text as time passes.
  public init(_ date: Date, style: Text.DateStyle) {
    content = .live([.date: date.archived, .style: style.archived])
  }

  public init(_ dates: ClosedRange<Date>) {
    content = .live([.interval: [dates.lowerBound, dates.upperBound].archived])
  }

  public init(_ interval: DateInterval) { content = .live([.interval: [interval.start, interval.end].archived]) }

  /// A timer that runs within an interval.
  ///
  /// - Parameters:
  ///   - pauseTime: the date at which the timer pauses.
  ///   - countsDown: whether the timer ends at zero.
  ///   - showsHours: whether a time of more than an hour is shown with hours.
  public init(
    timerInterval: ClosedRange<Date>, pauseTime: Date? = nil, countsDown: Bool = true, showsHours: Bool = true
  ) {
    var arguments: ArchivedArguments = [
      .timerInterval: [timerInterval.lowerBound, timerInterval.upperBound].archived,
      .countsDown: countsDown.archived, .showsHours: showsHours.archived,
    ]
    arguments[.pauseTime] = pauseTime?.archived
    content = .live(arguments)
  }
}
