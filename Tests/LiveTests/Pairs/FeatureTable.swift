// SPDX-License-Identifier: Apache-2.0

import Foundation

extension Feature {
  /// Every feature that a user can combine with another. A new one gets a row here.
  static let table = configured + operated + disturbed + observed

  /// Features of the configuration.
  private static let configured: [Feature] = [
    Feature(name: "a language", keys: ["device.locale": "de_DE"]),
    Feature(name: "a time zone", keys: ["device.timeZone": "Asia/Tokyo"]),
    Feature(name: "an iPad", keys: ["device.model": "iPad", "device.platform": "iPadOS"]),
    Feature(name: "iOS 17", keys: ["device.version": "'17.0'"]),
    Feature(name: "iOS 26", keys: ["device.version": "'26.0'"]),
    Feature(name: "a folder with spaces", hasSpaces: true),
    Feature(name: "a journal with a limit", keys: ["bus.journalLimit": "4MiB"]),
    Feature(name: "a synchronised journal", keys: ["bus.journalSync": "true"]),
    Feature(name: "metrics of the broker", keys: ["bus.metrics": "'127.0.0.1:0'"]),
    Feature(name: "metrics of the push server", keys: ["pushServer.metrics": "'127.0.0.1:0'"]),
    Feature(name: "a PostgreSQL database", needsPostgres: true),
    Feature(name: "replicas", keys: ["pushServer.replicas": "2"], needsPostgres: true),
    Feature(name: "one notification in flight", keys: ["pushServer.inFlight": "1"]),
    Feature(name: "the observed order of events", keys: ["settings.observedEventOrder": "true"]),
    Feature(name: "the first completion counts", keys: ["settings.firstCompletionCounts": "true"]),
    Feature(name: "timelines requested twice", keys: ["settings.requestsTimelinesTwice": "true"]),
    Feature(name: "concurrent timelines", keys: ["settings.concurrentTimelines": "4"]),
    Feature(name: "no resume rate limiter", keys: ["settings.limiterFirst": "0"]),
    Feature(name: "a shared limiter", keys: ["settings.limiterIsSharedWithApp": "true"]),
    Feature(name: "budgets", keys: ["settings.developerMode": "false"]),
    Feature(name: "no automatic placement", keys: ["settings.placesEachKind": "false"], before: ["add Trial"]),
    Feature(name: "data protection", keys: ["extension.dataProtection": "complete"]),
    Feature(name: "two agents", keys: ["extension.agent": "2"]),
    Feature(name: "no memory limit", keys: ["settings.extensionMemoryLimit": "0"]),
    Feature(name: "one load at a time", keys: ["settings.maximumLoads": "1"]),
    Feature(
      name: "a second extension",
      extensions: ["bundle: com.example.Trial.Second, executable: FixtureWidgets"], before: ["reload --all"]),
    Feature(
      name: "Live Activities",
      extensions: [
        """
        bundle: com.example.Trial.Rides, executable: FixtureWidgets, environment: {TRIAL_FIXTURE: activities}, \
        entitlements: {aps-environment: development}
        """
      ],
      before: [#"activity start RideAttributes --attributes {"rider":"Ada"} --state {"minutes":5}"#],
      after: [#"activity update 1 --state {"minutes":4}"#], last: ["activity end 1"]),
  ]

  /// What a user does on the device.
  private static let operated: [Feature] = [
    Feature(name: "a lock", during: ["lock"], after: ["unlock"], topics: ["lock"]),
    Feature(name: "the display off", during: ["look off"], after: ["look homeScreen"], topics: ["lock", "look"]),
    Feature(name: "a dark appearance", during: ["look dark"]),
    Feature(name: "a text size", during: ["setting text-size accessibility3"]),
    Feature(name: "another language", during: ["setting locale ar"], topics: ["language"]),
    Feature(name: "another time zone", during: ["setting time-zone Pacific/Auckland"]),
    Feature(name: "another account", during: ["setting account"]),
    Feature(name: "a second placement in a stack", during: ["add Trial", "add Trial --stack 1"]),
    Feature(name: "a removed widget", before: ["add Trial"], during: ["remove 1"]),
    // A language, an update and a killed agent end the app, which then can be neither killed nor left.
    Feature(name: "an update", during: ["update com.example.Trial"], topics: ["update"]),
    Feature(
      name: "an app in the background", during: ["app background"],
      topics: ["app", "language", "update", "agent", "lock"]),
    Feature(name: "a force-quit app", during: ["force-quit"], after: ["app open"], topics: ["app", "lock"]),
    Feature(name: "no network", during: ["network off"], after: ["network on"], topics: ["network"]),
    Feature(name: "a cellular network", before: ["network cellular"], topics: ["network"]),
    Feature(name: "Low Data Mode", during: ["network --low-data"], topics: ["network"]),
    Feature(name: "a sleeping device", during: ["device sleep"], after: ["device wake"]),
    Feature(name: "an offline device", during: ["device offline"], after: ["device online"], topics: ["network"]),
    Feature(name: "a moved device", during: ["device location 47.4,8.5"]),
    Feature(name: "a held clock", before: ["clock hold"], after: ["clock run"], topics: ["clock"]),
    Feature(
      name: "a fast clock", keys: ["settings.completionDeadline": "18000"], during: ["clock rate 60"],
      topics: ["clock"]),
    Feature(name: "an advanced clock", during: ["clock advance 1h"], topics: ["clock"]),
    Feature(name: "a clock that is set back", during: ["clock set 2025-03-01"], topics: ["clock"]),
    Feature(name: "UserDefaults", during: ["defaults write \(LiveFixture.group) limit -int 400"]),
  ]

  /// Faults, and renewals.
  private static let disturbed: [Feature] = [
    Feature(name: "a killed host", during: ["kill host"]),
    Feature(name: "a killed broker", during: ["kill bus"]),
    Feature(name: "a killed push server", during: ["kill push-server"]),
    Feature(name: "a killed agent", during: ["kill agent"], topics: ["agent"]),
    Feature(name: "a killed app", during: ["kill app"], topics: ["app", "language", "update", "agent"]),
    Feature(name: "a stopped host", during: ["suspend host", "resume host"]),
    Feature(name: "renewed keys", during: ["keys rotate"]),
    Feature(name: "a renewed token", during: ["token rotate --use app"]),
  ]

  /// Commands that observe.
  private static let observed: [Feature] = [
    Feature(name: "a fleet", beside: ["fleet up --devices 3"]),
    Feature(name: "a tail", beside: ["tail"]),
    Feature(name: "a console", beside: ["console"]),
    Feature(name: "a snapshot", during: ["snapshot Trial"]),
    Feature(name: "a screen", during: ["screen", "gallery", "budget", "sessions", "ps"]),
    Feature(name: "a verified journal", last: ["journal verify"]),
  ]
}
