// SPDX-License-Identifier: Apache-2.0

package import Archive

/// Source: `SwiftUI.Button`. In a widget only a button with an intent acts; a tap on any other one opens the app, as a
/// tap beside it does.
nonisolated public struct Button<Label: View>: View, ArchivedView {
  public typealias Body = Never
  private let role: ButtonRole?
  private let intent: ArchivedValue?
  private let label: Label

  init(role: ButtonRole?, intent: ArchivedValue?, label: Label) {
    self.role = role
    self.intent = intent
    self.label = label
  }

  @MainActor package func archive(in context: ArchivingContext) throws(ArchiveRefusal) -> ViewArchive {
    var view: any View = label
    if let style = context.environment.buttonStyle {
      let button = ButtonStyleConfiguration(role: role, label: .init(view: label), isPressed: false)
      view = context.environment.during { style.body(of: button) }
    }
    return ViewArchive(
      .control(.button), given: ["role": role?.archived, "intent": intent], children: try context.children(of: view))
  }
}

extension Button {
  /// `action` is never called in a widget.
  @preconcurrency public init(action: @escaping @MainActor () -> Void, @ViewBuilder label: () -> Label) {
    self.init(role: nil, intent: nil, label: label())
  }
  /// `action` is never called in a widget.
  @preconcurrency public init(
    role: ButtonRole?, action: @escaping @MainActor () -> Void, @ViewBuilder label: () -> Label
  ) {
    self.init(role: role, intent: nil, label: label())
  }
}

extension Button where Label == Text {
  /// `action` is never called in a widget.
  @preconcurrency public init(_ titleKey: LocalizedStringKey, action: @escaping @MainActor () -> Void) {
    self.init(role: nil, intent: nil, label: Text(titleKey))
  }
  /// `action` is never called in a widget.
  @preconcurrency @_disfavoredOverload public init<S: StringProtocol>(
    _ title: S, action: @escaping @MainActor () -> Void
  ) {
    self.init(role: nil, intent: nil, label: Text(title))
  }
  /// `action` is never called in a widget.
  @preconcurrency public init(
    _ titleKey: LocalizedStringKey, role: ButtonRole?, action: @escaping @MainActor () -> Void
  ) {
    self.init(role: role, intent: nil, label: Text(titleKey))
  }
  /// `action` is never called in a widget.
  @preconcurrency @_disfavoredOverload public init<S: StringProtocol>(
    _ title: S, role: ButtonRole?, action: @escaping @MainActor () -> Void
  ) {
    self.init(role: role, intent: nil, label: Text(title))
  }
}

extension Button where Label == SwiftUI.Label<Text, Image> {
  /// `action` is never called in a widget.
  @preconcurrency public init(
    _ titleKey: LocalizedStringKey, systemImage: String, action: @escaping @MainActor () -> Void
  ) {
    self.init(role: nil, intent: nil, label: SwiftUI.Label(titleKey, systemImage: systemImage))
  }
  /// `action` is never called in a widget.
  @preconcurrency @_disfavoredOverload public init<S: StringProtocol>(
    _ title: S, systemImage: String, action: @escaping @MainActor () -> Void
  ) {
    self.init(role: nil, intent: nil, label: SwiftUI.Label(title, systemImage: systemImage))
  }
}

/// Source: `SwiftUI.Toggle`. Both states are archived, so that the other one can be shown before the widget's next
/// timeline.
nonisolated public struct Toggle<Label: View>: View, ArchivedView {
  public typealias Body = Never
  private let isOn: Bool
  private let intent: ArchivedValue?
  private let label: Label

  init(isOn: Bool, intent: ArchivedValue?, label: Label) {
    self.isOn = isOn
    self.intent = intent
    self.label = label
  }

  @MainActor package func archive(in context: ArchivingContext) throws(ArchiveRefusal) -> ViewArchive {
    ViewArchive(
      .control(.toggle), given: ["isOn": isOn.archived, "intent": intent],
      children: [try state(true, in: context), try state(false, in: context)])
  }

  @MainActor private func state(
    _ isOn: Bool, in context: ArchivingContext
  ) throws(ArchiveRefusal) -> ViewArchive {
    var view: any View = label
    if let style = context.environment.toggleStyle {
      let toggle = ToggleStyleConfiguration(label: .init(view: label), isOn: .constant(isOn))
      view = context.environment.during { style.body(of: toggle) }
    }
    return ViewArchive(.control(.toggleState), ["isOn": isOn.archived], children: try context.children(of: view))
  }
}

extension Toggle {
  /// A widget does not change the value of `isOn`.
  public init(isOn: Binding<Bool>, @ViewBuilder label: () -> Label) {
    self.init(isOn: isOn.wrappedValue, intent: nil, label: label())
  }
}

extension Toggle where Label == Text {
  /// A widget does not change the value of `isOn`.
  public init(_ titleKey: LocalizedStringKey, isOn: Binding<Bool>) {
    self.init(isOn: isOn.wrappedValue, intent: nil, label: Text(titleKey))
  }
  /// A widget does not change the value of `isOn`.
  @_disfavoredOverload public init<S: StringProtocol>(_ title: S, isOn: Binding<Bool>) {
    self.init(isOn: isOn.wrappedValue, intent: nil, label: Text(title))
  }
}
