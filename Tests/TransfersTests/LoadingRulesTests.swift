import Conversations
import Foundation
import Testing

@testable import Transfers

/// The rules of the network, of discretion and of the resume rate limiter, with their settings turned.
@Suite struct LoadingRulesTests {
  private let off = NetworkState(path: .off)
  private let cellular = NetworkState(path: .cellular)
  private let wifi = NetworkState()

  // MARK: The network

  @Test func `without a network tasks stop where they are and wait, and go on when there is one`() {
    var bench = LoadingBench()
    _ = bench.create()
    let key = bench.key(1)
    #expect(bench.take(.network(off)) == [.stop(key)])
    #expect(bench.take(.stopped(key)) == [.waits(key, .connectivity)])
    #expect(bench.create() == [.waits(bench.key(2), .connectivity)])
    #expect(bench.take(.network(off)) == [])
    #expect(bench.take(.network(wifi)) == [.load(key), .load(bench.key(2))])
  }

  @Test func `a pause between attempts ends when the network changes`() {
    var bench = LoadingBench()
    _ = bench.create()
    _ = bench.take(.failed(bench.key(1), progressed: false))
    #expect(bench.take(.network(cellular)) == [.load(bench.key(1))])
  }

  @Test func `another path breaks connections, another rate does not`() {
    var bench = LoadingBench()
    _ = bench.create()
    #expect(bench.take(.network(NetworkState(rate: 1000))) == [])
    #expect(bench.take(.network(cellular)) == [.stop(bench.key(1))])
    #expect(bench.take(.stopped(bench.key(1))) == [.load(bench.key(1))])
  }

  @Test(arguments: [
    (LoadingDecision.Access(cellular: false), NetworkState(path: .cellular), 0),
    (LoadingDecision.Access(expensive: false), NetworkState(path: .cellular), 1),
    (LoadingDecision.Access(constrained: false), NetworkState(isConstrained: true), 2),
  ])
  func `a task waits for a network that session and request permit, and says why when its time is over`(
    access: LoadingDecision.Access, network: NetworkState, reason: Int
  ) {
    // The request's word and the session's count alike.
    for isOfSession in [true, false] {
      let configuration = SessionConfiguration(
        timeoutIntervalForResource: 60, allowsCellularAccess: !isOfSession || access.cellular,
        allowsExpensiveNetworkAccess: !isOfSession || access.expensive,
        allowsConstrainedNetworkAccess: !isOfSession || access.constrained)
      var bench = LoadingBench(configuration, network: network)
      let key = bench.key(1)
      #expect(bench.create(access: isOfSession ? .init() : access) == [.waits(key, .permittedNetwork)])
      #expect(bench.pass() == [.expire(key, unavailableReason: reason)])
    }
  }

  // MARK: Discretion

