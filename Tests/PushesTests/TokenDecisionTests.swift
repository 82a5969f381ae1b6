import Archive
import Conversations
import Foundation
import Testing

@testable import Pushes

/// A decision, and its answers in words.
private struct Bench {
  var decision: TokenDecision
  init(_ products: [PushProduct] = products(), hasWidgetPushes: Bool = true, _ state: TokenDecision.State = .init()) {
    decision = TokenDecision(products: products, hasWidgetPushes: hasWidgetPushes, state: state)
  }

  @discardableResult
  mutating func take(_ event: TokenDecision.Event) -> [String] { decision.take(event).map(\.words) }

  /// Calls the handlers that are to be called now.
  @discardableResult
  mutating func tell(_ address: Address = widget) -> [String] {
    var words: [String] = []
    var answers = decision.take(.awake(address))
    while case .tell(let told, let telling)? = answers.first(where: { if case .tell = $0 { true } else { false } }) {
      words += answers.map(\.words)
      answers = decision.take(.told(told, telling))
    }
    return words + answers.map(\.words)
  }

  /// One with a token and a widget of which the handler knows.
  static func told() -> Bench {
    var bench = Bench()
    bench.take(.widgets(widgets([1])))
    bench.take(.issued(widgetsKey, "aa"))
    bench.tell()
    return bench
  }
}

@Suite struct `a token for widgets` {
  @Test func `is asked for when the first widget is placed, and told to its extension`() {
    var bench = Bench()
    #expect(bench.take(.widgets(widgets([]))) == [])
    #expect(bench.take(.widgets(widgets([1]))) == ["tokens"])
    #expect(bench.decision.state.tokens[widgetsKey]?.phase == .asking)
    #expect(bench.take(.issued(widgetsKey, "aa")) == ["want \(widget.short)"])
    #expect(bench.tell() == ["tell \(widget.short) aa [1]", "release \(widget.short)"])
    #expect(bench.tell() == [])
  }

  @Test func `is not asked for again when a second widget is placed, which the handler is told`() {
    var bench = Bench.told()
    #expect(bench.take(.widgets(widgets([1, 2]))) == ["want \(widget.short)"])
    #expect(bench.tell() == ["tell \(widget.short) aa [1, 2]", "release \(widget.short)"])
  }

  @Test func `is given back when the last widget is removed, and the handler is told that there is none`() {
    var bench = Bench.told()
    #expect(bench.take(.widgets(widgets([]))) == ["tokens", "want \(widget.short)"])
    #expect(bench.decision.state.tokens[widgetsKey]?.phase == .releasing)
    #expect(bench.tell() == ["tell \(widget.short) aa []", "release \(widget.short)"])
    bench.take(.released(widgetsKey))
    #expect(bench.decision.state.tokens.isEmpty)
    #expect(bench.take(.widgets(widgets([3]))) == ["tokens"])
    bench.take(.issued(widgetsKey, "bb"))
    #expect(bench.tell() == ["tell \(widget.short) bb [3]", "release \(widget.short)"])
  }

  @Test func `that is wanted again before it was given back is asked for after that`() {
    var bench = Bench.told()
    bench.take(.widgets(widgets([])))
    bench.take(.widgets(widgets([2])))
    #expect(bench.decision.state.tokens[widgetsKey]?.phase == .releasing)
    #expect(bench.take(.released(widgetsKey)).contains("tokens"))
    #expect(bench.decision.state.tokens[widgetsKey]?.phase == .asking)
  }

  @Test func `that was replaced is told, in place of the former`() {
    var bench = Bench.told()
    #expect(bench.take(.replaced(widgetsKey, "bb")) == ["want \(widget.short)"])
    #expect(bench.tell() == ["tell \(widget.short) bb [1]", "release \(widget.short)"])
  }

  @Test func `that is no longer active is asked for anew, while a widget is placed`() {
    var bench = Bench.told()
    #expect(bench.take(.replaced(widgetsKey, nil)) == ["tokens", "tokens"])
    #expect(bench.decision.token(widgetsKey) == nil)
    #expect(bench.take(.issued(widgetsKey, "bb")) == ["want \(widget.short)"])
  }

  @Test func `is one for all extensions of the app, and each extension is told of all widgets`() {
    var bench = Bench()
    bench.take(.widgets(widgets([1], others: [2])))
    #expect(Set(bench.take(.issued(widgetsKey, "aa"))) == ["want \(widget.short)", "want \(other.short)"])
    #expect(bench.tell().first == "tell \(widget.short) aa [1, 2]")
    #expect(bench.tell(other).first == "tell \(other.short) aa [1, 2]")
  }

  @Test func `is not given to an extension without the entitlement, which is said once`() {
    var bench = Bench(products(nil))
    #expect(bench.take(.widgets(widgets([1]))) == ["withheld \(widget.short) no-entitlement"])
    #expect(bench.take(.widgets(widgets([1, 2]))) == [])
    #expect(bench.decision.state.tokens.isEmpty)
  }

