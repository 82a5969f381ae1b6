// SPDX-License-Identifier: Apache-2.0

/// Source: `SwiftUI.DynamicProperty`.
public protocol DynamicProperty {
  /// Never called: the source of an archived view does not change.
  mutating func update()
}

extension DynamicProperty {
  public mutating func update() {}
}
