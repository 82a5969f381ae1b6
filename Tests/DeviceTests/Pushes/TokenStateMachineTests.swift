// SPDX-License-Identifier: Apache-2.0

import Archive
import FidelityRules
import Foundation
import Messages
import Testing

@testable import Device
@testable import DeviceRules

private let app = PushSamples.app
private let widget = PushSamples.widget
private let other = PushSamples.other

/// A state machine. Its actions are returned as text.
private struct TokenFixture {
  var stateMachine: TokenStateMachine
  init(_ products: [PushProduct] = products(), hasWidgetPushes: Bool = true, _ state: TokenStateMachine.State = .init())
  {
    stateMachine = TokenStateMachine(products: products, hasWidgetPushes: hasWidgetPushes, state: state)
  }

  @discardableResult
  mutating func handle(_ event: TokenStateMachine.Event) -> [String] { stateMachine.handle(event).map(\.words) }

  /// Performs the pending calls of the handlers.
  @discardableResult
  mutating func notify(_ address: Address = widget) -> [String] {
    var words: [String] = []
    var actions = stateMachine.handle(.awake(address))
    while case .notify(let notified, let notice)? = actions.first(where: {
      if case .notify = $0 { true } else { false }
    }) {
      words += actions.map(\.words)
      actions = stateMachine.handle(.notified(notified, notice))
    }
    return words + actions.map(\.words)
  }

  /// Returns a fixture with a token and a widget that the handler has received.
  static func notified() -> TokenFixture {
    var fixture = TokenFixture()
    fixture.handle(.widgets(widgets([1])))
    fixture.handle(.issued(widgetsKey, "aa"))
    fixture.notify()
    return fixture
  }
}

@Suite struct `Widget push tokens` {
  @Test(.rule("PUSH-01"))
  func `a token is requested when the first widget is placed and passed to the handler of its extension`() {
    var fixture = TokenFixture()
    #expect(fixture.handle(.widgets(widgets([]))) == [])
    #expect(fixture.handle(.widgets(widgets([1]))) == ["tokens"])
    #expect(fixture.stateMachine.state.tokens[widgetsKey]?.phase == .asking)
    #expect(fixture.handle(.issued(widgetsKey, "aa")) == ["want \(widget.short)"])
    #expect(fixture.notify() == ["tell \(widget.short) aa [1]", "release \(widget.short)"])
    #expect(fixture.notify() == [])
  }

  @Test(.rule("PUSH-24"))
  func `a push reloads widgets without a handler only if it is meant to, and only while one takes pushes`() {
    var fixture = TokenFixture()
    let plain = placement(3, "Plain", in: other)
    for pushReloadsAllWidgets in [false, true] {
      for taking in [[1], []] {
        var all = widgets(taking)
        all["com.example.Coffee.Other"] = PushWidgets(
          handlers: [], placements: [], others: pushReloadsAllWidgets ? [plain] : [])
        fixture.handle(.widgets(all))
        let expected = taking.isEmpty ? [] : pushReloadsAllWidgets ? [1, 3] : [1]
        #expect(fixture.stateMachine.reloadedPlacements[widgetsKey]?.map(\.id) == expected)
        #expect(fixture.stateMachine.placements(ofApp: coffee).map(\.id) == taking)
      }
    }
  }

  @Test func `a second widget causes a call of the handler and no request for a new token`() {
    var fixture = TokenFixture.notified()
    #expect(fixture.handle(.widgets(widgets([1, 2]))) == ["want \(widget.short)"])
    #expect(fixture.notify() == ["tell \(widget.short) aa [1, 2]", "release \(widget.short)"])
  }

  @Test(.rule("PUSH-01"))
  func `removing the last widget releases the token and calls the handler without widgets`() {
    var fixture = TokenFixture.notified()
    #expect(fixture.handle(.widgets(widgets([]))) == ["tokens", "want \(widget.short)"])
    #expect(fixture.stateMachine.state.tokens[widgetsKey]?.phase == .releasing)
    #expect(fixture.notify() == ["tell \(widget.short) aa []", "release \(widget.short)"])
    fixture.handle(.released(widgetsKey))
    #expect(fixture.stateMachine.state.tokens.isEmpty)
    #expect(fixture.handle(.widgets(widgets([3]))) == ["tokens"])
    fixture.handle(.issued(widgetsKey, "bb"))
    #expect(fixture.notify() == ["tell \(widget.short) bb [3]", "release \(widget.short)"])
  }

