// SPDX-License-Identifier: Apache-2.0

import FidelityRules
import Foundation
import Messages
import Testing

@testable import Device
@testable import DeviceRules

private let app = TransferSamples.app
private let widget = TransferSamples.widget

/// The rules of the network, of discretionary tasks and of the resume rate limiter, with changed settings.
@Suite struct LoadingRulesTests {
  private let off = NetworkState(path: .off)
  private let cellular = NetworkState(path: .cellular)
  private let wifi = NetworkState()

  // MARK: The network

  @Test(.rule("TRANSFER-05"))
  func `without a network, tasks stop and wait, and they continue when the network returns`() {
    var fixture = LoadingFixture()
    _ = fixture.create()
    let key = fixture.key(1)
    #expect(fixture.handle(.network(off)) == [.stop(key)])
    #expect(fixture.handle(.stopped(key)) == [.waits(key, .connectivity)])
    #expect(fixture.create() == [.waits(fixture.key(2), .connectivity)])
    #expect(fixture.handle(.network(off)) == [])
    #expect(fixture.handle(.network(wifi)) == [.load(key), .load(fixture.key(2))])
  }

  @Test(.rule("TRANSFER-06")) func `a network change ends the pause between attempts`() {
    var fixture = LoadingFixture()
    _ = fixture.create()
    _ = fixture.handle(.failed(fixture.key(1), progressed: false))
    #expect(fixture.handle(.network(cellular)) == [.load(fixture.key(1))])
  }

  @Test(.rule("TRANSFER-06"))
  func `a change of the network path stops running attempts, and a change of the rate does not`() {
    var fixture = LoadingFixture()
    _ = fixture.create()
    #expect(fixture.handle(.network(NetworkState(rate: 1000))) == [])
    #expect(fixture.handle(.network(cellular)) == [.stop(fixture.key(1))])
    #expect(fixture.handle(.stopped(fixture.key(1))) == [.load(fixture.key(1))])
  }

  @Test(
    .rule("TRANSFER-07"),
    arguments: [
      (LoadingStateMachine.Access(cellular: false), NetworkState(path: .cellular), 0),
      (LoadingStateMachine.Access(expensive: false), NetworkState(path: .cellular), 1),
      (LoadingStateMachine.Access(constrained: false), NetworkState(isConstrained: true), 2),
    ])
  func `a task waits for a permitted network, and its timeout error names the denied kind of network`(
    access: LoadingStateMachine.Access, network: NetworkState, reason: Int
  ) {
    // The values of the request and of the session have the same effect.
    for isOfSession in [true, false] {
      let configuration = SessionConfiguration(
        timeoutIntervalForResource: 60, allowsCellularAccess: !isOfSession || access.cellular,
        allowsExpensiveNetworkAccess: !isOfSession || access.expensive,
        allowsConstrainedNetworkAccess: !isOfSession || access.constrained)
      var fixture = LoadingFixture(configuration, network: network)
      let key = fixture.key(1)
      #expect(fixture.create(access: isOfSession ? .init() : access) == [.waits(key, .permittedNetwork)])
      #expect(fixture.pass() == [.expire(key, unavailableReason: reason)])
    }
  }

  // MARK: Discretionary tasks

