// SPDX-License-Identifier: Apache-2.0

import APNs
import Archive
import Cluster
import Console
import Foundation
import JournalAnalysis
import MessageBus
import Messages

// The replies of host and push server as the page gets them.

extension ConsoleGalleryItem {
  /// The gallery, one item for each widget and control.
  static func all(in reply: ListGallery.Reply) -> [ConsoleGalleryItem] {
    var items: [ConsoleGalleryItem] = []
    for found in reply.items {
      let index: Int
      if let known = items.firstIndex(where: { $0.bundle == found.bundle && $0.kind == found.widgetKind }) {
        index = known
      } else {
        index = items.count
        items.append(
          ConsoleGalleryItem(
            bundle: found.bundle, kind: found.widgetKind, displayName: found.displayName,
            description: found.description, locations: []))
      }
      guard found.section != .leftOut else { continue }
      items[index].locations.append(Offer(name: found.location.rawValue, families: found.families.map(\.rawValue)))
    }
    for index in items.indices where items[index].locations.isEmpty {
      items[index].problem =
        reply.items.first { $0.bundle == items[index].bundle && $0.widgetKind == items[index].kind }?.reason
        ?? "no location offers it"
    }
    let failures = (reply.failures ?? []).map { failure in
      ConsoleGalleryItem(
        bundle: failure.address.bundleIdentifier ?? failure.address.text, kind: "", displayName: failure.address.short,
        description: "", locations: [], problem: "\(failure.error)")
    }
    return items + failures
  }
}

extension ConsoleBudget {
  /// The accounts of the host, and its clock.
  init(_ reply: ListBudget.Reply, _ clock: ClockState, capacity: Double?) {
    self.init(
      now: reply.now.timeIntervalSince1970, policy: reply.policy, isDeveloperMode: reply.isDeveloperMode,
      clock: Clock(
        now: clock.now.timeIntervalSince1970, isHeld: clock.isHeld, rate: clock.rate, text: clock.text),
      accounts: reply.accounts.map { account in
        Account(
          placement: account.placement, kind: account.widgetKind, balance: account.balance, perDay: account.perDay,
          spent: account.spent, next: account.next?.timeIntervalSince1970, nextBecause: account.nextBecause?.rawValue,
          withheld: account.withheld?.rawValue, capacity: capacity)
      })
  }
}

/// What the push server says.
struct PushAnswer: Sendable {
  let records: [PushRecord]
  let tokens: [DeviceToken]
  let overrides: [OverrideResponses]

  /// Asks the push server.
  init(_ shared: SharedOperatorSession, _ limit: Int) async throws {
    let session = try await shared.session(within: .seconds(2))
    guard session.cluster.configuration.pushServer != nil else {
      throw ConsoleError(503, "this cluster has no push server", advice: "add `pushServer: {}` to the configuration")
    }
    async let tokens = session.connection.request(ListTokens(), to: .pushServer, within: .seconds(2))
    async let newest = session.connection.request(ListPushes(limit: 1), to: .pushServer, within: .seconds(2))
    records = try await PushLog(session: session).records(nil, limit).reversed()
    self.tokens = try await tokens.tokens
    overrides = try await newest.overrides ?? []
  }
}

extension ConsolePushes {
  /// The answer of the push server.
  init(_ answer: PushAnswer) {
    self.init(
      isReachable: true, pushes: answer.records.map { Push($0) },
      tokens: answer.tokens.map { token in
        Token(
          token: token.token, bundle: token.subject.bundle, use: token.subject.use.rawValue,
          environment: token.environment.rawValue, state: token.state.rawValue)
      },
      answers: answer.overrides.map { Answer(status: $0.status, reason: $0.reason, remaining: $0.times) },
      reasons: APNsReason.allCases.sorted { ($0.status, $0.rawValue) < ($1.status, $1.rawValue) }.map { reason in
        Reason(status: reason.status, reason: reason.rawValue, meaning: reason.meaning, rule: reason.rule)
      })
  }
}

extension ConsolePushes.Push {
  fileprivate init(_ record: PushRecord) {
    self.init(
      number: record.number, id: record.uniqueID.text, type: record.type,
      subject: record.subject.map { "\($0.bundle) (\($0.use.rawValue))" }, status: record.status,
      reason: record.reason,
      steps: record.steps.map {
        ConsolePushes.Step(name: $0.name.rawValue, at: $0.at.timeIntervalSince1970, detail: $0.detail)
      })
    let reason = record.reason.flatMap { APNsReason(rawValue: $0) }
    meaning = reason?.meaning
    rule = reason?.rule
  }
}