  @Test func `is not given by a system that is older than pushes to widgets`() {
    var bench = Bench(hasWidgetPushes: false)
    #expect(bench.take(.widgets(widgets([1]))) == ["withheld \(widget.short) system-too-old"])
    #expect(bench.decision.state.tokens.isEmpty)
  }

  @Test func `is asked for anew when the entitlement is for the other environment`() {
    let held = Bench.told().decision.state
    var bench = Bench(products(.production), held)
    #expect(bench.take(.widgets(widgets([1]))) == ["tokens"])
    bench.take(.released(widgetsKey))
    #expect(bench.decision.state.tokens[widgetsKey]?.environment == .production)
  }

  @Test func `is the push info of app and extensions, while a widget is placed`() {
    var bench = Bench.told()
    #expect([app, widget, other].map { bench.decision.pushInfo(askedBy: $0) } == ["aa", "aa", "aa"])
    bench.take(.widgets(widgets([])))
    #expect(bench.decision.pushInfo(askedBy: widget) == nil)
  }
}

@Suite struct `calls of push handlers` {
  @Test func `are owed over the host's death until they are acknowledged`() throws {
    var first = Bench()
    first.take(.widgets(widgets([1])))
    first.take(.issued(widgetsKey, "aa"))
    let kept = try BodyCoding.decode(
      TokenDecision.State.self, from: Array(BodyCoding.data(first.decision.state)))
    var second = Bench(products(), kept)
    #expect(second.take(.widgets(widgets([1]))) == ["want \(widget.short)"])
    second.tell()
    var third = Bench(products(), second.decision.state)
    #expect(third.take(.widgets(widgets([1]))) == [])
  }

  @Test func `come again in the next life, and after a second death wait for a life that begins for something else`() {
    var bench = Bench()
    bench.take(.widgets(widgets([1])))
    bench.take(.issued(widgetsKey, "aa"))
    bench.take(.awake(widget))
    #expect(bench.take(.lifeEnded(widget)) == [])
    #expect(bench.take(.awake(widget)) == ["tell \(widget.short) aa [1]"])
    #expect(bench.take(.lifeEnded(widget)) == ["release \(widget.short)"])
    #expect(bench.take(.widgets(widgets([1]))) == [])
    #expect(bench.take(.awake(widget)) == ["tell \(widget.short) aa [1]"])
  }

  @Test func `that something changed under are followed by one with what is new`() {
    var bench = Bench()
    bench.take(.widgets(widgets([1])))
    bench.take(.issued(widgetsKey, "aa"))
    bench.take(.awake(widget))
    bench.take(.widgets(widgets([1, 2])))
    let former = TokenDecision.Telling(token: "aa", widgets: [placement(1)])
    #expect(bench.take(.told(widget, former)) == ["tell \(widget.short) aa [1, 2]"])
  }
}

@Suite struct `a token for the app` {
  @Test func `is asked for when the app registers, and told when it is there`() {
    var bench = Bench()
    #expect(bench.take(.register(app: coffee)) == ["tokens"])
    #expect(bench.take(.issued(appKey, "cc")) == ["registered cc"])
    #expect(bench.take(.register(app: coffee)) == ["registered cc"])
  }

  @Test func `is none without the entitlement`() {
    var bench = Bench(products(nil))
    #expect(bench.take(.register(app: coffee)) == ["withheld \(app.short) no-entitlement"])
    #expect(!bench.decision.isRegistered(coffee))
  }

  @Test func `that was replaced is told to the process that knows the former`() {
    var bench = Bench()
    bench.take(.register(app: coffee))
    bench.take(.issued(appKey, "cc"))
    #expect(bench.take(.replaced(appKey, "dd")).contains("tell app dd"))
    #expect(bench.take(.appTold(app: coffee, "dd")) == [])
    bench.take(.lifeEnded(app))
    #expect(!bench.take(.replaced(appKey, "ee")).contains("tell app ee"))
  }

  @Test func `that is no longer active waits until the app registers again`() {
    var bench = Bench()
    bench.take(.register(app: coffee))
    bench.take(.issued(appKey, "cc"))
    bench.take(.replaced(appKey, nil))
    #expect(bench.decision.state.tokens.isEmpty)
    #expect(bench.take(.register(app: coffee)) == ["tokens"])
  }

  @Test func `is given back when the app unregisters`() {
    var bench = Bench()
    bench.take(.register(app: coffee))
    bench.take(.issued(appKey, "cc"))
    #expect(bench.take(.unregister(app: coffee)) == ["not registered", "tokens"])
    #expect(bench.decision.state.tokens[appKey]?.phase == .releasing)
  }
}
