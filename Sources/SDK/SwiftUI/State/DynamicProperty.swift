/// Source: `SwiftUI.DynamicProperty`.
public protocol DynamicProperty {
  /// Never called: the source of an archived view does not change.
  mutating func update()
}

extension DynamicProperty {
  public mutating func update() {}
}
