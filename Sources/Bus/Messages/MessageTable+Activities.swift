// SPDX-License-Identifier: Apache-2.0

extension MessageTable {
  static let activities: [MessageEntry] = [
    .request(
      RequestActivity.self, [Route([.app, .operator], to: .host)], "Activity.request(attributes:content:pushType:).",
      failure: "The author's call throws; when indefinite, a retry with the same id is safe."),
    .request(
      ChangeActivity.self, [Route(spawned + [.operator], to: .host)],
      "Updates, ends or dismisses a Live Activity.", failure: "When indefinite, a retry is safe."),
    .request(
      ListActivities.self, [Route(spawned + [.operator], to: .host)],
      "Returns the Live Activities of an app; the sender receives changes from then on.",
      failure: "Nothing changed; retry."),
    .request(
      AllowActivities.self, [Route([.operator], to: .host)], "The user allows or forbids an app's Live Activities.",
      failure: "A retry is safe."),
    .event(
      ActivitiesChanged.self, toAll(spawned, from: [.host]), "The Live Activities or the tokens of an app changed."),
    .request(
      ArchiveActivity.self, [Route([.host], to: .widgetExtension)],
      "Asks the extension for the views of a Live Activity.", failure: "The last views stay."),
    .notice(
      ActivityMoved.self, [Route([.host], to: .journal)],
      "A Live Activity started, changed, became stale, ended or was dismissed."),
  ]
}
