// SPDX-License-Identifier: Apache-2.0

import Archive
public import Foundation
public import OpenCombine
import Synchronization
import UIKit

/// Source: `SwiftUI.EnvironmentKey`.
public protocol EnvironmentKey {
  associatedtype Value
  static var defaultValue: Value { get }
}

/// Source: `SwiftUI.EnvironmentValues`.
public struct EnvironmentValues: CustomStringConvertible {
  private var values: [ObjectIdentifier: Any] = [:]
  /// Records which keys are read, of this environment and of those that are made from it.
  package var reads: EnvironmentReads?
  /// Receives the bytes of images; `nil` where only the tree of the views is needed.
  package var images: ArchivedImages?
  /// Numbers the closures that need a size; `nil` where they are called once.
  package var closures: ArchivedClosures?
  /// Calls `onAppear`; `nil` where views do not appear.
  package var appearing: AppearingViews?
  /// The place of an app's view among the others; `nil` in a widget.
  var live: LiveNode?

  public init() {}

  public subscript<K: EnvironmentKey>(key: K.Type) -> K.Value {
    get {
      reads?.record(key)
      return values[ObjectIdentifier(key)].flatMap { $0 as? K.Value } ?? K.defaultValue
    }
    set { values[ObjectIdentifier(key)] = newValue }
  }

  public var description: String { "EnvironmentValues (\(values.count) set)" }
}

extension EnvironmentValues {
  private struct Shared: Sendable {
    // Read by the body that is being evaluated and by the tasks that it starts; never written.
    nonisolated(unsafe) let values: EnvironmentValues
  }

  @TaskLocal private static var around: Shared?

  /// The values of the body that is being evaluated; the defaults outside of one.
  package static var current: EnvironmentValues { around?.values ?? EnvironmentValues() }

  /// Evaluates a body; `@Environment` reads these values in it.
  package func during<Result>(_ body: () -> Result) -> Result {
    Self.$around.withValue(Shared(values: self)) { body() }
  }
}

/// The keys of an environment that an author's views have read. Any thread.
package final class EnvironmentReads: Sendable {
  private let keys = Mutex<Set<ObjectIdentifier>>([])

  package init() {}

  fileprivate func record<K: EnvironmentKey>(_ key: K.Type) { keys.withLock { _ = $0.insert(ObjectIdentifier(key)) } }

  func contains<K: EnvironmentKey>(_ key: K.Type) -> Bool { keys.withLock { $0.contains(ObjectIdentifier(key)) } }
}

/// Source: `SwiftUI.Environment`.
@propertyWrapper public struct Environment<Value>: DynamicProperty {
  private let read: (EnvironmentValues) -> Value

  public init(_ keyPath: KeyPath<EnvironmentValues, Value>) { read = { $0[keyPath: keyPath] } }

  public var wrappedValue: Value { read(EnvironmentValues.current) }
}

extension Environment {
  /// Reads an object by its type. Without one, the process terminates as in SwiftUI.
  public init(_ objectType: Value.Type) where Value: AnyObject {
    read = { environment in
      guard let object = environment.object(objectType) else {
        fatalError("no \(objectType) in the environment: an enclosing view must set it with environment(_:)")
      }
      return object
    }
  }

  /// Reads an object by its type; `nil` without one.
  public init<T: AnyObject>(_ objectType: T.Type) where Value == T? { read = { $0.object(objectType) } }
}

// Source of all: `SwiftUI.EnvironmentValues`. `WidgetEnvironment` holds the values that a widget's process receives
// about the device.

private struct ColorSchemeKey: EnvironmentKey {
  static var defaultValue: ColorScheme { .light }
}

private struct ColorSchemeContrastKey: EnvironmentKey {
  static var defaultValue: ColorSchemeContrast { .standard }
}

private struct RedactionReasonsKey: EnvironmentKey {
  static var defaultValue: RedactionReasons { [] }
}

private struct IsLuminanceReducedKey: EnvironmentKey {
  static var defaultValue: Bool { false }
}

private struct DisplayScaleKey: EnvironmentKey {
  static var defaultValue: CGFloat { 3 }
}

private struct LocaleKey: EnvironmentKey {
  static var defaultValue: Locale { Locale(identifier: "en_US") }
}

private struct CalendarKey: EnvironmentKey {
  static var defaultValue: Calendar { .current }
}

private struct TimeZoneKey: EnvironmentKey {
  static var defaultValue: TimeZone { .current }
}

