// SPDX-License-Identifier: Apache-2.0

package import Archive

// Closures that need a size, such as the content of `GeometryReader`. The extension calls them with a guess, the host
// lays out the views, and the extension calls them again with the sizes of the layout.

/// The sizes of closures in one form of an entry's views.
package struct ClosureSizes: Codable, Hashable, Sendable {
  /// In points.
  package struct Size: Codable, Hashable, Sendable {
    package let width: Double
    package let height: Double
    package init(width: Double, height: Double) {
      self.width = width
      self.height = height
    }
  }

  package let form: ArchivedEntry.FormName
  package let scheme: ColorSchemeName
  /// By the identifiers of the closures: the argument `closure` of a view or a modifier.
  package let sizes: [String: Size]
  package init(form: ArchivedEntry.FormName, scheme: ColorSchemeName, sizes: [String: Size]) {
    self.form = form
    self.scheme = scheme
    self.sizes = sizes
  }
}

/// The host laid out the entries of a reply to `timeline.request`, and closures have other sizes than those with which
/// they were called.
package struct CallClosures: Request {
  package static let kind: Kind = "timeline.closures"

  /// An entry whose closures are called again.
  package struct Entry: Codable, Hashable, Sendable {
    /// Its place in the reply, from 0.
    package let index: Int
    /// Sizes that were sent before stay valid.
    package let closures: [ClosureSizes]
    package init(index: Int, closures: [ClosureSizes]) {
      self.index = index
      self.closures = closures
    }
  }

  /// From `RequestTimeline.Reply.closures`.
  package let number: Int
  package let entries: [Entry]
  package init(number: Int, entries: [Entry]) {
    self.number = number
    self.entries = entries
  }

  /// The requested entries in the requested order.
  package typealias Reply = RequestTimeline.Reply
}

extension BusError.Code {
  /// The extension no longer has the views whose closures are to be called. Definite.
  package static let viewsReleased = BusError.Code("views-released")
}
