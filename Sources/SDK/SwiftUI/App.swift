// SPDX-License-Identifier: Apache-2.0

public import Foundation
public import UIKit

/// Source: `SwiftUI.App`.
@MainActor @preconcurrency public protocol App {
  associatedtype Body: Scene
  @SceneBuilder @MainActor @preconcurrency var body: Self.Body { get }
  /// Called by `main()`.
  @MainActor @preconcurrency init()
}

extension App {
  /// Runs the app. Called by `@main`.
  @MainActor @preconcurrency public static func main() {
    UIApplication.run {
      let app = Self()
      let scene = app.body
      return (UIApplication.adopted, scene.allHandlers, { scene.opens($0) })
    }
  }
}

/// Source: `SwiftUI.UIApplicationDelegateAdaptor`.
@MainActor @preconcurrency @propertyWrapper
public struct UIApplicationDelegateAdaptor<DelegateType: NSObject & UIApplicationDelegate> {
  public let wrappedValue: DelegateType

  public init(_ delegateType: DelegateType.Type = DelegateType.self) {
    let delegate = made(delegateType)
    wrappedValue = delegate
    UIApplication.adopted = delegate
  }
}

/// Creates the delegate through its protocol; through the class, its `init()` would have to be `required`.
@MainActor private func made<Delegate: UIApplicationDelegate>(_ type: Delegate.Type) -> Delegate { Delegate() }