private struct LayoutDirectionKey: EnvironmentKey {
  static var defaultValue: LayoutDirection { .leftToRight }
}

private struct DynamicTypeSizeKey: EnvironmentKey {
  static var defaultValue: DynamicTypeSize { .large }
}

private struct FontKey: EnvironmentKey {
  static var defaultValue: Font? { nil }
}

private struct LineLimitKey: EnvironmentKey {
  static var defaultValue: Int? { nil }
}

private struct LineSpacingKey: EnvironmentKey {
  static var defaultValue: CGFloat { 0 }
}

private struct MultilineTextAlignmentKey: EnvironmentKey {
  static var defaultValue: TextAlignment { .leading }
}

private struct MinimumScaleFactorKey: EnvironmentKey {
  static var defaultValue: CGFloat { 1 }
}

private struct TruncationModeKey: EnvironmentKey {
  static var defaultValue: Text.TruncationMode { .tail }
}

private struct TextCaseKey: EnvironmentKey {
  static var defaultValue: Text.Case? { nil }
}

private struct AllowsTighteningKey: EnvironmentKey {
  static var defaultValue: Bool { false }
}

private struct IsEnabledKey: EnvironmentKey {
  static var defaultValue: Bool { true }
}

private struct ContentTransitionKey: EnvironmentKey {
  static var defaultValue: ContentTransition { .interpolate }
}

private struct ImageScaleKey: EnvironmentKey {
  static var defaultValue: Image.Scale { .medium }
}

private struct SymbolRenderingModeKey: EnvironmentKey {
  static var defaultValue: SymbolRenderingMode? { nil }
}

private struct ControlSizeKey: EnvironmentKey {
  static var defaultValue: ControlSize { .regular }
}

private struct LegibilityWeightKey: EnvironmentKey {
  static var defaultValue: LegibilityWeight? { nil }
}

private struct AccessibilityReduceMotionKey: EnvironmentKey {
  static var defaultValue: Bool { false }
}

private struct AccessibilityReduceTransparencyKey: EnvironmentKey {
  static var defaultValue: Bool { false }
}

private struct AccessibilityDifferentiateWithoutColorKey: EnvironmentKey {
  static var defaultValue: Bool { false }
}

private struct AccessibilityVoiceOverEnabledKey: EnvironmentKey {
  static var defaultValue: Bool { false }
}

private struct OpenURLKey: EnvironmentKey {
  static var defaultValue: OpenURLAction { OpenURLAction() }
}

private struct ProposedSizeKey: EnvironmentKey {
  static var defaultValue: CGSize { CGSize(width: 158, height: 158) }
}

