// SPDX-License-Identifier: Apache-2.0

public import Foundation

extension NSSortDescriptor {
  /// A descriptor that is given to a framework, such as HealthKit. There is no key-value coding without the Objective-C
  /// runtime, so that comparing objects with it ends the process.
  public convenience init(key: String?, ascending: Bool) {
    self.init(keyPath: \NSObject.self, ascending: ascending) { _, _ in
      fatalError("NSSortDescriptor(key:ascending:): there is no key-value coding on WidgetLab: use a key path")
    }
  }
}
