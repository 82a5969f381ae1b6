import Conversations
import Foundation
import Testing

@testable import Transfers

let app = Address.app("iphone", "com.example")

/// A decision with sessions, and the time.
struct LoadingBench {
  typealias Answer = LoadingDecision.Answer
  var decision: LoadingDecision
  var now = Date(timeIntervalSince1970: 1_000_000_000)
  private var created = 0

  init(
    _ configuration: SessionConfiguration = SessionConfiguration(), owner: Address = widget,
    network: NetworkState = NetworkState(), _ change: (inout TransferSettings) -> Void = { _ in }
  ) {
    var settings = TransferSettings()
    change(&settings)
    decision = LoadingDecision(
      network: network, settings: settings, families: AppFamilies(apps: ["com.example"]))
    open(owner, configuration)
  }

  mutating func open(_ owner: Address, _ configuration: SessionConfiguration = SessionConfiguration()) {
    let session = SessionKey(owner: owner, identifier: "figures")
    _ = take(.opened(session, LoadingDecision.Terms(configuration)))
  }

  func key(_ number: Int, _ owner: Address = widget) -> TaskKey {
    TaskKey(session: SessionKey(owner: owner, identifier: "figures"), identifier: number)
  }

  mutating func take(_ event: LoadingDecision.Event) -> [Answer] { decision.take(event, now: now) }

  /// Creates the next task.
  mutating func create(
    _ owner: Address = widget, host: String = "http://a", access: LoadingDecision.Access = .init(),
    priority: Float = 0.5, date: Date? = nil, asks: Bool = false
  ) -> [Answer] {
    created += 1
    return take(
      .created(
        LoadingDecision.Transfer(
          key: key(created, owner), host: host, access: access, created: now,
          isInBackground: !decision.isInFront(owner), priority: priority, earliestBeginDate: date,
          asksBeforeBegin: asks)))
  }

  /// Lets time pass until the next instant, and says so.
  mutating func pass() -> [Answer] {
    guard let instant = decision.nextInstant else { return [] }
    now = max(now, instant)
    return take(.instantCame)
  }
}

@Suite struct LoadingDecisionTests {
  @Test func `a task that nothing is in the way of loads at once`() {
    var bench = LoadingBench()
    #expect(bench.create() == [.load(bench.key(1))])
    #expect(bench.take(.ended(bench.key(1))) == [])
    #expect(bench.decision.transfers.isEmpty)
  }

  // MARK: Connections and turns

  @Test(arguments: [1, 2]) func `a session has so many connections to a host as its configuration says`(count: Int) {
    var bench = LoadingBench(SessionConfiguration(httpMaximumConnectionsPerHost: count))
    for number in 1...count { #expect(bench.create() == [.load(bench.key(number))]) }
    let next = bench.key(count + 1)
    #expect(bench.create() == [.waits(next, .connection(host: "http://a"))])
    #expect(bench.create(host: "http://b") == [.load(bench.key(count + 2))])
    #expect(bench.take(.ended(bench.key(1))) == [.load(next)])
  }

  @Test func `more connections, once the session is created again with them`() {
    var bench = LoadingBench(SessionConfiguration(httpMaximumConnectionsPerHost: 1))
    for _ in 1...3 { _ = bench.create() }
    let session = bench.key(1).session
    let wider = LoadingDecision.Terms(SessionConfiguration(httpMaximumConnectionsPerHost: 2))
    #expect(bench.take(.opened(session, wider)) == [.load(bench.key(2))])
  }

  @Test(arguments: [2, 3]) func `so many tasks load on the device at the same time as the setting says`(count: Int) {
    var bench = LoadingBench { $0.maximumLoads = count }
    for number in 1...count { #expect(bench.create() == [.load(bench.key(number))]) }
    let next = bench.key(count + 1)
    #expect(bench.create() == [.waits(next, .turn)])
    #expect(bench.take(.ended(bench.key(1))) == [.load(next)])
  }

  @Test func `a higher priority comes first, then the older task`() {
    var bench = LoadingBench(SessionConfiguration(httpMaximumConnectionsPerHost: 1))
    _ = bench.create()
    _ = bench.create()
    _ = bench.create(priority: 0.75)
    _ = bench.create()
    let key = bench.key(4)
    #expect(bench.take(.changed(key, isSuspended: nil, priority: 1, earliestBeginDate: nil)) == [])
    var order: [LoadingBench.Answer] = []
    for number in [1, 4, 3] { order += bench.take(.ended(bench.key(number))) }
    #expect(order == [.load(bench.key(4)), .load(bench.key(3)), .load(bench.key(2))])
  }

  // MARK: Suspension

  @Test func `a suspended task stops where it is, gives its connection to another and goes on when it is resumed`() {
    var bench = LoadingBench(SessionConfiguration(httpMaximumConnectionsPerHost: 1))
    _ = bench.create()
    _ = bench.create()
    let (one, two) = (bench.key(1), bench.key(2))
    #expect(bench.take(.changed(one, isSuspended: true, priority: nil, earliestBeginDate: nil)) == [.stop(one)])
    #expect(bench.take(.stopped(one)) == [.load(two), .waits(one, .suspended)])
    #expect(
      bench.take(.changed(one, isSuspended: false, priority: nil, earliestBeginDate: nil))
        == [.waits(one, .connection(host: "http://a"))])
    #expect(bench.take(.ended(two)) == [.load(one)])
  }

  @Test func `an attempt that was told to stop counts as no failure, however it ended`() {
    var bench = LoadingBench()
    _ = bench.create()
    let key = bench.key(1)
    _ = bench.take(.changed(key, isSuspended: true, priority: nil, earliestBeginDate: nil))
    #expect(bench.take(.failed(key, progressed: false)) == [.waits(key, .suspended)])
    #expect(bench.decision.transfers[key]?.failures == 0)
  }

  // MARK: Retries

  @Test(arguments: [(1.0, 60.0), (5, 60), (1, 6)])
  func `a failed attempt is made again after a pause that doubles to a minute`(first: Double, most: Double) {
    var bench = LoadingBench {
      $0.resumePause = first
      $0.resumePauseLimit = most
    }
    _ = bench.create()
    let key = bench.key(1)
    for failure in 0..<10 {
      let pause = min(most, first * Double(1 << failure))
      #expect(bench.take(.failed(key, progressed: false)) == [])
      #expect(bench.decision.nextInstant == bench.now + pause)
      #expect(bench.pass() == [.load(key)])
    }
    #expect(bench.take(.failed(key, progressed: true)) == [])
    #expect(bench.decision.nextInstant == bench.now + first)
    #expect(bench.decision.transfers[key]?.attempts == 11)
  }

  @Test func `a task that pauses leaves its connection to others`() {
    var bench = LoadingBench(SessionConfiguration(httpMaximumConnectionsPerHost: 1))
    _ = bench.create()
    _ = bench.create()
    #expect(bench.take(.failed(bench.key(1), progressed: false)) == [.load(bench.key(2))])
  }

  @Test(arguments: [3.0, 10.0]) func `a task fails when the time for its resource is over, waiting included`(
    time: Double
  ) {
    var bench = LoadingBench(SessionConfiguration(timeoutIntervalForResource: time))
    _ = bench.create()
    let key = bench.key(1)
    let end = bench.now + time
    var answers: [LoadingBench.Answer] = []
    while answers.isEmpty || answers == [.load(key)] {
      _ = bench.take(.failed(key, progressed: false))
      answers = bench.pass()
    }
    #expect(bench.now == end)
    #expect(answers == [.expire(key, unavailableReason: nil)])
    #expect(bench.take(.ended(key)) == [])
    #expect(bench.decision.nextInstant == nil)
  }

  // MARK: Dates

  @Test func `a task does not begin before its earliest date`() {
    var bench = LoadingBench()
    let date = bench.now + 3600
    let key = bench.key(1)
    #expect(bench.create(date: date) == [.waits(key, .date(date))])
    #expect(
      bench.take(.changed(key, isSuspended: nil, priority: nil, earliestBeginDate: date - 60))
        == [.waits(key, .date(date - 60))])
    #expect(bench.pass() == [.load(key)])
    #expect(bench.now == date - 60)
  }

