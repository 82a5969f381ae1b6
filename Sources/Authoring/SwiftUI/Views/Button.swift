package import Archive

/// What does something when a person touches it. Source: `SwiftUI.Button`. In a widget one with an intent does; touching
/// another opens the app, as touching beside it does.
nonisolated public struct Button<Label: View>: View, ArchivedView {
  /// There is none.
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
      "Button", given: ["role": role?.archived, "intent": intent], children: try context.children(of: view))
  }
}

extension Button {
  /// A button; its action is never called in a widget.
  @preconcurrency public init(action: @escaping @MainActor () -> Void, @ViewBuilder label: () -> Label) {
    self.init(role: nil, intent: nil, label: label())
  }
  /// A button; its action is never called in a widget.
  @preconcurrency public init(
    role: ButtonRole?, action: @escaping @MainActor () -> Void, @ViewBuilder label: () -> Label
  ) {
    self.init(role: role, intent: nil, label: label())
  }
}

extension Button where Label == Text {
  /// A button; its action is never called in a widget.
  @preconcurrency public init(_ titleKey: LocalizedStringKey, action: @escaping @MainActor () -> Void) {
    self.init(role: nil, intent: nil, label: Text(titleKey))
  }
  /// A button; its action is never called in a widget.
  @preconcurrency @_disfavoredOverload public init<S: StringProtocol>(
    _ title: S, action: @escaping @MainActor () -> Void
  ) {
    self.init(role: nil, intent: nil, label: Text(title))
  }
  /// A button; its action is never called in a widget.
  @preconcurrency public init(
    _ titleKey: LocalizedStringKey, role: ButtonRole?, action: @escaping @MainActor () -> Void
  ) {
    self.init(role: role, intent: nil, label: Text(titleKey))
  }
}

extension Button where Label == SwiftUI.Label<Text, Image> {
  /// A button; its action is never called in a widget.
  @preconcurrency public init(
    _ titleKey: LocalizedStringKey, systemImage: String, action: @escaping @MainActor () -> Void
  ) {
    self.init(role: nil, intent: nil, label: SwiftUI.Label(titleKey, systemImage: systemImage))
  }
}

/// What is on or off. Source: `SwiftUI.Toggle`. It is kept in both states, so that it can be shown in the other before the
/// widget's next timeline.
nonisolated public struct Toggle<Label: View>: View, ArchivedView {
  /// There is none.
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
      "Toggle", given: ["isOn": isOn.archived, "intent": intent],
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
    return ViewArchive("ToggleState", ["isOn": isOn.archived], children: try context.children(of: view))
  }
}

extension Toggle {
  /// A toggle of a value that a widget does not change.
  public init(isOn: Binding<Bool>, @ViewBuilder label: () -> Label) {
    self.init(isOn: isOn.wrappedValue, intent: nil, label: label())
  }
}

extension Toggle where Label == Text {
  /// A toggle of a value that a widget does not change.
  public init(_ titleKey: LocalizedStringKey, isOn: Binding<Bool>) {
    self.init(isOn: isOn.wrappedValue, intent: nil, label: Text(titleKey))
  }
  /// A toggle of a value that a widget does not change.
  @_disfavoredOverload public init<S: StringProtocol>(_ title: S, isOn: Binding<Bool>) {
    self.init(isOn: isOn.wrappedValue, intent: nil, label: Text(title))
  }
}
