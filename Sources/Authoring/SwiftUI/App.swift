public import Foundation
public import UIKit

/// A containing app. Source: `SwiftUI.App`.
@MainActor @preconcurrency public protocol App {
  /// The app's interface.
  associatedtype Body: Scene
  /// The app's interface.
  @SceneBuilder @MainActor @preconcurrency var body: Self.Body { get }
  /// `main()` makes the app.
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

/// Has the system make an app's delegate. Source: `SwiftUI.UIApplicationDelegateAdaptor`.
@MainActor @preconcurrency @propertyWrapper
public struct UIApplicationDelegateAdaptor<DelegateType: NSObject & UIApplicationDelegate> {
  /// The delegate.
  public let wrappedValue: DelegateType

  /// Makes the delegate of the app.
  public init(_ delegateType: DelegateType.Type = DelegateType.self) {
    let delegate = made(delegateType)
    wrappedValue = delegate
    UIApplication.adopted = delegate
  }
}

/// As the system makes it: known as a delegate alone, and not as a class whose `init()` would have to be `required`.
@MainActor private func made<Delegate: UIApplicationDelegate>(_ type: Delegate.Type) -> Delegate { Delegate() }
