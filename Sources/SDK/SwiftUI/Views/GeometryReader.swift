// SPDX-License-Identifier: Apache-2.0

package import Archive
import AuthorRuntime
public import Foundation

/// Source: `SwiftUI.GeometryReader`. The closure is called with the widget's size, less the paddings and frames around the
/// view, and again with the size of the host's layout if that differs.
nonisolated public struct GeometryReader<Content: View>: View, ArchivedView {
  public typealias Body = Never
  public var content: (GeometryProxy) -> Content
  public init(@ViewBuilder content: @escaping (GeometryProxy) -> Content) { self.content = content }

  @MainActor package func archive(in context: ArchivingContext) throws(ArchiveRefusal) -> ViewArchive {
    let (identifier, size, inner) = context.enterClosure()
    let view = inner.environment.during { content(GeometryProxy(size: size)) }
    return ViewArchive(
      .container(.geometryReader), [.size: size.archived, .closure: identifier?.archived],
      children: try inner.children(of: view))
  }
}

/// Source: `SwiftUI.GeometryProxy`.
public struct GeometryProxy: Sendable {
  /// In points.
  public let size: CGSize
  /// Zero: a widget has content margins instead.
  public var safeAreaInsets: EdgeInsets { EdgeInsets() }
  /// The origin is zero in each space.
  public func frame(in coordinateSpace: some CoordinateSpaceProtocol) -> CGRect { CGRect(origin: .zero, size: size) }
  /// The origin is zero in each space.
  @_disfavoredOverload public func frame(in coordinateSpace: CoordinateSpace) -> CGRect {
    CGRect(origin: .zero, size: size)
  }
}

/// Source: `SwiftUI.CoordinateSpace`.
public enum CoordinateSpace: Hashable {
  case global
  case local
  case named(AnyHashable)

  public var isGlobal: Bool { self == .global }
  public var isLocal: Bool { self == .local }
}

/// Source: `SwiftUI.CoordinateSpaceProtocol`.
public protocol CoordinateSpaceProtocol {
  var coordinateSpace: CoordinateSpace { get }
}

/// Source: `SwiftUI.GlobalCoordinateSpace`.
public struct GlobalCoordinateSpace: CoordinateSpaceProtocol {
  public init() {}
  public var coordinateSpace: CoordinateSpace { .global }
}

/// Source: `SwiftUI.LocalCoordinateSpace`.
public struct LocalCoordinateSpace: CoordinateSpaceProtocol {
  public init() {}
  public var coordinateSpace: CoordinateSpace { .local }
}

/// Source: `SwiftUI.NamedCoordinateSpace`.
public struct NamedCoordinateSpace: CoordinateSpaceProtocol, Equatable {
  public let coordinateSpace: CoordinateSpace
}

extension CoordinateSpaceProtocol where Self == GlobalCoordinateSpace {
  public static var global: GlobalCoordinateSpace { GlobalCoordinateSpace() }
}

extension CoordinateSpaceProtocol where Self == LocalCoordinateSpace {
  public static var local: LocalCoordinateSpace { LocalCoordinateSpace() }
}

extension CoordinateSpaceProtocol where Self == NamedCoordinateSpace {
  public static func named(_ name: some Hashable) -> NamedCoordinateSpace {
    NamedCoordinateSpace(coordinateSpace: .named(AnyHashable(name)))
  }
}

extension View {
  /// Has no effect: the origin is zero in each space. The diagnosis `not-simulated` names the use.
  nonisolated public func coordinateSpace(_ name: NamedCoordinateSpace) -> some View {
    HostedProcess.current?.noticeUnsimulated(
      "coordinateSpace", "views are not laid out by the process: the origin is zero in each space")
    return self
  }
}
