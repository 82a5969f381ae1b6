// SPDX-License-Identifier: Apache-2.0

import Archive
public import Foundation

/// A view whose size depends on the space that it is offered, which is taken for the nearest container.
nonisolated private struct ContainerFrameView<Content: View>: View, WrappingView {
  typealias Body = Never

  let content: Content
  let axes: Axis.Set
  let alignment: Alignment
  let length: (CGFloat, Axis) -> CGFloat

  @MainActor func unwrapped(
    in context: inout ArchivingContext, adding modifiers: inout [ViewArchive.Modifier]
  ) -> any View {
    let space = context.environment.proposedSize
    return content.frame(
      width: axes.contains(.horizontal) ? length(space.width, .horizontal) : nil,
      height: axes.contains(.vertical) ? length(space.height, .vertical) : nil, alignment: alignment)
  }
}

// Source of all: `SwiftUI.View` of the iOS 17 SDK.
extension View {
  nonisolated public func containerRelativeFrame(_ axes: Axis.Set, alignment: Alignment = .center) -> some View {
    containerRelativeFrame(axes, alignment: alignment) { length, _ in length }
  }
  nonisolated public func containerRelativeFrame(
    _ axes: Axis.Set, alignment: Alignment = .center, _ length: @escaping (CGFloat, Axis) -> CGFloat
  ) -> some View {
    ContainerFrameView(content: self, axes: axes, alignment: alignment, length: length)
  }
  /// The size of some of `count` equal parts.
  nonisolated public func containerRelativeFrame(
    _ axes: Axis.Set, count: Int, span: Int = 1, spacing: CGFloat, alignment: Alignment = .center
  ) -> some View {
    containerRelativeFrame(axes, alignment: alignment) { length, _ in
      let part = (length - spacing * CGFloat(max(count, 1) - 1)) / CGFloat(max(count, 1))
      return max(part * CGFloat(span) + spacing * CGFloat(span - 1), 0)
    }
  }
}
