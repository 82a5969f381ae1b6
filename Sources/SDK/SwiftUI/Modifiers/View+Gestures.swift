// SPDX-License-Identifier: Apache-2.0

public import Foundation

// An archived view receives no events of a screen: no gesture is recognised, and no closure is called.

/// Source: `SwiftUI.Gesture`.
public protocol Gesture<Value> {
  associatedtype Value
}

extension Gesture {
  /// `action` is never called.
  public func onEnded(_ action: @escaping (Value) -> Void) -> some Gesture<Value> { self }
  /// `action` is never called.
  public func onChanged(_ action: @escaping (Value) -> Void) -> some Gesture<Value> { self }
}

/// Source: `SwiftUI.DragGesture`.
public struct DragGesture: Gesture {
  /// Source: `SwiftUI.DragGesture.Value`. No gesture is recognised, so no value is made.
  public struct Value: Equatable, Sendable {
    public var time: Date
    public var location: CGPoint
    public var startLocation: CGPoint
    public var velocity: CGSize
    public var translation: CGSize {
      CGSize(width: location.x - startLocation.x, height: location.y - startLocation.y)
    }
    /// As if the finger stopped at once.
    public var predictedEndLocation: CGPoint { location }
    /// As if the finger stopped at once.
    public var predictedEndTranslation: CGSize { translation }
  }

  public var minimumDistance: CGFloat
  public var coordinateSpace: CoordinateSpace

  public init(minimumDistance: CGFloat = 10, coordinateSpace: some CoordinateSpaceProtocol = .local) {
    self.minimumDistance = minimumDistance
    self.coordinateSpace = coordinateSpace.coordinateSpace
  }
  @_disfavoredOverload public init(minimumDistance: CGFloat = 10, coordinateSpace: CoordinateSpace = .local) {
    self.minimumDistance = minimumDistance
    self.coordinateSpace = coordinateSpace
  }
}

/// Source: `SwiftUI.TapGesture`.
public struct TapGesture: Gesture {
  public typealias Value = Void
  public var count: Int
  public init(count: Int = 1) { self.count = count }
}

/// Source: `SwiftUI.LongPressGesture`.
public struct LongPressGesture: Gesture {
  public typealias Value = Bool
  public var minimumDuration: Double
  public init(minimumDuration: Double = 0.5) { self.minimumDuration = minimumDuration }
}

extension View {
  /// Has no effect.
  nonisolated public func gesture<T: Gesture>(_ gesture: T) -> some View { self }
  /// Has no effect.
  nonisolated public func simultaneousGesture<T: Gesture>(_ gesture: T) -> some View { self }
  /// Has no effect.
  nonisolated public func highPriorityGesture<T: Gesture>(_ gesture: T) -> some View { self }
  /// `action` is never called: an archived view is on no screen of an app.
  nonisolated public func refreshable(action: @escaping @Sendable () async -> Void) -> some View { self }
  /// Nothing collects it: an archived view is not laid out here.
  nonisolated public func preference<K: PreferenceKey>(key: K.Type = K.self, value: K.Value) -> some View { self }
  /// `action` is never called: an archived view is not laid out here.
  nonisolated public func onPreferenceChange<K: PreferenceKey>(
    _ key: K.Type = K.self, perform action: @escaping (K.Value) -> Void
  ) -> some View where K.Value: Equatable { self }
}

/// Source: `SwiftUI.PreferenceKey`.
public protocol PreferenceKey {
  associatedtype Value
  static var defaultValue: Value { get }
  static func reduce(value: inout Value, nextValue: () -> Value)
}

extension PreferenceKey where Value: ExpressibleByNilLiteral {
  public static var defaultValue: Value { nil }
}
