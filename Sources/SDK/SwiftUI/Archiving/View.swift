// SPDX-License-Identifier: Apache-2.0

/// Source: `SwiftUI.View`.
@MainActor @preconcurrency public protocol View {
  associatedtype Body: View
  @ViewBuilder @MainActor @preconcurrency var body: Self.Body { get }
}

extension Never: View {
  public typealias Body = Never
  public var body: Never { fatalError("Never has no instance") }
}

extension View where Body == Never {
  /// Never called: the view is archived directly.
  public var body: Never { fatalError("\(Self.self) has no body") }
}
