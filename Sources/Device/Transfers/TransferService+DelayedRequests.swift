import Foundation
import MessageBus
import Messages
import Timekeeping

// `willBeginDelayedRequest`: the owner is asked before a task with an earliest begin date begins.

extension TransferService {
  func mustBeAsked(_ owner: Address) -> Bool { questionsToOwners[owner] != nil || challenged.contains(owner) }

  /// Waits for the owner's reply. The owner is woken for it if the settings permit. Otherwise the task of an owner that
  /// does not run continues unchanged.
  func requestDecision(on key: TaskKey) {
    let owner = key.session.owner
    questionsToOwners[owner, default: []].insert(key)
    let launches = settings.delayedRequestLaunches
    outputs.yield(.wantAwake(owner, because: key.session.beginAssertion, launches: launches))
    guard !launches else { return }
    begins[key] = Task {
      if await counter.isAwake(owner) {
        await askOwner(about: key)
      } else {
        await apply(BeginDelayedRequest.Reply(disposition: .continueLoading), to: key)
      }
    }
  }

  /// Asks a running owner about all of its tasks that wait for its reply.
  func askOwner(_ owner: Address) {
    for key in (questionsToOwners[owner] ?? []).sorted(by: { $0.identifier < $1.identifier }) where begins[key] == nil {
      begins[key] = Task { await askOwner(about: key) }
    }
  }

  private func askOwner(about key: TaskKey) async {
    let owner = key.session.owner
    var reply = BeginDelayedRequest.Reply(disposition: .continueLoading)
    do {
      guard let task = try store.task(key), !task.hasEnded else { return }
      let question = BeginDelayedRequest(
        session: key.session.identifier, task: task.snapshot(bytes: WholeFile.size(path(key))))
      reply = try await bus.request(
        question, to: owner, context: key.session.context, within: .seconds(settings.completionDeadline),
        whenUnreachable: .wait)
    } catch let error as BusError {
      // The host leaves: it asks again after its restart. On any other error the original request is sent.
      guard error.code != .closed, !Task.isCancelled else { return }
    } catch {
      return broken(error)
    }
    await apply(reply, to: key)
  }

  private func apply(_ reply: BeginDelayedRequest.Reply, to key: TaskKey) async {
    do {
      guard var task = try store.task(key), !task.hasEnded else { return }
      if reply.disposition == .cancel {
        try await end(key, with: TransferFailure(code: -999, message: "cancelled"), keepsPart: false)
        return
      }
      if reply.disposition == .useNewRequest { task.newRequest = reply.request.map(task.request.replaced) }
      task.asksBeforeBegin = false
      try store.setWishes(of: task)
      begins[key] = nil
      letGo(key)
      handle(.answered(key, host: StoredTask.host(task.newRequest ?? task.request)))
    } catch {
      broken(error)
    }
  }

  /// The owner need not be asked about the task any longer.
  func letGo(_ key: TaskKey) {
    let owner = key.session.owner
    guard questionsToOwners[owner]?.remove(key) != nil else { return }
    if questionsToOwners[owner]?.isEmpty == true { questionsToOwners[owner] = nil }
    guard questionsToOwners[owner]?.contains(where: { $0.session == key.session }) != true else { return }
    outputs.yield(.release(owner, because: key.session.beginAssertion))
  }
}

extension SessionKey {
  /// The assertion that keeps the owner awake before a task begins.
  fileprivate var beginAssertion: String { "begin \(identifier)" }
}

extension TransferRequest {
  /// The request that an owner supplied instead of this one: its network flags are ignored (documented).
  fileprivate func replaced(by other: TransferRequest) -> TransferRequest {
    var request = other
    request.allowsCellularAccess = allowsCellularAccess
    request.allowsExpensiveNetworkAccess = allowsExpensiveNetworkAccess
    request.allowsConstrainedNetworkAccess = allowsConstrainedNetworkAccess
    return request
  }
}
