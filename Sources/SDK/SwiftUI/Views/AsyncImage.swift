// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// The state of an image's load. Source: `SwiftUI.AsyncImagePhase`. In a widget it stays empty.
public enum AsyncImagePhase: Sendable {
  case empty
  case success(Image)
  case failure(any Error)

  public var image: Image? { if case .success(let image) = self { image } else { nil } }
  public var error: (any Error)? { if case .failure(let error) = self { error } else { nil } }
}

/// An image from the network. Source: `SwiftUI.AsyncImage`. A widget is archived before the image is there, so it shows
/// the placeholder, as on a phone.
nonisolated public struct AsyncImage<Content: View>: View {
  private let content: Content

  public init(
    url: URL?, scale: CGFloat = 1, transaction: Transaction = Transaction(),
    @ViewBuilder content: @escaping (AsyncImagePhase) -> Content
  ) {
    self.content = content(.empty)
  }
  public init<I: View>(
    url: URL?, scale: CGFloat = 1, @ViewBuilder content: @escaping (Image) -> I,
    @ViewBuilder placeholder: @escaping () -> Content
  ) {
    self.content = placeholder()
  }

  @MainActor public var body: some View { content }
}

extension AsyncImage where Content == Color {
  /// The placeholder is a grey area.
  nonisolated public init(url: URL?, scale: CGFloat = 1) { content = Color(white: 0.5, opacity: 0.2) }
}

/// How a change is animated. Source: `SwiftUI.Transaction`.
public struct Transaction: Sendable {
  public var animation: Animation?
  public var disablesAnimations = false
  public init() {}
  public init(animation: Animation?) { self.animation = animation }
}

extension View {
  /// Has no effect.
  nonisolated public func transaction(_ transform: @escaping (inout Transaction) -> Void) -> some View { self }
}
