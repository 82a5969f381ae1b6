// SPDX-License-Identifier: Apache-2.0

import Archive

/// A label in a style's configuration: it wraps the view that the author gave.
@MainActor protocol StyleLabel: WrappingView {
  nonisolated var view: any View { get }
}

extension StyleLabel {
  func unwrapped(in context: inout ArchivingContext, adding modifiers: inout [ViewArchive.Modifier]) -> any View {
    view
  }
}

/// The views of a control's labels in order.
nonisolated struct ArchivedLabels {
  private let standard: [String]
  private var found: [String] = []
  private(set) var views: [ViewArchive] = []

  /// - Parameter standard: the names of the labels in order.
  init(_ standard: [String]) { self.standard = standard }

  mutating func add(_ views: [ViewArchive], _ name: String) {
    let views = views.filter { $0 != .empty }
    self.views += views
    found += views.map { _ in name }
  }

  /// The name of the label to which each view belongs; `nil` where they are the first labels with one view each.
  var names: ArchivedValue? { standard.starts(with: found) ? nil : .list(found.map { .string($0) }) }
}
