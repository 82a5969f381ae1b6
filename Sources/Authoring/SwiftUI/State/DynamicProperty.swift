/// A part of a view that has a source of its own. Source: `SwiftUI.DynamicProperty`.
public protocol DynamicProperty {
  /// Called before the body is made. An archived view's source does not change: nobody calls it.
  mutating func update()
}

extension DynamicProperty {
  /// Nothing.
  public mutating func update() {}
}