  @Test func `a token that is wanted again during its release is requested after the release`() {
    var fixture = TokenFixture.notified()
    fixture.handle(.widgets(widgets([])))
    fixture.handle(.widgets(widgets([2])))
    #expect(fixture.stateMachine.state.tokens[widgetsKey]?.phase == .releasing)
    #expect(fixture.handle(.released(widgetsKey)).contains("tokens"))
    #expect(fixture.stateMachine.state.tokens[widgetsKey]?.phase == .asking)
  }

  @Test func `a replaced token is passed to the handler`() {
    var fixture = TokenFixture.notified()
    #expect(fixture.handle(.replaced(widgetsKey, "bb")) == ["want \(widget.short)"])
    #expect(fixture.notify() == ["tell \(widget.short) bb [1]", "release \(widget.short)"])
  }

  @Test func `a token that is no longer active is requested again while a widget is placed`() {
    var fixture = TokenFixture.notified()
    #expect(fixture.handle(.replaced(widgetsKey, nil)) == ["tokens", "tokens"])
    #expect(fixture.stateMachine.token(widgetsKey) == nil)
    #expect(fixture.handle(.issued(widgetsKey, "bb")) == ["want \(widget.short)"])
  }

  @Test(.rule("PUSH-06")) func `all extensions of an app share one token, and each handler receives all widgets`() {
    var fixture = TokenFixture()
    fixture.handle(.widgets(widgets([1], others: [2])))
    #expect(Set(fixture.handle(.issued(widgetsKey, "aa"))) == ["want \(widget.short)", "want \(other.short)"])
    #expect(fixture.notify().first == "tell \(widget.short) aa [1, 2]")
    #expect(fixture.notify(other).first == "tell \(other.short) aa [1, 2]")
  }

  @Test(.rule("PUSH-03")) func `an extension without the entitlement gets no token, which is reported once`() {
    var fixture = TokenFixture(products(nil))
    #expect(fixture.handle(.widgets(widgets([1]))) == ["withheld \(widget.short) no-entitlement"])
    #expect(fixture.handle(.widgets(widgets([1, 2]))) == [])
    #expect(fixture.stateMachine.state.tokens.isEmpty)
  }

  @Test(.rule("PUSH-02")) func `a system version without widget pushes issues no token`() {
    var fixture = TokenFixture(hasWidgetPushes: false)
    #expect(fixture.handle(.widgets(widgets([1]))) == ["withheld \(widget.short) system-too-old"])
    #expect(fixture.stateMachine.state.tokens.isEmpty)
  }

  @Test func `a changed environment in the entitlement causes a request for a new token`() {
    let held = TokenFixture.notified().stateMachine.state
    var fixture = TokenFixture(products(.production), held)
    #expect(fixture.handle(.widgets(widgets([1]))) == ["tokens"])
    fixture.handle(.released(widgetsKey))
    #expect(fixture.stateMachine.state.tokens[widgetsKey]?.environment == .production)
  }

  @Test(.rule("PUSH-10")) func `push info of the app and its extensions has the token while a widget is placed`() {
    var fixture = TokenFixture.notified()
    #expect([app, widget, other].map { fixture.stateMachine.pushInfo(askedBy: $0) } == ["aa", "aa", "aa"])
    fixture.handle(.widgets(widgets([])))
    #expect(fixture.stateMachine.pushInfo(askedBy: widget) == nil)
  }
}

@Suite struct `Push handler calls` {
  @Test func `a call of a push handler stays pending across host restarts until it is acknowledged`() throws {
    var first = TokenFixture()
    first.handle(.widgets(widgets([1])))
    first.handle(.issued(widgetsKey, "aa"))
    let keptState = try BodyCoding.decode(
      TokenStateMachine.State.self, from: Array(BodyCoding.data(first.stateMachine.state)))
    var second = TokenFixture(products(), keptState)
    #expect(second.handle(.widgets(widgets([1]))) == ["want \(widget.short)"])
    second.notify()
    var third = TokenFixture(products(), second.stateMachine.state)
    #expect(third.handle(.widgets(widgets([1]))) == [])
  }

  @Test(.rule("PUSH-08"))
  func `a handler call is repeated after an exit, and after the second exit waits for an unrelated launch`() {
    var fixture = TokenFixture()
    fixture.handle(.widgets(widgets([1])))
    fixture.handle(.issued(widgetsKey, "aa"))
    fixture.handle(.awake(widget))
    #expect(fixture.handle(.instanceEnded(widget)) == [])
    #expect(fixture.handle(.awake(widget)) == ["tell \(widget.short) aa [1]"])
    #expect(fixture.handle(.instanceEnded(widget)) == ["release \(widget.short)"])
    #expect(fixture.handle(.widgets(widgets([1]))) == [])
    // It is not suspended during the call.
    #expect(fixture.handle(.awake(widget)) == ["want \(widget.short)", "tell \(widget.short) aa [1]"])
  }