extension EnvironmentValues {
  public var colorScheme: ColorScheme {
    get { self[ColorSchemeKey.self] }
    set { self[ColorSchemeKey.self] = newValue }
  }
  public var colorSchemeContrast: ColorSchemeContrast {
    get { self[ColorSchemeContrastKey.self] }
    set { self[ColorSchemeContrastKey.self] = newValue }
  }
  public var redactionReasons: RedactionReasons {
    get { self[RedactionReasonsKey.self] }
    set { self[RedactionReasonsKey.self] = newValue }
  }
  public var isLuminanceReduced: Bool {
    get {
      UnsimulatedValues.luminanceIsRead()
      return self[IsLuminanceReducedKey.self]
    }
    set { self[IsLuminanceReducedKey.self] = newValue }
  }
  /// Pixels per point.
  public var displayScale: CGFloat {
    get { self[DisplayScaleKey.self] }
    set { self[DisplayScaleKey.self] = newValue }
  }
  public var locale: Locale {
    get { self[LocaleKey.self] }
    set { self[LocaleKey.self] = newValue }
  }
  public var calendar: Calendar {
    get { self[CalendarKey.self] }
    set { self[CalendarKey.self] = newValue }
  }
  public var timeZone: TimeZone {
    get { self[TimeZoneKey.self] }
    set { self[TimeZoneKey.self] = newValue }
  }
  public var layoutDirection: LayoutDirection {
    get { self[LayoutDirectionKey.self] }
    set { self[LayoutDirectionKey.self] = newValue }
  }
  public var dynamicTypeSize: DynamicTypeSize {
    get { self[DynamicTypeSizeKey.self] }
    set { self[DynamicTypeSizeKey.self] = newValue }
  }
  public var font: Font? {
    get { self[FontKey.self] }
    set { self[FontKey.self] = newValue }
  }
  /// `nil`: as many lines as fit.
  public var lineLimit: Int? {
    get { self[LineLimitKey.self] }
    set { self[LineLimitKey.self] = newValue }
  }
  /// In points.
  public var lineSpacing: CGFloat {
    get { self[LineSpacingKey.self] }
    set { self[LineSpacingKey.self] = newValue }
  }
  public var multilineTextAlignment: TextAlignment {
    get { self[MultilineTextAlignmentKey.self] }
    set { self[MultilineTextAlignmentKey.self] = newValue }
  }
  public var minimumScaleFactor: CGFloat {
    get { self[MinimumScaleFactorKey.self] }
    set { self[MinimumScaleFactorKey.self] = newValue }
  }
  public var truncationMode: Text.TruncationMode {
    get { self[TruncationModeKey.self] }
    set { self[TruncationModeKey.self] = newValue }
  }
  public var textCase: Text.Case? {
    get { self[TextCaseKey.self] }
    set { self[TextCaseKey.self] = newValue }
  }
  public var allowsTightening: Bool {
    get { self[AllowsTighteningKey.self] }
    set { self[AllowsTighteningKey.self] = newValue }
  }
  public var isEnabled: Bool {
    get { self[IsEnabledKey.self] }
    set { self[IsEnabledKey.self] = newValue }
  }
  public var contentTransition: ContentTransition {
    get { self[ContentTransitionKey.self] }
    set { self[ContentTransitionKey.self] = newValue }
  }
  public var imageScale: Image.Scale {
    get { self[ImageScaleKey.self] }
    set { self[ImageScaleKey.self] = newValue }
  }
  public var symbolRenderingMode: SymbolRenderingMode? {
    get { self[SymbolRenderingModeKey.self] }
    set { self[SymbolRenderingModeKey.self] = newValue }
  }
  public var controlSize: ControlSize {
    get { self[ControlSizeKey.self] }
    set { self[ControlSizeKey.self] = newValue }
  }
  public var legibilityWeight: LegibilityWeight? {
    get { self[LegibilityWeightKey.self] }
    set { self[LegibilityWeightKey.self] = newValue }
  }
  public var accessibilityReduceMotion: Bool {
    get { self[AccessibilityReduceMotionKey.self] }
    set { self[AccessibilityReduceMotionKey.self] = newValue }
  }
  public var accessibilityReduceTransparency: Bool {
    get { self[AccessibilityReduceTransparencyKey.self] }
    set { self[AccessibilityReduceTransparencyKey.self] = newValue }
  }
  public var accessibilityDifferentiateWithoutColor: Bool {
    get { self[AccessibilityDifferentiateWithoutColorKey.self] }
    set { self[AccessibilityDifferentiateWithoutColorKey.self] = newValue }
  }
  public var accessibilityVoiceOverEnabled: Bool {
    get { self[AccessibilityVoiceOverEnabledKey.self] }
    set { self[AccessibilityVoiceOverEnabledKey.self] = newValue }
  }
  /// An archived view opens no URL.
  public var openURL: OpenURLAction {
    get { self[OpenURLKey.self] }
    set { self[OpenURLKey.self] = newValue }
  }
  /// Adds reasons, without recording that the reasons were read.
  mutating func redact(_ reasons: RedactionReasons) {
    let recorder = reads
    reads = nil
    redactionReasons.formUnion(reasons)
    reads = recorder
  }
  /// The widget's size without the margins that the system adds, in points.
  package var proposedSize: CGSize {
    get { self[ProposedSizeKey.self] }
    set { self[ProposedSizeKey.self] = newValue }
  }
}

extension EnvironmentReads {
  /// Whether the colour scheme was read.
  package var containsColorScheme: Bool { contains(ColorSchemeKey.self) }
  /// Whether the redaction reasons were read.
  package var containsRedactionReasons: Bool { contains(RedactionReasonsKey.self) }
}

/// The text size of the user. Source: `SwiftUI.ContentSizeCategory`.
public enum ContentSizeCategory: Hashable, CaseIterable, Comparable, Sendable {
  case extraSmall, small, medium, large, extraLarge, extraExtraLarge, extraExtraExtraLarge, accessibilityMedium,
    accessibilityLarge, accessibilityExtraLarge, accessibilityExtraExtraLarge, accessibilityExtraExtraExtraLarge

  public var isAccessibilityCategory: Bool { self >= .accessibilityMedium }
}