  @Test(.rule("TRANSFER-16"), arguments: [true, false])
  func `a discretionary task waits for Wi-Fi when the setting requires it`(needsWiFi: Bool) {
    var fixture = LoadingFixture(SessionConfiguration(isDiscretionary: true), network: cellular) {
      $0.discretionaryNeedsWiFi = needsWiFi
    }
    let key = fixture.key(1)
    #expect(fixture.create() == (needsWiFi ? [.waits(key, .wifi)] : [.load(key)]))
    if needsWiFi { #expect(fixture.handle(.network(wifi)) == [.load(key)]) }
  }

  @Test(.rule("TRANSFER-17"))
  func `tasks that an app creates in the background are discretionary, those in the foreground only if configured`() {
    var fixture = LoadingFixture(owner: app, network: cellular)
    #expect(fixture.create(app) == [.waits(fixture.key(1, app), .wifi)])
    _ = fixture.handle(.front(app, true))
    #expect(fixture.create(app) == [.load(fixture.key(2, app))])
    fixture.open(app, SessionConfiguration(isDiscretionary: true))
    #expect(fixture.create(app) == [.waits(fixture.key(3, app), .wifi)])
  }

  @Test(.rule("TRANSFER-18"), arguments: [true, false])
  func `a setting determines whether tasks of a widget extension are discretionary`(isSo: Bool) {
    var fixture = LoadingFixture(network: cellular) { $0.widgetTransfersAreDiscretionary = isSo }
    #expect(fixture.create() == (isSo ? [.waits(fixture.key(1), .wifi)] : [.load(fixture.key(1))]))
  }

  // MARK: The resume rate limiter

  private func limiter(_ fixture: LoadingFixture, _ delay: Double, since: Date) -> LoadingStateMachine.Limiter {
    LoadingStateMachine.Limiter(owner: widget, delay: delay, since: since, until: fixture.now + delay)
  }

  @Test(.rule("TRANSFER-19", "TRANSFER-20"), arguments: [60.0, 5.0])
  func `each wake doubles the delay of tasks that are created in the background`(first: Double) {
    var fixture = LoadingFixture { $0.limiterFirst = first }
    let began = fixture.now
    for delay in [first, first * 2, first * 4] {
      let limiter = limiter(fixture, delay, since: began)
      #expect(fixture.handle(.woken(widget)) == [.limiter(account: widget.text, limiter, reason: "woken")])
      fixture.now += 1
    }
    let key = fixture.key(1)
    #expect(fixture.create() == [.waits(key, .limiter)])
    let limiter = LoadingStateMachine.Limiter(owner: widget, delay: 0, since: began, until: began + 2 + first * 4)
    #expect(fixture.pass() == [.limiter(account: widget.text, limiter, reason: "expired unused"), .load(key)])
    #expect(fixture.now == began + 2 + first * 4)
    #expect(fixture.handle(.woken(widget)).count == 1)
    #expect(fixture.stateMachine.limiters[widget.text]?.delay == first)
  }

  @Test(.rule("TRANSFER-19"), arguments: [86_400.0, 100])
  func `the delay of the resume rate limiter never exceeds the configured maximum`(most: Double) {
    var fixture = LoadingFixture { $0.limiterMax = most }
    for _ in 0..<20 { _ = fixture.handle(.woken(widget)) }
    #expect(fixture.stateMachine.limiters[widget.text]?.delay == most)
  }

  @Test(.rule("TRANSFER-19")) func `a first delay of zero disables the resume rate limiter`() {
    var fixture = LoadingFixture { $0.limiterFirst = 0 }
    #expect(fixture.handle(.woken(widget)) == [])
    #expect(fixture.create() == [.load(fixture.key(1))])
  }

  @Test(.rule("TRANSFER-22"), arguments: [true, false])
  func `a setting determines whether the resume rate limiter holds tasks of a widget extension`(isSo: Bool) {
    var fixture = LoadingFixture { $0.limiterAppliesToWidgets = isSo }
    _ = fixture.handle(.woken(widget))
    #expect(fixture.create() == (isSo ? [.waits(fixture.key(1), .limiter)] : [.load(fixture.key(1))]))
  }

  @Test(.rule("TRANSFER-23"), arguments: [true, false])
  func `a setting determines whether an extension and its app share one resume rate limiter`(isSo: Bool) {
    var fixture = LoadingFixture { $0.limiterIsSharedWithApp = isSo }
    fixture.open(app)
    _ = fixture.handle(.woken(widget))
    #expect(fixture.create(app) == (isSo ? [.waits(fixture.key(1, app), .limiter)] : [.load(fixture.key(1, app))]))
  }

  @Test(.rule("TRANSFER-20"))
  func `the rate limiter is reset when the app enters the foreground and does not hold foreground tasks`() {
    var fixture = LoadingFixture(owner: app)
    _ = fixture.handle(.woken(app))
    #expect(fixture.create(app) == [.waits(fixture.key(1, app), .limiter)])
    let actions = fixture.handle(.front(app, true))
    #expect(actions.last == .load(fixture.key(1, app)))
    #expect(fixture.stateMachine.limiters.isEmpty)
    #expect(fixture.handle(.woken(app)) == [])
    #expect(fixture.create(app) == [.load(fixture.key(2, app))])
    _ = fixture.handle(.front(app, false))
    _ = fixture.handle(.woken(app))
    #expect(fixture.create(app) == [.waits(fixture.key(3, app), .limiter)])
  }

  @Test(.rule("TRANSFER-20"))
  func `the rate limiters of an app's extensions are reset when the app enters the foreground, and no other's`() {
    var fixture = LoadingFixture()
    let stranger = Address.widgetExtension("iphone", "com.stranger.Widget")
    fixture.open(stranger)
    for owner in [widget, stranger] { _ = fixture.handle(.woken(owner)) }
    #expect(fixture.create() == [.waits(fixture.key(1), .limiter)])
    #expect(fixture.create(stranger) == [.waits(fixture.key(2, stranger), .limiter)])
    #expect(fixture.handle(.front(app, true)).last == .load(fixture.key(1)))
    #expect(Array(fixture.stateMachine.limiters.keys) == [stranger.text])
  }

  @Test(.rule("TRANSFER-21")) func `the resume rate limiter does not hold tasks that were created before the wake`() {
    var fixture = LoadingFixture(SessionConfiguration(httpMaximumConnectionsPerHost: 1))
    _ = fixture.create()
    _ = fixture.create()
    fixture.now += 1
    _ = fixture.handle(.woken(widget))
    #expect(fixture.handle(.ended(fixture.key(1))) == [.load(fixture.key(2))])
  }

  @Test func `a rate limiter that expired while the host was down is off after the restart`() {
    let fixture = LoadingFixture()
    var second = LoadingStateMachine(
      sessions: fixture.stateMachine.sessions, limiters: [widget.text: limiter(fixture, 60, since: fixture.now)],
      settings: TransferSettings())
    let actions = second.handle(.began, now: fixture.now + 61)
    #expect(actions.count == 1)
    #expect(second.limiters.isEmpty)
  }

  // MARK: App families

  @Test(.rule("PROCESS-21"))
  func `an extension belongs to the app whose bundle identifier is the prefix of the identifier of the extension`() {
    let families = AppFamilies(apps: ["com.example", "com.example.other"])
    #expect(families.family(of: widget) == "com.example")
    #expect(families.family(of: .widgetExtension("iphone", "com.example.other.W")) == "com.example.other")
    #expect(families.family(of: .widgetExtension("iphone", "com.examples.W")) == "com.examples.W")
  }
}