  /// The former call does not launch it: the wish that keeps it running ends with its instance.
  @Test func `a call that is due during one after two exits launches the extension`() {
    var fixture = TokenFixture()
    fixture.handle(.widgets(widgets([1])))
    fixture.handle(.issued(widgetsKey, "aa"))
    for _ in 1...2 {
      fixture.handle(.awake(widget))
      fixture.handle(.instanceEnded(widget))
    }
    func want(mayWake: Bool) -> TokenStateMachine.Action {
      .asks(.process(.want(widget, because: TokenStateMachine.assertion, mayWake: mayWake)))
    }
    #expect(fixture.stateMachine.handle(.awake(widget)).first == want(mayWake: false))
    #expect(fixture.stateMachine.handle(.widgets(widgets([1, 2]))) == [want(mayWake: true)])
    #expect(fixture.stateMachine.handle(.widgets(widgets([1, 2]))) == [], "it is wanted already")
  }

  @Test func `a change during a handler call causes another call with the new widgets`() {
    var fixture = TokenFixture()
    fixture.handle(.widgets(widgets([1])))
    fixture.handle(.issued(widgetsKey, "aa"))
    fixture.handle(.awake(widget))
    fixture.handle(.widgets(widgets([1, 2])))
    let former = TellPushHandlers(token: "aa", widgets: [placement(1)])
    #expect(fixture.handle(.notified(widget, .widgets(former))) == ["tell \(widget.short) aa [1, 2]"])
  }
}

@Suite struct `Control push tokens` {
  /// Returns a fixture with these controls and their tokens, which the handler has received.
  private func notified(_ ids: Int...) -> TokenFixture {
    var fixture = TokenFixture()
    fixture.handle(.widgets(controls(ids)))
    for id in ids { fixture.handle(.issued(controlKey(id), "t\(id)")) }
    fixture.notify()
    return fixture
  }

  @Test(.rule("CONTROL-09", "CONTROL-10"))
  func `each placed control gets a token, and the handler is called when all have theirs`() {
    var fixture = TokenFixture()
    #expect(fixture.handle(.widgets(controls([]))) == [])
    #expect(fixture.handle(.widgets(controls([1, 2]))) == ["tokens"])
    #expect(fixture.handle(.issued(controlKey(2), "bb")) == [])
    #expect(fixture.stateMachine.controlTokens(askedBy: app) == [2: "bb"])
    #expect(fixture.handle(.issued(controlKey(1), "aa")) == ["want \(widget.short)"])
    #expect(fixture.notify() == [#"tell \#(widget.short) ["1 aa", "2 bb"]"#, "release \(widget.short)"])
    #expect(fixture.notify() == [])
    #expect(fixture.stateMachine.controlTokens(askedBy: other) == [1: "aa", 2: "bb"])
    #expect(fixture.stateMachine.pushInfo(askedBy: app) == nil)
  }

  @Test(.rule("CONTROL-09", "CONTROL-10"))
  func `a removed control loses its token alone, and the handler is called with the others`() {
    var fixture = notified(1, 2)
    #expect(fixture.handle(.widgets(controls([2]))) == ["tokens", "want \(widget.short)"])
    #expect(fixture.stateMachine.state.tokens[controlKey(1)]?.phase == .releasing)
    #expect(fixture.stateMachine.state.tokens[controlKey(2)]?.phase == .held)
    #expect(fixture.notify().first == #"tell \#(widget.short) ["2 t2"]"#)
    fixture.handle(.released(controlKey(1)))
    fixture.handle(.widgets(controls([])))
    #expect(fixture.notify().first == "tell \(widget.short) []")
  }

  @Test(.rule("CONTROL-10")) func `a control's token that is replaced or ended is passed to the handler`() {
    var fixture = notified(1, 2)
    #expect(fixture.handle(.replaced(controlKey(1), "cc")) == ["want \(widget.short)"])
    #expect(fixture.notify().first == #"tell \#(widget.short) ["1 cc", "2 t2"]"#)
    #expect(fixture.handle(.replaced(controlKey(1), nil)) == ["tokens", "tokens"])
    fixture.handle(.issued(controlKey(1), "dd"))
    #expect(fixture.notify().first == #"tell \#(widget.short) ["1 dd", "2 t2"]"#)
  }

