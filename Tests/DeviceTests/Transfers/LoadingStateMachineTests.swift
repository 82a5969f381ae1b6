// SPDX-License-Identifier: Apache-2.0

import FidelityRules
import Foundation
import Messages
import Testing

@testable import Device
@testable import DeviceRules

private let widget = TransferSamples.widget

/// A state machine with sessions, and its current date.
struct LoadingFixture {
  typealias Action = LoadingStateMachine.Action
  var stateMachine: LoadingStateMachine
  var now = Date(timeIntervalSince1970: 1_000_000_000)
  private var created = 0

  init(
    _ configuration: SessionConfiguration = SessionConfiguration(), owner: Address = widget,
    network: NetworkState = NetworkState(), _ change: (inout TransferSettings) -> Void = { _ in }
  ) {
    var settings = TransferSettings()
    change(&settings)
    stateMachine = LoadingStateMachine(
      network: network, settings: settings, families: AppFamilies(apps: ["com.example"]))
    open(owner, configuration)
  }

  mutating func open(_ owner: Address, _ configuration: SessionConfiguration = SessionConfiguration()) {
    let session = SessionKey(owner: owner, identifier: "figures")
    _ = handle(.opened(session, configuration))
  }

  func key(_ number: Int, _ owner: Address = widget) -> TaskKey {
    TaskKey(session: SessionKey(owner: owner, identifier: "figures"), identifier: number)
  }

  mutating func handle(_ event: LoadingStateMachine.Event) -> [Action] { stateMachine.handle(event, now: now) }

  /// Creates the next task.
  mutating func create(
    _ owner: Address = widget, host: String = "http://a", access: LoadingStateMachine.Access = .init(),
    priority: Float = 0.5, date: Date? = nil, asks: Bool = false
  ) -> [Action] {
    created += 1
    return handle(
      .created(
        LoadingStateMachine.Transfer(
          key: key(created, owner), host: host, access: access, created: now,
          isInBackground: !stateMachine.isInFront(owner), priority: priority, earliestBeginDate: date,
          asksBeforeBegin: asks)))
  }

  /// Advances to the next due date and handles it.
  mutating func pass() -> [Action] {
    guard let instant = stateMachine.nextInstant else { return [] }
    now = max(now, instant)
    return handle(.timerFired)
  }
}

@Suite struct LoadingStateMachineTests {
  @Test func `a task that has nothing to wait for loads at once`() {
    var fixture = LoadingFixture()
    #expect(fixture.create() == [.load(fixture.key(1))])
    #expect(fixture.handle(.ended(fixture.key(1))) == [])
    #expect(fixture.stateMachine.transfers.isEmpty)
  }

  // MARK: Connections and concurrent loads