  @Test func `the owner is asked once when a task could begin, and its new request may go to another host`() {
    var bench = LoadingBench(network: NetworkState(path: .off))
    let date = bench.now + 60
    let key = bench.key(1)
    _ = bench.create(date: date, asks: true)
    #expect(bench.pass() == [.waits(key, .connectivity)])
    #expect(bench.take(.network(NetworkState())) == [.ask(key), .waits(key, .answer)])
    #expect(bench.take(.network(NetworkState(path: .off))) == [.waits(key, .connectivity)])
    #expect(bench.take(.network(NetworkState())) == [.waits(key, .answer)])
    #expect(bench.take(.answered(key, host: "http://b")) == [.load(key)])
    #expect(bench.decision.transfers[key]?.host == "http://b")
  }

  // MARK: Ends

  @Test func `a task that is about to end loads no more, and gives its connection back at its end`() {
    var bench = LoadingBench(SessionConfiguration(httpMaximumConnectionsPerHost: 1))
    _ = bench.create()
    _ = bench.create()
    #expect(bench.take(.ending(bench.key(1))) == [])
    #expect(bench.take(.stopped(bench.key(1))) == [])
    #expect(bench.take(.ended(bench.key(1))) == [.load(bench.key(2))])
    #expect(bench.take(.ending(bench.key(2))) == [])
    #expect(bench.take(.ended(bench.key(2))) == [])
  }

  @Test func `a host that begins again loads what has not ended, in the order of creation`() {
    var bench = LoadingBench(SessionConfiguration(httpMaximumConnectionsPerHost: 1))
    for _ in 1...3 { _ = bench.create() }
    let transfers = (1...3).compactMap { number in
      bench.decision.transfers[bench.key(number)].map {
        LoadingDecision.Transfer(key: $0.key, host: $0.host, created: $0.created, failures: 2)
      }
    }
    var second = LoadingDecision(
      sessions: bench.decision.sessions, transfers: transfers, settings: TransferSettings())
    let wait = LoadingDecision.Wait.connection(host: "http://a")
    #expect(
      second.take(.began, now: bench.now)
        == [.load(bench.key(1)), .waits(bench.key(2), wait), .waits(bench.key(3), wait)])
    _ = second.take(.failed(bench.key(1), progressed: false), now: bench.now)
    #expect(second.nextInstant == bench.now + 4)
  }

  @Test func `many tasks cost as little each as few`() {
    var bench = LoadingBench()
    let count = 10_000
    for _ in 1...count { _ = bench.create() }
    var loaded = 0
    var running = (1...6).map { bench.key($0) }
    while let key = running.popLast() {
      loaded += 1
      for case .load(let next) in bench.take(.ended(key)) { running.append(next) }
    }
    #expect(loaded == count)
    #expect(bench.decision.nextInstant == nil)
    #expect(bench.decision.lanes.isEmpty)
  }
}
