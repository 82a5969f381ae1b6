package import Archive
public import Foundation

/// A view that is made for the size it is given. Source: `SwiftUI.GeometryReader`. The size is the widget's without the
/// paddings and with the frames around the view: nothing else is laid out yet.
nonisolated public struct GeometryReader<Content: View>: View, ArchivedView {
  /// There is none.
  public typealias Body = Never
  /// The view for a size.
  public var content: (GeometryProxy) -> Content
  /// A view that is made for a size.
  public init(@ViewBuilder content: @escaping (GeometryProxy) -> Content) { self.content = content }

  @MainActor package func archive(in context: ArchivingContext) throws(ArchiveRefusal) -> ViewArchive {
    let size = context.environment.proposedSize
    let view = context.environment.during { content(GeometryProxy(size: size)) }
    return ViewArchive("GeometryReader", ["size": size.archived], children: try context.children(of: view))
  }
}

/// The size that a view is given. Source: `SwiftUI.GeometryProxy`.
public struct GeometryProxy: Sendable {
  /// Points.
  public let size: CGSize
  /// None: a widget has its margins instead.
  public var safeAreaInsets: EdgeInsets { EdgeInsets() }
  /// The view's place: at the beginning of each space.
  public func frame(in coordinateSpace: CoordinateSpace) -> CGRect { CGRect(origin: .zero, size: size) }
}

/// What places are measured in. Source: `SwiftUI.CoordinateSpace`.
public enum CoordinateSpace {
  /// The whole.
  case global
  /// The view's own.
  case local
  /// One by its name.
  case named(AnyHashable)
}
