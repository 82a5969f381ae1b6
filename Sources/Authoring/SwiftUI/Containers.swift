package import Archive
public import Foundation

/// Views that belong together. Source: `SwiftUI.Group`.
@MainActor @preconcurrency public struct Group<Content: View>: View, ArchivedView {
  private let content: Content

  /// A group of views.
  public init(@ViewBuilder content: () -> Content) { self.content = content() }

  /// There is none.
  public var body: Never { fatalError("Group has no body") }
  package var archive: ViewArchive { content.archived }
}

/// Where views stand across a vertical stack. Source: `SwiftUI.HorizontalAlignment`.
public struct HorizontalAlignment: Equatable, Sendable {
  let name: String
  /// At the side where reading begins.
  public static let leading = HorizontalAlignment(name: "leading")
  /// In the middle.
  public static let center = HorizontalAlignment(name: "center")
  /// At the side where reading ends.
  public static let trailing = HorizontalAlignment(name: "trailing")
}

/// Views one below the other. Source: `SwiftUI.VStack`.
@MainActor @preconcurrency public struct VStack<Content: View>: View, ArchivedView {
  private let alignment: HorizontalAlignment
  private let spacing: CGFloat?
  private let content: Content

  /// A stack; without a spacing the system's.
  public init(
    alignment: HorizontalAlignment = .center, spacing: CGFloat? = nil, @ViewBuilder content: () -> Content
  ) {
    self.alignment = alignment
    self.spacing = spacing
    self.content = content()
  }

  /// There is none.
  public var body: Never { fatalError("VStack has no body") }
  package var archive: ViewArchive {
    let space = spacing.map { " spacing=\(Double($0))" } ?? ""
    return .modified(content.archived, name: "vstack", value: "alignment=\(alignment.name)\(space)")
  }
}
