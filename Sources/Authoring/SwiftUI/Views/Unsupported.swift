package import Archive

// Views of SwiftUI that a widget cannot show: the system draws a sign of its own in their place. Their content is not made.

/// A view that a widget cannot show.
nonisolated package protocol UnsupportedView: View, ArchivedView {}

extension UnsupportedView {
  @MainActor package func archive(in context: ArchivingContext) throws(ArchiveRefusal) -> ViewArchive {
    let name = "\(Self.self)".prefix { $0 != "<" }
    return ViewArchive("UnsupportedView", ["view": .string(String(name))])
  }
}

/// What scrolls. A widget cannot show it. Source: `SwiftUI.ScrollView`.
nonisolated public struct ScrollView<Content: View>: UnsupportedView {
  /// There is none.
  public typealias Body = Never
  /// The view, which is not made.
  public init(_ axes: Axis.Set = .vertical, showsIndicators: Bool = true, @ViewBuilder content: () -> Content) {}
}

/// Rows that scroll. A widget cannot show it. Source: `SwiftUI.List`.
nonisolated public struct List<Content: View>: UnsupportedView {
  /// There is none.
  public typealias Body = Never
  /// The view, which is not made.
  public init(@ViewBuilder content: () -> Content) {}
}

/// Controls in rows. A widget cannot show it. Source: `SwiftUI.Form`.
nonisolated public struct Form<Content: View>: UnsupportedView {
  /// There is none.
  public typealias Body = Never
  /// The view, which is not made.
  public init(@ViewBuilder content: () -> Content) {}
}

/// Pages. A widget cannot show it. Source: `SwiftUI.NavigationView`.
nonisolated public struct NavigationView<Content: View>: UnsupportedView {
  /// There is none.
  public typealias Body = Never
  /// The view, which is not made.
  public init(@ViewBuilder content: () -> Content) {}
}

/// Pages. A widget cannot show it. Source: `SwiftUI.NavigationStack`.
nonisolated public struct NavigationStack<Content: View>: UnsupportedView {
  /// There is none.
  public typealias Body = Never
  /// The view, which is not made.
  public init(@ViewBuilder root: () -> Content) {}
}

/// Pages with tabs. A widget cannot show it. Source: `SwiftUI.TabView`.
nonisolated public struct TabView<Content: View>: UnsupportedView {
  /// There is none.
  public typealias Body = Never
  /// The view, which is not made.
  public init(@ViewBuilder content: () -> Content) {}
}

/// A text that a person writes. A widget cannot show it. Source: `SwiftUI.TextField`.
nonisolated public struct TextField: UnsupportedView {
  /// There is none.
  public typealias Body = Never
  /// The view, which is not made.
  public init(_ titleKey: LocalizedStringKey, text: Binding<String>) {}
}

/// A password that a person writes. A widget cannot show it. Source: `SwiftUI.SecureField`.
nonisolated public struct SecureField: UnsupportedView {
  /// There is none.
  public typealias Body = Never
  /// The view, which is not made.
  public init(_ titleKey: LocalizedStringKey, text: Binding<String>) {}
}

/// A long text that a person writes. A widget cannot show it. Source: `SwiftUI.TextEditor`.
nonisolated public struct TextEditor: UnsupportedView {
  /// There is none.
  public typealias Body = Never
  /// The view, which is not made.
  public init(text: Binding<String>) {}
}

/// A value that a person moves. A widget cannot show it. Source: `SwiftUI.Slider`.
nonisolated public struct Slider: UnsupportedView {
  /// There is none.
  public typealias Body = Never
  /// The view, which is not made.
  public init(value: Binding<Double>, in bounds: ClosedRange<Double> = 0...1) {}
}

/// A number that a person counts. A widget cannot show it. Source: `SwiftUI.Stepper`.
nonisolated public struct Stepper: UnsupportedView {
  /// There is none.
  public typealias Body = Never
  /// The view, which is not made.
  public init(_ titleKey: LocalizedStringKey, value: Binding<Int>) {}
}
