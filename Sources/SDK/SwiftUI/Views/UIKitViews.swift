// SPDX-License-Identifier: Apache-2.0

import Archive
public import UIKit

/// Source: `SwiftUI.UIViewRepresentableContext`.
@MainActor public struct UIViewRepresentableContext<Representable: UIViewRepresentable> {
  public let coordinator: Representable.Coordinator
  public let environment: EnvironmentValues
}

/// A view of UIKit. Source: `SwiftUI.UIViewRepresentable`. A widget cannot show it, so its functions are never called.
@MainActor public protocol UIViewRepresentable: View where Body == Never {
  associatedtype UIViewType: UIView
  associatedtype Coordinator = Void
  typealias Context = UIViewRepresentableContext<Self>
  func makeUIView(context: Self.Context) -> Self.UIViewType
  func updateUIView(_ uiView: Self.UIViewType, context: Self.Context)
  func makeCoordinator() -> Self.Coordinator
}

extension UIViewRepresentable {
  public var body: Never { fatalError("\(Self.self) has no body") }
}

extension UIViewRepresentable where Coordinator == Void {
  public func makeCoordinator() {}
}

/// Source: `SwiftUI.UIViewControllerRepresentableContext`.
@MainActor public struct UIViewControllerRepresentableContext<Representable: UIViewControllerRepresentable> {
  public let coordinator: Representable.Coordinator
  public let environment: EnvironmentValues
}

/// A controller of UIKit. Source: `SwiftUI.UIViewControllerRepresentable`. A widget cannot show it, so its functions are
/// never called.
@MainActor public protocol UIViewControllerRepresentable: View where Body == Never {
  associatedtype UIViewControllerType: UIViewController
  associatedtype Coordinator = Void
  typealias Context = UIViewControllerRepresentableContext<Self>
  func makeUIViewController(context: Self.Context) -> Self.UIViewControllerType
  func updateUIViewController(_ uiViewController: Self.UIViewControllerType, context: Self.Context)
  func makeCoordinator() -> Self.Coordinator
}

extension UIViewControllerRepresentable {
  public var body: Never { fatalError("\(Self.self) has no body") }
}

extension UIViewControllerRepresentable where Coordinator == Void {
  public func makeCoordinator() {}
}

/// Shows a view of SwiftUI in UIKit. Source: `SwiftUI.UIHostingController`. Nothing of UIKit is shown here.
@MainActor open class UIHostingController<Content: View>: UIViewController {
  public var rootView: Content

  public init(rootView: Content) {
    self.rootView = rootView
    super.init()
  }

  public required nonisolated init() { fatalError("UIHostingController needs a rootView") }
}

/// What a widget shows in place of a view of UIKit.
nonisolated struct UnsupportedUIKitView: View, ArchivedView {
  typealias Body = Never
  let name: String

  @MainActor func archive(in context: ArchivingContext) throws(ArchiveRefusal) -> ViewArchive {
    ViewArchive(.leaf(.unsupportedView), ["view": .string(name)])
  }
}
