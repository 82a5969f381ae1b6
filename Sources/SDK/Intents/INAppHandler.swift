// SPDX-License-Identifier: Apache-2.0

public import Foundation
public import UIKit

// Requirements of `UIKit.UIApplicationDelegate` that nothing here calls: an intent is handled by the extension. A method of
// `NSObject` that is declared in an extension cannot be overridden, so a delegate that implements one does not compile.
extension NSObject {
  /// Never called.
  @MainActor public final func application(_ application: UIApplication, handlerFor intent: INIntent) -> Any? { nil }
  /// Never called.
  @MainActor public final func application(
    _ application: UIApplication, handle intent: INIntent, completionHandler: @escaping (INIntentResponse) -> Void
  ) {}
}
