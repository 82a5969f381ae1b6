// SPDX-License-Identifier: Apache-2.0

import Archive
import BusTesting
import FidelityRules
import Foundation
import GRDB
import MessageBus
import Messages
import Stores
import Synchronization
import Testing
import Timekeeping

@testable import Device
@testable import DeviceRules

@Suite(.timeLimit(.minutes(1))) struct `The service of Live Activities` {
  private static let app = "com.example.Rides"

  @Test(.rule("ACTIVITY-16"))
  func `an extension that exits while it is asked for views is asked again after pauses that double to their limit`()
    async throws
  {
    let machine = ManualClock()
    let widget = Address.widgetExtension("iphone", "\(Self.app).Widget")
    let stored = try ActivityService.Stored(
      DeviceTransactions(immediate: try DatabaseQueue()),
      apps: [InstalledApp(address: .app("iphone", Self.app), extensions: [widget])], limits: ActivityLimits(),
      hasStartTokens: true)
    let lone = await LoneDevice(DeviceStateMachine { $0.activities = stored.stateMachine }, clock: ManualClock())
    let connection = InMemoryBus().connection(.host("iphone"))
    let service = ActivityService(
      stored, core: lone.core, bus: connection, clock: ManualClock(), machine: machine,
      backoff: Backoff(first: 3, limit: 10),
      environment: WidgetEnvironment(family: .systemMedium, width: 1, height: 1))
    await lone.core.connect(service)
    _ = try await connection.start()
    let asked = Mutex(0)
    let (questions, question) = AsyncStream.makeStream(of: Int.self)
    await service.begin { _, _ in
      let number = asked.withLock { asked in
        asked += 1
        return asked
      }
      question.yield(number)
      return number < 5 ? .failure(BusError(.failed, "it has exited")) : .success(ActivityViews())
    }
    let request = RequestActivity(
      id: "a", attributesType: "Ride", attributes: "{}", content: ActivityContentRecord(state: "{}"))
    await lone.core.handle(
      .activities(
        .declared(bundle: "\(Self.app).Widget", [ActivityDeclaration(attributesType: "Ride")])))
    await lone.core.handle(.activities(.request(request, app: Self.app, because: .app, .none)))
    var numbers = questions.makeAsyncIterator()
    #expect(await numbers.next() == 1)
    for (number, pause) in zip(1..., [3.0, 6, 10, 10]) {
      // It waits for this long, and not for less.
      await machine.whenSleeping(within: pause)
      machine.advance(by: pause - 0.5)
      await machine.whenSleeping(within: 0.5)
      #expect(asked.withLock { $0 } == number)
      machine.advance(by: 0.5)
      #expect(await numbers.next() == number + 1)
    }
    while await lone.core.state.activities.activity(1)?.archived != 1 {
      try Task.checkCancellation()
      await Task.yield()
    }
    #expect(await lone.core.state.activities.activity(1)?.note == nil)
    await service.leave()
  }
}
