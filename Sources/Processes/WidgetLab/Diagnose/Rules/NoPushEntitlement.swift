import Conversations

/// Somebody wants a device token whose entitlements have no `aps-environment`.
struct NoPushEntitlement: DiagnosticRule {
  let description = DiagnosisDescription(
    code: "no-push-entitlement", severity: .error, title: "a process that wants a device token lacks the entitlement",
    rule:
      "Widgets with a push handler have a device token when the widget extension's target has the capability Push "
      + "Notifications, and an app when its own has it. Without it the handler is never called, and "
      + "registerForRemoteNotifications() fails with NSCocoaErrorDomain 3000.",
    source:
      "documented: Updating widgets with WidgetKit push notifications, step 1; Registering your app with APNs; observed: "
      + "the error",
    advice:
      "Add the capability to the target that wants the token, not to the app's alone; here: entitlements: "
      + "{ aps-environment: development } beside the product in widgetlab.yaml.")

  func see(_ envelope: Envelope, _ record: DeviceRecord) -> [Sighting] {
    guard let withheld = envelope.reading(PushWithheld.self), withheld.reason == .noEntitlement else { return [] }
    let subject =
      withheld.handlers.isEmpty ? "registerForRemoteNotifications()" : withheld.handlers.joined(separator: ", ")
    return [
      Sighting(
        owner: withheld.address, subject: subject,
        what: "\(subject) waits for a device token, and the entitlements of \(withheld.address.short) have no "
          + "aps-environment",
        evidence: [Evidence(envelope)])
    ]
  }
}
