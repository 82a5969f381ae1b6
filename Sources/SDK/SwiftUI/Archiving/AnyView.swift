// SPDX-License-Identifier: Apache-2.0

import Archive

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
    return view
  }
}