  @Test(.rule("TRANSFER-08"), arguments: [1, 2, nil])
  func `a session opens at most the configured number of connections to a host, or 6`(configured: Int?) {
    let count = configured ?? 6
    let configuration = configured.map { SessionConfiguration(httpMaximumConnectionsPerHost: $0) }
    var fixture = LoadingFixture(configuration ?? SessionConfiguration())
    for number in 1...count { #expect(fixture.create() == [.load(fixture.key(number))]) }
    let next = fixture.key(count + 1)
    #expect(fixture.create() == [.waits(next, .connection(host: "http://a"))])
    #expect(fixture.create(host: "http://b") == [.load(fixture.key(count + 2))])
    #expect(fixture.handle(.ended(fixture.key(1))) == [.load(next)])
  }

  @Test(.rule("SESSION-03")) func `recreating a session with a higher connection limit starts waiting tasks`() {
    var fixture = LoadingFixture(SessionConfiguration(httpMaximumConnectionsPerHost: 1))
    for _ in 1...3 { _ = fixture.create() }
    let session = fixture.key(1).session
    let wider = SessionConfiguration(httpMaximumConnectionsPerHost: 2)
    #expect(fixture.handle(.opened(session, wider)) == [.load(fixture.key(2))])
  }

  @Test(.rule("TRANSFER-09"), arguments: [2, 3])
  func `the device loads at most the configured number of tasks at the same time`(count: Int) {
    var fixture = LoadingFixture { $0.maximumLoads = count }
    for number in 1...count { #expect(fixture.create() == [.load(fixture.key(number))]) }
    let next = fixture.key(count + 1)
    #expect(fixture.create() == [.waits(next, .turn)])
    #expect(fixture.handle(.ended(fixture.key(1))) == [.load(next)])
  }

  @Test(.rule("TRANSFER-10")) func `waiting tasks load in the order of priority, then of age`() {
    var fixture = LoadingFixture(SessionConfiguration(httpMaximumConnectionsPerHost: 1))
    _ = fixture.create()
    _ = fixture.create()
    _ = fixture.create(priority: 0.75)
    _ = fixture.create()
    let key = fixture.key(4)
    #expect(fixture.handle(.changed(key, isSuspended: nil, priority: 1, earliestBeginDate: nil)) == [])
    var order: [LoadingFixture.Action] = []
    for number in [1, 4, 3] { order += fixture.handle(.ended(fixture.key(number))) }
    #expect(order == [.load(fixture.key(4)), .load(fixture.key(3)), .load(fixture.key(2))])
  }

  // MARK: Suspension

  @Test func `tasks that were under way at a trap load one at a time, until the attempt of each ends`() {
    var fixture = LoadingFixture()
    fixture.stateMachine = LoadingStateMachine(
      settings: TransferSettings(), families: AppFamilies(),
      suspects: [fixture.key(1), fixture.key(2), fixture.key(3)])
    fixture.open(widget)
    let loads = (1...4).map { number in
      fixture.create(host: "http://\(number)").filter { $0 == .load(fixture.key(number)) }
    }
    #expect(loads.map(\.count) == [1, 0, 0, 1])
    #expect(fixture.handle(.stopped(fixture.key(1))).contains(.load(fixture.key(2))))
    #expect(fixture.handle(.failed(fixture.key(2), progressed: false)).contains(.load(fixture.key(3))))
    // The first is suspect no longer: it loads beside the third.
    #expect(fixture.stateMachine.loading == 3)
  }

  @Test func `a suspended task stops, passes its connection to the next task and continues after resume`() {
    var fixture = LoadingFixture(SessionConfiguration(httpMaximumConnectionsPerHost: 1))
    _ = fixture.create()
    _ = fixture.create()
    let (one, two) = (fixture.key(1), fixture.key(2))
    #expect(fixture.handle(.changed(one, isSuspended: true, priority: nil, earliestBeginDate: nil)) == [.stop(one)])
    #expect(fixture.handle(.stopped(one)) == [.load(two), .waits(one, .suspended)])
    #expect(
      fixture.handle(.changed(one, isSuspended: false, priority: nil, earliestBeginDate: nil))
        == [.waits(one, .connection(host: "http://a"))])
    #expect(fixture.handle(.ended(two)) == [.load(one)])
  }

  @Test func `an attempt that was asked to stop does not count as a failure, even if it fails`() {
    var fixture = LoadingFixture()
    _ = fixture.create()
    let key = fixture.key(1)
    _ = fixture.handle(.changed(key, isSuspended: true, priority: nil, earliestBeginDate: nil))
    #expect(fixture.handle(.failed(key, progressed: false)) == [.waits(key, .suspended)])
    #expect(fixture.stateMachine.transfers[key]?.failures == 0)
  }

  // MARK: Retries

  @Test(.rule("TRANSFER-03"), arguments: [(1.0, 60.0), (5, 60), (1, 6)])
  func `a failed attempt is repeated after a pause that doubles up to the configured limit`(first: Double, most: Double)
  {
    var fixture = LoadingFixture {
      $0.resumeAfter = first
      $0.resumeAfterMax = most
    }
    _ = fixture.create()
    let key = fixture.key(1)
    for failure in 0..<10 {
      let pause = min(most, first * Double(1 << failure))
      #expect(fixture.handle(.failed(key, progressed: false)) == [])
      #expect(fixture.stateMachine.nextInstant == fixture.now + pause)
      #expect(fixture.pass() == [.load(key)])
    }
    #expect(fixture.handle(.failed(key, progressed: true)) == [])
    #expect(fixture.stateMachine.nextInstant == fixture.now + first)
    #expect(fixture.stateMachine.transfers[key]?.attempts == 11)
  }

  @Test func `a task in its retry pause passes its connection to the next task`() {
    var fixture = LoadingFixture(SessionConfiguration(httpMaximumConnectionsPerHost: 1))
    _ = fixture.create()
    _ = fixture.create()
    #expect(fixture.handle(.failed(fixture.key(1), progressed: false)) == [.load(fixture.key(2))])
  }

  @Test(.rule("TRANSFER-02"), arguments: [3.0, 10.0])
  func `a task fails when its resource timeout passes, which includes the time it waits`(
    time: Double
  ) {
    #expect(SessionConfiguration().timeoutIntervalForResource == 7 * 86_400)
    var fixture = LoadingFixture(SessionConfiguration(timeoutIntervalForResource: time))
    _ = fixture.create()
    let key = fixture.key(1)
    let end = fixture.now + time
    var actions: [LoadingFixture.Action] = []
    while actions.isEmpty || actions == [.load(key)] {
      _ = fixture.handle(.failed(key, progressed: false))
      actions = fixture.pass()
    }
    #expect(fixture.now == end)
    #expect(actions == [.expire(key, unavailableReason: nil)])
    #expect(fixture.handle(.ended(key)) == [])
    #expect(fixture.stateMachine.nextInstant == nil)
  }

  // MARK: Earliest begin dates

  @Test(.rule("TRANSFER-11")) func `a task does not begin before its earliest begin date`() {
    var fixture = LoadingFixture()
    let date = fixture.now + 3600
    let key = fixture.key(1)
    #expect(fixture.create(date: date) == [.waits(key, .date(date))])
    #expect(
      fixture.handle(.changed(key, isSuspended: nil, priority: nil, earliestBeginDate: date - 60))
        == [.waits(key, .date(date - 60))])
    #expect(fixture.pass() == [.load(key)])
    #expect(fixture.now == date - 60)
  }

