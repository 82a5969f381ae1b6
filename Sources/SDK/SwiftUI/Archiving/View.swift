// SPDX-License-Identifier: Apache-2.0

package import Archive

/// Source: `SwiftUI.View`.
@MainActor @preconcurrency public protocol View {
  associatedtype Body: View
  @ViewBuilder @MainActor @preconcurrency var body: Self.Body { get }
}

extension Never: View {
  public typealias Body = Never
  public var body: Never { fatalError("Never has no instance") }
}

extension View where Body == Never {
  /// Never called: the view is archived directly.
  public var body: Never { fatalError("\(Self.self) has no body") }
}

/// Source: `SwiftUI.AnyView`.
nonisolated public struct AnyView: View, WrappingView {
  public typealias Body = Never
  private let view: any View

  public init<V: View>(_ view: V) { self.view = view }
  public init<V: View>(erasing view: V) { self.view = view }

  @MainActor func unwrapped(
    in context: inout ArchivingContext, adding modifiers: inout [ViewArchive.Modifier]
  ) throws(ArchiveRefusal) -> any View {
    try context.descend(into: self)
    context.enter(type(of: view))
    return view
  }
}

/// A view with one modifier, which is archived by its name.
nonisolated struct ModifiedView<Content: View>: View, WrappingView {
  typealias Body = Never

  let content: Content
  let name: ModifierName
  let arguments: ArchivedArguments
  let texts: [ArgumentLabel: Text]
  let views: [any View]
  let environment: ((inout EnvironmentValues) -> Void)?

  @MainActor func unwrapped(
    in context: inout ArchivingContext, adding modifiers: inout [ViewArchive.Modifier]
  ) throws(ArchiveRefusal) -> any View {
    var archives: [ViewArchive] = []
    for view in views { archives.append(try context.archive(of: view)) }
    var arguments = arguments
    for (label, text) in texts { arguments[label] = .string(text.resolved(in: context.environment)) }
    modifiers.append(ViewArchive.Modifier(name, arguments, views: archives))
    environment?(&context.environment)
    return content
  }
}

extension View {
  /// Returns the view with a modifier.
  ///
  /// - Parameters:
  ///   - name: the modifier's name in the archive.
  ///   - arguments: the arguments by their labels.
  ///   - texts: arguments in the language of the environment outside this view.
  ///   - views: the modifier's views, archived in the environment outside this view.
  ///   - environment: changes the values that the views inside read.
  nonisolated package func modified(
    _ name: ModifierName, _ arguments: ArchivedArguments = [:], texts: [ArgumentLabel: Text] = [:],
    views: [any View] = [], environment: ((inout EnvironmentValues) -> Void)? = nil
  ) -> some View {
    ModifiedView(
      content: self, name: name, arguments: arguments, texts: texts, views: views,
      environment: environment)
  }
}

/// A view that changes the environment of the views inside it. The archive contains only those views.
nonisolated struct EnvironmentView<Content: View>: View, WrappingView {
  typealias Body = Never

  let content: Content
  let change: (inout EnvironmentValues) -> Void

  @MainActor func unwrapped(
    in context: inout ArchivingContext, adding modifiers: inout [ViewArchive.Modifier]
  ) -> any View {
    change(&context.environment)
    return content
  }
}

/// Source: `SwiftUI.ViewModifier`.
@MainActor @preconcurrency public protocol ViewModifier {
  associatedtype Body: View
  typealias Content = _ViewModifier_Content<Self>
  @ViewBuilder @MainActor @preconcurrency func body(content: Self.Content) -> Self.Body
}

/// Source: `SwiftUI._ViewModifier_Content`.
nonisolated public struct _ViewModifier_Content<Modifier: ViewModifier>: View, WrappingView {
  public typealias Body = Never
  fileprivate let view: any View

  func unwrapped(
    in context: inout ArchivingContext, adding modifiers: inout [ViewArchive.Modifier]
  ) -> any View {
    view
  }
}

/// Source: `SwiftUI.ModifiedContent`.
nonisolated public struct ModifiedContent<Content, Modifier> {
  public var content: Content
  public var modifier: Modifier
  public init(content: Content, modifier: Modifier) {
    self.content = content
    self.modifier = modifier
  }
}

extension ModifiedContent: View, WrappingView where Content: View, Modifier: ViewModifier {
  public typealias Body = Never

  @MainActor var hasBody: Bool { true }

  @MainActor func unwrapped(
    in context: inout ArchivingContext, adding modifiers: inout [ViewArchive.Modifier]
  ) throws(ArchiveRefusal) -> any View {
    try context.descend(into: self)
    context.enter(evaluating: modifier)
    return context.environment.during { modifier.body(content: _ViewModifier_Content(view: content)) }
  }
}

/// Source: `SwiftUI.AnimatableModifier`. An archived view does not change, so its data has its last value.
public protocol AnimatableModifier: Animatable, ViewModifier {}

/// Source: `SwiftUI.EmptyModifier`.
public struct EmptyModifier: ViewModifier {
  public static let identity = EmptyModifier()
  public init() {}
  public func body(content: Content) -> some View { content }
}

extension View {
  nonisolated public func modifier<T: ViewModifier>(_ modifier: T) -> ModifiedContent<Self, T> {
    ModifiedContent(content: self, modifier: modifier)
  }
}
