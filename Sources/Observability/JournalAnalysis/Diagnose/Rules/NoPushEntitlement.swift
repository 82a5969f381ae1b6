// SPDX-License-Identifier: Apache-2.0

import Messages

/// A process without the entitlement `aps-environment` requests a device token.
struct NoPushEntitlement: DiagnosticRule {
  let description = DiagnosisDescription(
    code: "no-push-entitlement", severity: .error, title: "a process without the entitlement requests a device token",
    rule:
      "Widgets with a push handler get a device token when the widget extension's target has the capability Push "
      + "Notifications, and an app when the app's target has it. Without it the handler is never called, and "
      + "registerForRemoteNotifications() fails with NSCocoaErrorDomain 3000.",
    source:
      "documented: Updating widgets with WidgetKit push notifications, step 1; Registering your app with APNs; observed: "
      + "the error",
    advice:
      "Add the capability to the target that requests the token, not only to the app. In WidgetLab: entitlements: "
      + "{ aps-environment: development } of the product in widgetlab.yaml.")

  func see(_ envelope: Envelope, _ record: DeviceRecord) -> [Sighting] {
    guard let withheld = envelope.reading(PushWithheld.self), withheld.reason == .noEntitlement else { return [] }
    let subject =
      withheld.handlers.isEmpty ? "registerForRemoteNotifications()" : withheld.handlers.joined(separator: ", ")
    return [
      Sighting(
        owner: withheld.address, subject: subject,
        what: "\(subject) waits for a device token, but the entitlements of \(withheld.address.short) have no "
          + "aps-environment",
        evidence: [Evidence(envelope)])
    ]
  }
}
