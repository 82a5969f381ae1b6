// SPDX-License-Identifier: Apache-2.0

import DeviceRules
import Foundation
import MessageBus
import Messages
import OwnedTasks
import Timekeeping

// `willBeginDelayedRequest`: the owner is asked before a task with an earliest begin date begins.

extension TransferScheduler {
  /// Passes on whether the owner must be asked about a task, or about a challenge.
  func noteQuestions(of owner: Address) {
    let areOpen = delayed[owner] != nil || challenged.contains(owner)
    if context.core.state.hasQuestions(for: owner) != areOpen { context.core.handle(.questions(owner: owner, areOpen)) }
  }

  /// The owner runs: asks it about its tasks and challenges. `woken`: it was launched or resumed a moment ago.
  func awake(_ owner: Address, woken: Bool) {
    for key in (delayed[owner] ?? []).sorted(by: { $0.identifier < $1.identifier }) where questions[key] == nil {
      questions[key] = tasks.start { await self.sendQuestion(about: key) }
    }
    challenged.awake(owner, woken: woken)
    noteQuestions(of: owner)
  }

  /// Waits for the owner's reply. The owner is woken for it if the settings permit. Otherwise the task of an owner that
  /// does not run continues unchanged.
  func askBeforeBegin(of key: TaskKey) {
    let owner = key.session.owner
    delayed[owner, default: []].insert(key)
    noteQuestions(of: owner)
    let launches = context.settings.delayedRequestLaunches
    context.need(.want(owner, because: key.session.beginAssertion, mayWake: launches))
    guard !launches else { return }
    questions[key] = tasks.start {
      if await self.counter.isAwake(owner) {
        await self.sendQuestion(about: key)
      } else {
        await self.apply(BeginDelayedRequest.Reply(disposition: .continueLoading), to: key)
      }
    }
  }

  private func sendQuestion(about key: TaskKey) async {
    let owner = key.session.owner
    var reply = BeginDelayedRequest.Reply(disposition: .continueLoading)
    do {
      guard stateMachine.transfers[key] != nil, let task = try context.store.task(key) else { return }
      let question = BeginDelayedRequest(
        session: key.session.identifier, task: task.snapshot(bytes: context.bytes(key)))
      reply = try await context.bus.request(
        question, to: owner, context: key.session.context, within: .seconds(context.settings.completionDeadline),
        whenUnreachable: .wait)
    } catch let error as BusError {
      // The host leaves: it asks again after its restart. On any other error the original request is sent.
      guard error.code != .closed, !Task.isCancelled else { return }
    } catch {
      return context.broken(error)
    }
    await apply(reply, to: key)
  }

  private func apply(_ reply: BeginDelayedRequest.Reply, to key: TaskKey) async {
    do {
      guard stateMachine.transfers[key] != nil, var task = try context.store.task(key) else { return }
      if reply.disposition == .cancel {
        try await stopAndEnd(key, with: TransferFailure(code: -999, message: "cancelled"), keepsPart: false)
        return
      }
      if reply.disposition == .useNewRequest { task.newRequest = reply.request.map(task.request.replaced) }
      task.asksBeforeBegin = false
      try context.store.setWishes(of: task)
      questions[key] = nil
      withdrawQuestion(about: key)
      handle(.answered(key, host: StoredTask.host(task.newRequest ?? task.request)))
    } catch {
      context.broken(error)
    }
  }

  /// The owner need not be asked about the task any longer.
  func withdrawQuestion(about key: TaskKey) {
    questions.removeValue(forKey: key)?.cancel()
    let owner = key.session.owner
    guard delayed[owner]?.remove(key) != nil else { return }
    if delayed[owner]?.isEmpty == true { delayed[owner] = nil }
    noteQuestions(of: owner)
    guard delayed[owner]?.contains(where: { $0.session == key.session }) != true else { return }
    context.need(.release(owner, because: key.session.beginAssertion))
  }
}

extension SessionKey {
  /// The assertion that keeps the owner awake before a task begins.
  fileprivate var beginAssertion: Assertion { Assertion("begin \(identifier)") }
}

extension TransferRequest {
  /// The request that an owner supplied instead of this one: its network flags are ignored (documented).
  func replaced(by other: TransferRequest) -> TransferRequest {
    var request = other
    request.allowsCellularAccess = allowsCellularAccess
    request.allowsExpensiveNetworkAccess = allowsExpensiveNetworkAccess
    request.allowsConstrainedNetworkAccess = allowsConstrainedNetworkAccess
    return request
  }
}