  @Test(arguments: [true, false]) func `a discretionary task waits for Wi-Fi`(needsWiFi: Bool) {
    var bench = LoadingBench(SessionConfiguration(isDiscretionary: true), network: cellular) {
      $0.discretionaryNeedsWiFi = needsWiFi
    }
    let key = bench.key(1)
    #expect(bench.create() == (needsWiFi ? [.waits(key, .wifi)] : [.load(key)]))
    if needsWiFi { #expect(bench.take(.network(wifi)) == [.load(key)]) }
  }

  @Test func `what an app creates behind the front is discretionary, and in front only when it says so`() {
    var bench = LoadingBench(owner: app, network: cellular)
    #expect(bench.create(app) == [.waits(bench.key(1, app), .wifi)])
    _ = bench.take(.front(app, true))
    #expect(bench.create(app) == [.load(bench.key(2, app))])
    bench.open(app, SessionConfiguration(isDiscretionary: true))
    #expect(bench.create(app) == [.waits(bench.key(3, app), .wifi)])
  }

  @Test(arguments: [true, false]) func `whether what a widget creates is discretionary is a setting`(isSo: Bool) {
    var bench = LoadingBench(network: cellular) { $0.widgetTransfersAreDiscretionary = isSo }
    #expect(bench.create() == (isSo ? [.waits(bench.key(1), .wifi)] : [.load(bench.key(1))]))
  }

  // MARK: The resume rate limiter

  private func limiter(_ bench: LoadingBench, _ delay: Double, since: Date) -> LoadingDecision.Limiter {
    LoadingDecision.Limiter(owner: widget, delay: delay, since: since, until: bench.now + delay)
  }

  @Test(arguments: [60.0, 5.0])
  func `each wake doubles how long a task that is created in the background waits`(first: Double) {
    var bench = LoadingBench { $0.limiterFirst = first }
    let began = bench.now
    for delay in [first, first * 2, first * 4] {
      let limiter = limiter(bench, delay, since: began)
      #expect(bench.take(.woken(widget)) == [.limiter(account: widget.text, limiter, reason: "woken")])
      bench.now += 1
    }
    let key = bench.key(1)
    #expect(bench.create() == [.waits(key, .limiter)])
    let limiter = LoadingDecision.Limiter(owner: widget, delay: 0, since: began, until: began + 2 + first * 4)
    #expect(bench.pass() == [.limiter(account: widget.text, limiter, reason: "passed unused"), .load(key)])
    #expect(bench.now == began + 2 + first * 4)
    #expect(bench.take(.woken(widget)).count == 1)
    #expect(bench.decision.limiters[widget.text]?.delay == first)
  }

  @Test(arguments: [86_400.0, 100]) func `no delay of the limiter is longer than the setting says`(most: Double) {
    var bench = LoadingBench { $0.limiterLimit = most }
    for _ in 0..<20 { _ = bench.take(.woken(widget)) }
    #expect(bench.decision.limiters[widget.text]?.delay == most)
  }

  @Test func `no first delay turns the limiter off`() {
    var bench = LoadingBench { $0.limiterFirst = 0 }
    #expect(bench.take(.woken(widget)) == [])
    #expect(bench.create() == [.load(bench.key(1))])
  }

  @Test(arguments: [true, false]) func `whether the limiter holds what a widget creates is a setting`(isSo: Bool) {
    var bench = LoadingBench { $0.limiterAppliesToWidgets = isSo }
    _ = bench.take(.woken(widget))
    #expect(bench.create() == (isSo ? [.waits(bench.key(1), .limiter)] : [.load(bench.key(1))]))
  }

  @Test(arguments: [true, false]) func `whether an extension and its app raise one limiter is a setting`(isSo: Bool) {
    var bench = LoadingBench { $0.limiterIsSharedWithApp = isSo }
    bench.open(app)
    _ = bench.take(.woken(widget))
    #expect(bench.create(app) == (isSo ? [.waits(bench.key(1, app), .limiter)] : [.load(bench.key(1, app))]))
  }

  @Test func `the limiter is reset when the app comes to the front, and does not hold what is created there`() {
    var bench = LoadingBench(owner: app)
    _ = bench.take(.woken(app))
    #expect(bench.create(app) == [.waits(bench.key(1, app), .limiter)])
    let answers = bench.take(.front(app, true))
    #expect(answers.last == .load(bench.key(1, app)))
    #expect(bench.decision.limiters.isEmpty)
    #expect(bench.take(.woken(app)) == [])
    #expect(bench.create(app) == [.load(bench.key(2, app))])
    _ = bench.take(.front(app, false))
    _ = bench.take(.woken(app))
    #expect(bench.create(app) == [.waits(bench.key(3, app), .limiter)])
  }

  @Test func `what was created before the wake is let through`() {
    var bench = LoadingBench(SessionConfiguration(httpMaximumConnectionsPerHost: 1))
    _ = bench.create()
    _ = bench.create()
    bench.now += 1
    _ = bench.take(.woken(widget))
    #expect(bench.take(.ended(bench.key(1))) == [.load(bench.key(2))])
  }

  @Test func `a limiter that passed while the host was dead is off`() {
    let bench = LoadingBench()
    var second = LoadingDecision(
      sessions: bench.decision.sessions, limiters: [widget.text: limiter(bench, 60, since: bench.now)],
      settings: TransferSettings())
    let answers = second.take(.began, now: bench.now + 61)
    #expect(answers.count == 1)
    #expect(second.limiters.isEmpty)
  }

  // MARK: Families

  @Test func `an extension belongs to the app whose bundle identifier its own begins with`() {
    let families = AppFamilies(apps: ["com.example", "com.example.other"])
    #expect(families.family(of: widget) == "com.example")
    #expect(families.family(of: .widgetExtension("iphone", "com.example.other.W")) == "com.example.other")
    #expect(families.family(of: .widgetExtension("iphone", "com.examples.W")) == "com.examples.W")
  }
}
