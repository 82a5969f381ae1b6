// SPDX-License-Identifier: Apache-2.0

public import AppIntents
import Archive

// Source of all: the overlay of SwiftUI and AppIntents in the iOS 18 SDK.
extension AppIntent {
  /// The data with which another process of the extension, or of the app, performs the intent.
  fileprivate var archived: ArchivedValue {
    var record: [String: ArchivedValue] = [
      "type": .string(Self.archivedName), "parameters": .record(archivedParameters),
      "opensApp": .bool(Self.opensApp), "runsInApp": .bool(Self.runsInApp),
    ]
    // Only a control can be touched on a locked device.
    if Self.authenticationPolicy != .alwaysAllowed { record["needsUnlock"] = true }
    return .record(record)
  }
}

extension AppIntent {
  /// The same for a toggle, whose value the system sets to the opposite of `isOn`. Source: `SetValueIntent`.
  fileprivate func archived(turning isOn: Bool) -> ArchivedValue {
    guard case .record(var record) = archived, let type = Self.self as? any SetValueIntent.Type, setsBool(type),
      case .record(var parameters)? = record["parameters"]
    else { return archived }
    parameters["value"] = .bool(!isOn)
    record["parameters"] = .record(parameters)
    return .record(record)
  }
}

private func setsBool<I: SetValueIntent>(_ type: I.Type) -> Bool { I.ValueType.self == Bool.self }

extension Button {
  public init<I: AppIntent>(intent: I, @ViewBuilder label: () -> Label) {
    self.init(role: nil, intent: intent.archived, label: label())
  }
  public init<I: AppIntent>(role: ButtonRole?, intent: I, @ViewBuilder label: () -> Label) {
    self.init(role: role, intent: intent.archived, label: label())
  }
}

extension Button where Label == Text {
  public init<I: AppIntent>(_ titleKey: LocalizedStringKey, intent: I) {
    self.init(role: nil, intent: intent.archived, label: Text(titleKey))
  }
  @_disfavoredOverload public init<S: StringProtocol, I: AppIntent>(_ title: S, intent: I) {
    self.init(role: nil, intent: intent.archived, label: Text(title))
  }
  public init<I: AppIntent>(_ titleKey: LocalizedStringKey, role: ButtonRole?, intent: I) {
    self.init(role: role, intent: intent.archived, label: Text(titleKey))
  }
  @_disfavoredOverload public init<S: StringProtocol, I: AppIntent>(_ title: S, role: ButtonRole?, intent: I) {
    self.init(role: role, intent: intent.archived, label: Text(title))
  }
}

extension Button where Label == SwiftUI.Label<Text, Image> {
  public init<I: AppIntent>(
    _ titleKey: LocalizedStringKey, systemImage: String, role: ButtonRole? = nil, intent: I
  ) {
    self.init(
      role: role, intent: intent.archived, label: SwiftUI.Label(titleKey, systemImage: systemImage))
  }
  @_disfavoredOverload public init<S: StringProtocol, I: AppIntent>(
    _ title: S, systemImage: String, role: ButtonRole? = nil, intent: I
  ) {
    self.init(role: role, intent: intent.archived, label: SwiftUI.Label(title, systemImage: systemImage))
  }
}

extension Toggle {
  public init<I: AppIntent>(isOn: Bool, intent: I, @ViewBuilder label: () -> Label) {
    self.init(isOn: isOn, intent: intent.archived(turning: isOn), label: label())
  }
}

extension Toggle where Label == Text {
  public init<I: AppIntent>(_ titleKey: LocalizedStringKey, isOn: Bool, intent: I) {
    self.init(isOn: isOn, intent: intent.archived(turning: isOn), label: Text(titleKey))
  }
  @_disfavoredOverload public init<S: StringProtocol, I: AppIntent>(_ title: S, isOn: Bool, intent: I) {
    self.init(isOn: isOn, intent: intent.archived(turning: isOn), label: Text(title))
  }
}