  @Test(.rule("TRANSFER-12"))
  func `a delayed task asks its owner once before it begins, and the new request can name another host`() {
    var fixture = LoadingFixture(network: NetworkState(path: .off))
    let date = fixture.now + 60
    let key = fixture.key(1)
    _ = fixture.create(date: date, asks: true)
    #expect(fixture.pass() == [.waits(key, .connectivity)])
    #expect(fixture.handle(.network(NetworkState())) == [.ask(key), .waits(key, .ownerReply)])
    #expect(fixture.handle(.network(NetworkState(path: .off))) == [.waits(key, .connectivity)])
    #expect(fixture.handle(.network(NetworkState())) == [.waits(key, .ownerReply)])
    #expect(fixture.handle(.answered(key, host: "http://b")) == [.load(key)])
    #expect(fixture.stateMachine.transfers[key]?.host == "http://b")
  }

  // MARK: Ends and restarts

  @Test func `a task that is ending loads no more, and passes its connection on when it has ended`() {
    var fixture = LoadingFixture(SessionConfiguration(httpMaximumConnectionsPerHost: 1))
    _ = fixture.create()
    _ = fixture.create()
    #expect(fixture.handle(.ending(fixture.key(1))) == [])
    #expect(fixture.handle(.stopped(fixture.key(1))) == [])
    #expect(fixture.handle(.ended(fixture.key(1))) == [.load(fixture.key(2))])
    #expect(fixture.handle(.ending(fixture.key(2))) == [])
    #expect(fixture.handle(.ended(fixture.key(2))) == [])
  }

  @Test func `after a restart the host loads unfinished tasks in the order of their creation`() {
    var fixture = LoadingFixture(SessionConfiguration(httpMaximumConnectionsPerHost: 1))
    for _ in 1...3 { _ = fixture.create() }
    let transfers = (1...3).compactMap { number in
      fixture.stateMachine.transfers[fixture.key(number)].map {
        LoadingStateMachine.Transfer(key: $0.key, host: $0.host, created: $0.created, failures: 2)
      }
    }
    var second = LoadingStateMachine(
      sessions: fixture.stateMachine.sessions, transfers: transfers, settings: TransferSettings())
    let wait = LoadingStateMachine.WaitReason.connection(host: "http://a")
    #expect(
      second.handle(.began, now: fixture.now)
        == [.load(fixture.key(1)), .waits(fixture.key(2), wait), .waits(fixture.key(3), wait)])
    _ = second.handle(.failed(fixture.key(1), progressed: false), now: fixture.now)
    #expect(second.nextInstant == fixture.now + 4)
  }

  @Test func `ten thousand tasks all load and leave no state behind`() {
    var fixture = LoadingFixture()
    let count = 10_000
    for _ in 1...count { _ = fixture.create() }
    var loaded = 0
    var running = (1...6).map { fixture.key($0) }
    while let key = running.popLast() {
      loaded += 1
      for case .load(let next) in fixture.handle(.ended(key)) { running.append(next) }
    }
    #expect(loaded == count)
    #expect(fixture.stateMachine.nextInstant == nil)
    #expect(fixture.stateMachine.hostQueues.isEmpty)
  }
}
