// SPDX-License-Identifier: Apache-2.0

package import Foundation

/// The closures in one form of a view that need a size, such as the content of `GeometryReader`. They are numbered in the
/// order of the archive, those within another closure below its number, and called with the sizes that the host found.
@MainActor package final class ArchivedClosures {
  private let sizes: [String: CGSize]
  private let prefix: String
  private var count = 0

  /// - Parameter sizes: in points, by the identifiers of the closures.
  package init(sizes: [String: CGSize] = [:]) {
    self.sizes = sizes
    prefix = ""
  }

  private init(_ outer: ArchivedClosures, within identifier: String) {
    sizes = outer.sizes
    prefix = identifier + "."
  }

  /// Whether the view has such a closure.
  package var isEmpty: Bool { count == 0 }

  /// Numbers a closure.
  ///
  /// - Returns: its identifier, and its size if the host found one.
  func add() -> (identifier: String, size: CGSize?) {
    count += 1
    let identifier = prefix + "\(count)"
    return (identifier, sizes[identifier])
  }

  /// Those within a closure.
  func within(_ identifier: String) -> ArchivedClosures { ArchivedClosures(self, within: identifier) }
}

extension ArchivingContext {
  /// Numbers a closure that needs a size. Its context proposes that size to the views of the closure.
  ///
  /// - Returns: the identifier, `nil` where closures are called once, and the size: that of the layout, or else the one
  ///   that is proposed here.
  @MainActor package func enterClosure() -> (identifier: String?, size: CGSize, context: ArchivingContext) {
    guard let closures = environment.closures else { return (nil, environment.proposedSize, self) }
    let (identifier, found) = closures.add()
    var inner = self
    if let found { inner.environment.proposedSize = found }
    inner.environment.closures = closures.within(identifier)
    return (identifier, inner.environment.proposedSize, inner)
  }
}
