// SPDX-License-Identifier: Apache-2.0

import FidelityRules
import Foundation
import Messages
import Testing

@testable import AuthorRuntime
@testable import EventKit

@Suite(.timeLimit(.minutes(1))) struct `Calendars and reminders` {
  @Test(.rule("DIAGNOSIS-11")) func `a device has none: access is refused, and the use is reported`() async throws {
    let fixture = try SDKFixture()
    try await fixture.begin()
    fixture.process.asCurrent { #expect(EKEventStore().calendars(for: .event).isEmpty) }
    let reported = await fixture.sent(FaultNoticed.self).filter { $0.fault == .notSimulated }
    #expect(reported.map(\.subject) == ["EKEventStore"])
    #expect(EKEventStore.authorizationStatus(for: .reminder) == .notDetermined)
    #expect(try await !EKEventStore().requestFullAccessToReminders())
    #expect(EKEventStore.authorizationStatus(for: .reminder) == .denied)
    #expect(EKEventStore.authorizationStatus(for: .event) == .notDetermined)
  }

  @Test func `a search finds nothing, and saving fails`() async {
    let store = EKEventStore()
    let search = store.predicateForEvents(withStart: .now, end: .distantFuture, calendars: nil)
    #expect(store.events(matching: search).isEmpty && store.calendarItem(withIdentifier: "a") == nil)
    let foundCount = await withCheckedContinuation { continuation in
      store.fetchReminders(matching: store.predicateForReminders(in: nil)) { reminders in
        continuation.resume(returning: reminders?.count)
      }
    }
    #expect(foundCount == 0)
    let reminder = EKReminder(eventStore: store)
    reminder.title = "Water the plants"
    reminder.isCompleted = true
    #expect(reminder.completionDate != nil && !reminder.hasRecurrenceRules)
    #expect(throws: EKError(.eventStoreNotAuthorized)) { try store.save(reminder, commit: true) }
    #expect(throws: EKError.self) { try store.save(EKEvent(eventStore: store), span: .thisEvent) }
  }
}