/// Closes a screen. Source: `SwiftUI.DismissAction`. A widget is on no screen of an app.
public struct DismissAction: Sendable {
  /// Does nothing.
  @MainActor @preconcurrency public func callAsFunction() {}
}

/// Source: `SwiftUI.PresentationMode`.
public struct PresentationMode: Sendable {
  public let isPresented = false
  /// Does nothing.
  public mutating func dismiss() {}
}

/// Source: `SwiftUI.UserInterfaceSizeClass`.
public enum UserInterfaceSizeClass: Hashable, Sendable {
  case compact, regular
}

private struct HorizontalSizeClassKey: EnvironmentKey {
  static let defaultValue: UserInterfaceSizeClass? =
    UITraitCollection().horizontalSizeClass == .regular ? .regular : .compact
}

private struct VerticalSizeClassKey: EnvironmentKey {
  static let defaultValue: UserInterfaceSizeClass? = .regular
}

extension EnvironmentValues {
  /// That of the device in portrait orientation.
  public var horizontalSizeClass: UserInterfaceSizeClass? {
    get { self[HorizontalSizeClassKey.self] }
    set { self[HorizontalSizeClassKey.self] = newValue }
  }
  /// That of the device in portrait orientation.
  public var verticalSizeClass: UserInterfaceSizeClass? {
    get { self[VerticalSizeClassKey.self] }
    set { self[VerticalSizeClassKey.self] = newValue }
  }
  /// `dynamicTypeSize` by the names of iOS 13.
  public var sizeCategory: ContentSizeCategory {
    get { ContentSizeCategory.allCases[DynamicTypeSize.allCases.firstIndex(of: dynamicTypeSize) ?? 3] }
    set { dynamicTypeSize = DynamicTypeSize.allCases[ContentSizeCategory.allCases.firstIndex(of: newValue) ?? 3] }
  }
  public var dismiss: DismissAction { DismissAction() }
  public var presentationMode: Binding<PresentationMode> { .constant(PresentationMode()) }
}

private struct ObjectsKey: EnvironmentKey {
  static var defaultValue: [ObjectIdentifier: AnyObject] { [:] }
}

extension EnvironmentValues {
  private var objects: [ObjectIdentifier: AnyObject] {
    get { self[ObjectsKey.self] }
    set { self[ObjectsKey.self] = newValue }
  }

  func object<T: AnyObject>(_ type: T.Type) -> T? { objects[ObjectIdentifier(type)].flatMap { $0 as? T } }

  mutating func set<T: AnyObject>(_ object: T?) { objects[ObjectIdentifier(T.self)] = object }
}

/// Source: `SwiftUI.EnvironmentObject`.
@propertyWrapper public struct EnvironmentObject<ObjectType: ObservableObject>: DynamicProperty {
  /// Reads the object that `environmentObject(_:)` sets.
  public init() {}

  /// The object. Without one, the process terminates as in SwiftUI.
  public var wrappedValue: ObjectType {
    guard let object = EnvironmentValues.current.object(ObjectType.self) else {
      fatalError("no \(ObjectType.self): an enclosing view must set it with environmentObject(_:)")
    }
    return object
  }

  public var projectedValue: ObservedObject<ObjectType>.Wrapper { .init(object: wrappedValue) }
}

extension View {
  nonisolated public func environment<V>(_ keyPath: WritableKeyPath<EnvironmentValues, V>, _ value: V) -> some View {
    modified(.undrawn(.environment), ArchivedArguments(values: ["\(V.self)": .string("\(value)")])) {
      $0[keyPath: keyPath] = value
    }
  }

  nonisolated public func environment<T: AnyObject>(_ object: T?) -> some View {
    EnvironmentView(content: self) { $0.set(object) }
  }

  nonisolated public func environmentObject<T: ObservableObject>(_ object: T) -> some View {
    EnvironmentView(content: self) { $0.set(object) }
  }

  nonisolated public func transformEnvironment<V>(
    _ keyPath: WritableKeyPath<EnvironmentValues, V>, transform: @escaping (inout V) -> Void
  ) -> some View {
    EnvironmentView(content: self) { transform(&$0[keyPath: keyPath]) }
  }
}

/// Environment values that the author's views have read and that never change here.
package enum UnsimulatedValues {
  private static let luminance = Atomic(false)

  /// Whether a view has read `isLuminanceReduced`: views are archived once, for a display with full light.
  package static var isLuminanceRead: Bool { luminance.load(ordering: .relaxed) }

  static func luminanceIsRead() { luminance.store(true, ordering: .relaxed) }
}
