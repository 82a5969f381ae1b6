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
