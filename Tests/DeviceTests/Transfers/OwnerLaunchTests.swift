// SPDX-License-Identifier: Apache-2.0

import FidelityRules
import Foundation
import Messages
import Testing

@testable import DeviceRules

private let agent = Address.agent("iphone", 1)
private let app = Address.app("iphone", "com.example.App")
private let session = SessionKey(owner: app, identifier: "figures")
private let task = TaskKey(session: session, identifier: 1)
private let first = ProcessInstance(generation: 1, pid: 101)
private let second = ProcessInstance(generation: 2, pid: 102)
private let now = Date(timeIntervalSince1970: 1_000_000_000)

/// An app that created a session and a task, and whose instance has ended.
private struct AppFixture {
  var device = DeviceStateMachine()

  init() {
    device.launching = LaunchStateMachine(agents: [app: agent], suspendAfter: 5)
    _ = handle(.launching(.agentReported(agent, incarnation: UUID(), children: [])))
    run(first, because: .foreground)
    open(in: first)
    _ = handle(.delivery(.created(task)))
  }

  mutating func handle(_ event: DeviceEvent) -> [DeliveryStateMachine.Attempt] {
    device.handle(event, now: now).actions.compactMap { action in
      if case .delivery(.deliver(_, let attempt)) = action { attempt } else { nil }
    }
  }

  /// Launches the app. `opens`: it creates its session before it is ready.
  @discardableResult
  mutating func run(
    _ instance: ProcessInstance, because assertion: Assertion, opens: Bool = false
  ) -> [DeliveryStateMachine.Attempt] {
    var attempts = handle(.launching(.process(.want(app, because: assertion))))
    attempts += handle(.launching(.spawned(app, instance)))
    if opens { attempts += open(in: instance) }
    return attempts + handle(.launching(.ready(app, generation: instance.generation)))
  }

  @discardableResult
  mutating func open(in instance: ProcessInstance) -> [DeliveryStateMachine.Attempt] {
    handle(.delivery(.opened(session, sendsLaunchEvents: true, generation: instance.generation)))
  }

  mutating func exit() { _ = handle(.launching(.exited(app, first, .signalled(signal: SIGKILL)))) }
}

@Suite struct `Reasons of a launch` {
  @Test(.rule("DELIVERY-17"))
  func `an app that the user opens after a force quit receives the ends of its tasks without its handler`() {
    var fixture = AppFixture()
    _ = fixture.handle(.launching(.quit(app)))
    fixture.exit()
    _ = fixture.handle(.quit(app: app, [session]))
    _ = fixture.handle(.delivery(.ended([task])))
    let attempts = fixture.run(second, because: .foreground, opens: true)
    #expect(attempts == [DeliveryStateMachine.Attempt(generation: 2, wakesHandler: false)])
    #expect(fixture.device.loading.limitedUntil(app) == nil)
  }

  @Test(.rule("DELIVERY-17"), arguments: [.foreground, "push 1"] as [Assertion])
  func `a task that ends while its app is launched for another reason calls no handler`(reason: Assertion) {
    var fixture = AppFixture()
    fixture.exit()
    #expect(fixture.handle(.launching(.process(.want(app, because: reason)))) == [])
    #expect(fixture.handle(.launching(.spawned(app, second))) == [])
    fixture.open(in: second)
    #expect(fixture.handle(.delivery(.ended([task]))) == [])
    let attempts = fixture.handle(.launching(.ready(app, generation: 2)))
    #expect(attempts == [DeliveryStateMachine.Attempt(generation: 2, wakesHandler: false)])
    #expect(fixture.device.loading.limitedUntil(app) == nil)
  }

  @Test(.rule("DELIVERY-15"))
  func `an app that the system launches for the events of its session has its handler called`() {
    var fixture = AppFixture()
    fixture.exit()
    #expect(fixture.handle(.delivery(.ended([task]))) == [])
    #expect(fixture.handle(.launching(.spawned(app, second))) == [])
    fixture.open(in: second)
    let attempts = fixture.handle(.launching(.ready(app, generation: 2)))
    #expect(attempts == [DeliveryStateMachine.Attempt(generation: 2, wakesHandler: true)])
    #expect(fixture.device.loading.limitedUntil(app) != nil)
  }

  /// The signals that follow from an event.
  private func signals(_ fixture: inout AppFixture, _ event: DeviceEvent, after seconds: Double) -> [Int32] {
    fixture.device.handle(event, now: now + seconds).actions.compactMap { action in
      if case .launching(.signal(app, _, let signal)) = action { signal } else { nil }
    }
  }

  @Test(.rule("DELIVERY-14", "DELIVERY-29"), arguments: [true, false])
  func `an owner runs until it has handled its events, and is suspended after that`(isWoken: Bool) throws {
    var fixture = AppFixture()
    if isWoken {
      fixture.exit()
      _ = fixture.handle(.delivery(.ended([task])))
      _ = fixture.handle(.launching(.spawned(app, second)))
      fixture.open(in: second)
      _ = fixture.handle(.launching(.ready(app, generation: 2)))
    } else {
      _ = fixture.handle(.delivery(.ended([task])))
      _ = fixture.handle(.launching(.process(.release(app, because: .foreground))))
    }
    let generation: UInt32 = isWoken ? 2 : 1
    let delivery = try #require(fixture.device.delivery.deliveries.all.keys.first)
    _ = fixture.handle(.delivery(.sent(delivery, generation: generation)))
    // Suspended 5 s after the last reason to run, and the handler has 30 s.
    #expect(signals(&fixture, .launching(.timerFired), after: 6) == [])
    #expect(fixture.device.launching.nextInstant(after: now) == nil, "no suspension is due")
    #expect(signals(&fixture, .delivery(.acknowledged(delivery)), after: 6) == [])
    #expect(signals(&fixture, .launching(.timerFired), after: 10.9) == [])
    #expect(signals(&fixture, .launching(.timerFired), after: 11) == [SIGSTOP])
  }

  @Test(.rule("DELIVERY-09"), arguments: [(.foreground, false), (.challenge(of: task), true)] as [(Assertion, Bool)])
  func `only an app that is launched for a challenge has its handler called before it answers`(
    reason: Assertion, isWoken: Bool
  ) {
    var fixture = AppFixture()
    fixture.exit()
    _ = fixture.device.handle(.launching(.process(.want(app, because: reason))), now: now)
    _ = fixture.device.handle(.launching(.spawned(app, second)), now: now)
    let step = fixture.device.handle(.launching(.ready(app, generation: 2)), now: now)
    let asked = step.actions.compactMap { action -> Bool? in
      if case .ask(app, let woken) = action { woken } else { nil }
    }
    #expect(asked == [isWoken])
  }
}