  @Test func `control tokens and pending calls of control push handlers survive a host restart`() throws {
    var first = TokenFixture()
    first.handle(.widgets(controls([1])))
    first.handle(.issued(controlKey(1), "aa"))
    first.handle(.awake(widget))
    let keptState = try BodyCoding.decode(
      TokenStateMachine.State.self, from: Array(BodyCoding.data(first.stateMachine.state)))
    #expect(keptState == first.stateMachine.state)
    var second = TokenFixture(products(), keptState)
    #expect(second.handle(.widgets(controls([1]))) == ["want \(widget.short)"])
    #expect(second.notify().first == #"tell \#(widget.short) ["1 aa"]"#)
    var third = TokenFixture(products(), second.stateMachine.state)
    #expect(third.handle(.widgets(controls([1]))) == [])
  }

  @Test(.rule("CONTROL-09")) func `controls of an extension without the entitlement get no token, which is reported`() {
    var fixture = TokenFixture(products(nil))
    #expect(fixture.handle(.widgets(controls([1]))) == ["withheld \(widget.short) no-entitlement"])
    #expect(fixture.handle(.widgets(controls([1, 2]))) == [])
    #expect(fixture.stateMachine.state.tokens.isEmpty)
  }

  @Test(.rule("CONTROL-09")) func `a system version without widget pushes issues tokens for controls`() {
    var fixture = TokenFixture(hasWidgetPushes: false)
    #expect(fixture.handle(.widgets(controls([1]))) == ["tokens"])
    fixture.handle(.issued(controlKey(1), "aa"))
    #expect(fixture.notify().first == #"tell \#(widget.short) ["1 aa"]"#)
  }

  @Test(.rule("CONTROL-10", "PUSH-08"))
  func `a widget push handler that crashes does not keep the control push handlers from being called`() {
    var fixture = TokenFixture()
    let bundle = "com.example.Coffee.Widget"
    fixture.handle(
      .widgets([
        bundle: PushWidgets(
          handlers: ["Handler"], placements: [placement(1)], controlHandlers: ["Doors"],
          controls: controls([2])[bundle]?.controls ?? [])
      ]))
    fixture.handle(.issued(widgetsKey, "aa"))
    fixture.handle(.issued(controlKey(2), "bb"))
    #expect(fixture.handle(.awake(widget)) == ["tell \(widget.short) aa [1]"])
    #expect(fixture.handle(.instanceEnded(widget)) == [])
    let doors = #"tell \#(widget.short) ["2 bb"]"#
    guard case .notify(_, let call)? = fixture.stateMachine.handle(.awake(widget)).last else {
      return #expect(Bool(false), "no call")
    }
    #expect(TokenStateMachine.Action.notify(widget, call).words == doors)
    #expect(fixture.handle(.notified(widget, call)) == ["tell \(widget.short) aa [1]"])
    #expect(fixture.handle(.instanceEnded(widget)) == ["release \(widget.short)"])
  }
}

@Suite struct `App push tokens` {
  @Test func `a token is requested when the app registers, and returned when it is issued`() {
    var fixture = TokenFixture()
    #expect(fixture.handle(.register(app: coffee)) == ["tokens"])
    #expect(fixture.handle(.issued(appKey, "cc")) == ["registered"])
    #expect(fixture.handle(.register(app: coffee)) == ["registered"])
    #expect(fixture.stateMachine.token(appKey) == "cc")
  }

  @Test func `an app without the entitlement gets no token`() {
    var fixture = TokenFixture(products(nil))
    #expect(fixture.handle(.register(app: coffee)) == ["withheld \(app.short) no-entitlement"])
    #expect(!fixture.stateMachine.isRegistered(coffee))
  }

  @Test func `a replaced app token is sent to the process that has the former one`() {
    var fixture = TokenFixture()
    fixture.handle(.register(app: coffee))
    fixture.handle(.issued(appKey, "cc"))
    #expect(fixture.handle(.replaced(appKey, "dd")).contains("tell app dd"))
    #expect(fixture.handle(.appNotified(app: coffee, "dd")) == [])
    fixture.handle(.instanceEnded(app))
    #expect(!fixture.handle(.replaced(appKey, "ee")).contains("tell app ee"))
  }

  @Test(.rule("PUSH-19"))
  func `an app token that is no longer active is requested again only when the app registers again`() {
    var fixture = TokenFixture()
    fixture.handle(.register(app: coffee))
    fixture.handle(.issued(appKey, "cc"))
    fixture.handle(.replaced(appKey, nil))
    #expect(fixture.stateMachine.state.tokens.isEmpty)
    #expect(fixture.handle(.register(app: coffee)) == ["tokens"])
  }

  @Test func `unregistering the app releases its token`() {
    var fixture = TokenFixture()
    fixture.handle(.register(app: coffee))
    fixture.handle(.issued(appKey, "cc"))
    #expect(fixture.handle(.unregister(app: coffee)) == ["not registered", "tokens"])
    #expect(fixture.stateMachine.state.tokens[appKey]?.phase == .releasing)
  }
}
