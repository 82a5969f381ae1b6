// SPDX-License-Identifier: Apache-2.0

import ModelChecking
import Testing

/// A counter from 0 to 9 that may be reset, and that stops at one number.
private struct Counter: Model {
  struct State: Hashable, Sendable {
    var number = 0
    var resets = 0
  }

  enum Action: Hashable, Sendable, CustomStringConvertible {
    case count, reset
    var description: String { self == .count ? "count" : "reset" }
  }

  let name = "counter"
  let about = ""
  var end = 9
  var stuck = -1
  var limit = 100
  var seen = 5

  var start = 0

  var initialState: State { State(number: start) }

  var properties: [Property<State>] {
    [
      .always("it is at most the limit") { [limit] in $0.number <= limit },
      .eventually("it reaches its end") { [end] in $0.number == end },
      .sometimes("it is seen") { [seen] in $0.number == seen },
    ]
  }

  func actions(in state: State) -> [Action] {
    (state.number < end && state.number != stuck ? [.count] : []) + (state.resets < 2 ? [.reset] : [])
  }

  func isProgress(_ action: Action) -> Bool { action == .count }

  func next(_ state: State, _ action: Action, _ log: inout Log) -> State {
    log.add("from \(state.number)")
    var state = state
    switch action {
    case .count: state.number += 1
    case .reset:
      state.number = 0
      state.resets += 1
    }
    return state
  }

  /// The number of resets is left out: with it there are three times as many states.
  func representative(of state: State) -> State { State(number: state.number) }
}

@Suite struct `Searches of models` {
  @Test(.timeLimit(.minutes(1))) func `a search visits each state once and is complete`() async {
    let report = await Search(Counter()).run()
    #expect(report.verdict == "complete")
    #expect(report.states == 10)
    #expect(report.depth == 9)
    #expect(report.properties.map(\.verdict) == [.holds, .holds, .reached(depth: 5)])
  }

  @Test(.timeLimit(.minutes(1))) func `a counterexample is the shortest one, and can be taken again`() async throws {
    let search = Search(Counter(limit: 3))
    let report = await search.run()
    #expect(report.verdict == "violated")
    let example = try #require(report.counterexamples.first)
    #expect(example.steps.map(\.action) == ["count", "count", "count", "count"])
    #expect(example.steps.last?.lines == ["from 3"])
    #expect(search.replay(example.steps.map(\.action), example.property) == .violated)
    #expect(Search(Counter()).replay(example.steps.map(\.action), example.property) == .holds)
    #expect(Search(Counter(end: 2)).replay(example.steps.map(\.action), example.property) == .impossible("count"))
  }

  /// A test that passes with steps that cannot be taken tests nothing.
  @Test(.timeLimit(.minutes(1)))
  func `the test of a counterexample passes only when its steps can be taken and the property holds`() async throws {
    let example = try #require(await Search(Counter(limit: 3)).run().counterexamples.first)
    let test = example.test(of: "counter")
    let property = "always it is at most the limit"
    #expect(test.contains("#expect(Searches.replay(\"counter\", steps, \"\(property)\") == .holds)"))
    #expect(Search(Counter()).replay([], "always something else") == .unknownProperty)
  }

  @Test(.timeLimit(.minutes(1))) func `a counterexample begins in the initial state`() async throws {
    let example = try #require(await Search(Counter(limit: 3, start: 2)).run().counterexamples.first)
    #expect(example.steps.map(\.lines) == [["from 2"], ["from 3"]])
  }

  @Test(.timeLimit(.minutes(1))) func `a state from which progress does not lead to the goal is found`() async throws {
    let search = Search(Counter(stuck: 4))
    let report = await search.run()
    let example = try #require(report.counterexamples.first)
    // Every state is one: also the first.
    #expect(example.steps.isEmpty)
    #expect(search.replay([], "eventually it reaches its end") == .violated)
    #expect(report.properties.last?.verdict == .unknown)
  }

  @Test(.timeLimit(.minutes(1))) func `a search that has not met what it is for is unknown, and not complete`() async {
    #expect(await Search(Counter(seen: 11)).run().verdict == "unknown")
  }

  @Test(.timeLimit(.minutes(1))) func `a search that stops at its bound says that more states are left`() async {
    let report = await Search(Counter(seen: 0), Bounds(depth: 3)).run()
    #expect(report.verdict == "bounded")
    #expect(report.properties.map(\.verdict) == [.bounded, .bounded, .reached(depth: 0)])
  }

  @Test(.timeLimit(.minutes(5)), arguments: Searches.all.map(\.name))
  func `the first states of each search violate no property`(name: String) async throws {
    let search = try #require(Searches.all.first { $0.name == name })
    let report = await search.run(Bounds(states: 3_000), 2)
    #expect(report.states >= 3_000)
    #expect(report.counterexamples == [], "\(report.text)")
  }

  /// A fleet forgets the ids that its push server has recorded, so it must not take what a former owner sends.
  @Test(.timeLimit(.minutes(5))) func `a fleet that compares no epochs takes a notification twice`() async throws {
    let model = ReplicaModel(
      "fleet", about: "",
      ReplicaScope {
        $0.pushes = 2
        $0.stops = 1
        $0.isOfFleet = true
        $0.comparesEpochs = false
      })
    let report = await Search(model, Bounds(states: 200_000)).run()
    let example = try #require(report.counterexamples.first)
    #expect(example.property == "always a notification has one result, and the device handles it once")
  }

  /// The assumption that Documentation/searches.md names. A number of the report, which the route keeps, would end it.
  @Test(.timeLimit(.minutes(5)))
  func `a report that a stopped replica handles late takes the device from the replica that knows more`() async throws {
    let model = ReplicaModel(
      "old reports", about: "",
      ReplicaScope {
        $0.pushes = 1
        $0.stops = 1
        $0.networkChanges = 1
        $0.dropsOldReports = false
      })
    let report = await Search(model, Bounds(states: 100_000)).run()
    let example = try #require(report.counterexamples.first)
    #expect(example.property == "eventually every notification has its result")
  }
}
