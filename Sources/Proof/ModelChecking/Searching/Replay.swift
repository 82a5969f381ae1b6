// SPDX-License-Identifier: Apache-2.0

/// The result of the steps of a counterexample.
package enum Replay: Equatable, Sendable {
  /// The property holds in every state of the steps, and is reached from the last one.
  case holds
  case violated
  /// This step cannot happen any more.
  case impossible(String)
  /// The search has no such property, or there is no such search.
  case unknownProperty
}

extension Search {
  /// Takes the steps of a counterexample again.
  ///
  /// - Parameters:
  ///   - steps: the names of the actions, as a counterexample has them.
  ///   - property: its kind and its name.
  package func replay(_ steps: [String], _ property: String) -> Replay {
    guard let property = model.properties.first(where: { "\($0.kind.rawValue) \($0.name)" == property }) else {
      return .unknownProperty
    }
    var state = model.initialState
    for step in steps {
      let actions = model.actions(in: state)
      guard let index = Self.names(actions).firstIndex(of: step) else { return .impossible(step) }
      var log = Log()
      state = model.next(state, actions[index], &log)
      if property.kind == .always, !property.holds(state) { return .violated }
    }
    switch property.kind {
    case .always: return .holds
    case .sometimes: return property.holds(state) ? .holds : .violated
    case .eventually: return leads(state, to: property) ? .holds : .violated
    }
  }

  /// Whether progress leads from a state to one with the property, or beyond the bounds.
  private func leads(_ state: M.State, to property: Property<M.State>) -> Bool {
    var visited: Set<M.State> = [model.representative(of: state)]
    var queue = [state]
    var next = 0
    while next < queue.count, queue.count < bounds.states {
      let state = queue[next]
      next += 1
      if property.holds(state) || !model.isWithinBoundary(state) { return true }
      for action in model.actions(in: state) where model.isProgress(action) {
        var log = Log()
        let state = model.next(state, action, &log)
        if visited.insert(model.representative(of: state)).inserted { queue.append(state) }
      }
    }
    return next < queue.count
  }
}

extension Counterexample {
  /// A test of the steps, which passes only when they can be taken and the property holds. It fails while the property is
  /// violated, and when a step, the property or the search does not exist any more: then it tests nothing.
  package func test(of search: String) -> String {
    let steps = steps.map { "        \"\($0.action)\"," }.joined(separator: "\n")
    return """
      // SPDX-License-Identifier: Apache-2.0

      import ModelChecking
      import Testing

      // Written by scripts/prove.
      @Suite struct `A counterexample of \(search)` {
        @Test(.timeLimit(.minutes(1))) func `\(property)`() {
          let steps = [
      \(steps)
          ]
          #expect(Searches.replay("\(search)", steps, "\(property)") == .holds)
        }
      }

      """
  }
}
