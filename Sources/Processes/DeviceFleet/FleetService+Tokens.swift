// SPDX-License-Identifier: Apache-2.0

import Cluster
import FleetTokenDerivation
import Foundation
import Logging
import MessageBus
import Messages
import OwnedTasks

// Tokens: requested from the push server in batches, and then registered with the backend.

extension FleetService {
  /// Tokens of one request.
  private static let tokensAtOnce = 20_000
  /// Requests at a time, so that the push server writes one while it receives the next.
  private static let exchangesAtOnce = 2

  /// Requests what is due. Call when it is on the disk.
  func exchangeTokens() {
    guard tokens != nil else { return }
    var later: [TokenReference] = []
    while exchanges < Self.exchangesAtOnce, !unsettled.isEmpty {
      var batch: [(token: TokenReference, cell: TokenCell)] = []
      while batch.count < Self.tokensAtOnce, let token = unsettled.popFirst() {
        // The push server must not handle a later request before an earlier one.
        if exchanging.contains(token) { later.append(token) } else { batch.append((token, machine.cell(token))) }
      }
      let requested = batch.filter { $0.cell.phase == .wanted || $0.cell.phase == .ending }
      guard !requested.isEmpty else { continue }
      exchanges += 1
      exchanging.formUnion(requested.map(\.token))
      if tasks.start({ await self.exchange(requested) }) == nil { exchanges -= 1 }
    }
    for token in later { unsettled.append(token) }
  }

  private func exchange(_ batch: [(token: TokenReference, cell: TokenCell)]) async {
    defer {
      exchanges -= 1
      exchanging.subtract(batch.map(\.token))
      exchangeTokens()
    }
    let request = ChangeFleetTokens(environment: plan.profile.environment, changes: changes(of: batch))
    while !Task.isCancelled {
      do throws(BusError) {
        _ = try await bus.request(request, to: .pushServer, within: .seconds(3_600), whenUnreachable: .wait)
        return confirmed(batch)
      } catch {
        guard error.code != .closed else { return }
        logger.warning("the push server did not change \(batch.count) tokens: \(error)")
        guard (try? await Task.sleep(for: .seconds(1))) != nil else { return }
      }
    }
  }

  /// Groups tokens with the same use and serial number.
  private func changes(of batch: [(token: TokenReference, cell: TokenCell)]) -> [ChangeFleetTokens.Change] {
    struct Group: Hashable {
      let slot: UInt8
      let number: UInt16
      let cell: TokenCell
    }
    let groups = Dictionary(grouping: batch) { Group(slot: $0.token.slot, number: $0.token.number, cell: $0.cell) }
    let sorted = groups.sorted {
      ($0.key.slot, $0.key.number, $0.key.cell.bits) < ($1.key.slot, $1.key.number, $1.key.cell.bits)
    }
    return sorted.compactMap { group, members in
      guard let use = members.first?.token.use else { return nil }
      return ChangeFleetTokens.Change(
        action: group.cell.phase == .wanted ? .issue : .end, bundle: bundle(of: use), use: use,
        serial: Int(group.cell.serial), devices: DeviceSet(ascending: Set(members.map(\.token.device)).sorted()))
    }
  }

  private func confirmed(_ batch: [(token: TokenReference, cell: TokenCell)]) {
    for (token, cell) in batch where machine.confirmed(token, cell) {
      if registrar.isNeeded { unregistered.append(token) } else { machine.registered(token, serial: cell.serial) }
    }
    guard save() else { return }
    register()
  }

  /// The bundle identifier of a token's app, or the topic of a managed device.
  nonisolated func bundle(of use: PushTokenUse) -> String {
    use == .fleet(.mdm) ? plan.profile.mdmTopic : plan.profile.bundle
  }

  /// The text of a token; `nil` before the fleet has joined.
  func text(of token: TokenReference) -> String? {
    let use = token.use
    return tokens?.token(token.device, bundle(of: use), use, serial: Int(machine.cell(token).serial))
  }

  // MARK: Registration

  /// Starts as many registrations as may run at a time. Call when the tokens are on the disk.
  func register() {
    while registering < registrar.concurrency, !unregistered.isEmpty {
      registering += 1
      if tasks.start({ await self.registerNext() }) == nil {
        registering -= 1
        return
      }
    }
  }

  private func registerNext() async {
    defer { registering -= 1 }
    while !Task.isCancelled {
      let batch = nextRegistrations()
      guard !batch.isEmpty else { return }
      var pause = 0.1
      let begun = ContinuousClock.now
      while true {
        let result = await registrar.register(batch.map(\.entry))
        guard !Task.isCancelled else { return }
        guard case .again(let reason) = result else {
          finish(batch, result, after: (ContinuousClock.now - begun) / .milliseconds(1))
          break
        }
        registration.retried[reason, default: 0] += 1
        metrics?.countRegistration("retried")
        registration.lastError = "\(batch[0].entry.device): \(reason); the request is repeated in \(pause) s"
        guard (try? await Task.sleep(for: .seconds(pause))) != nil else { return }
        pause = min(pause * 2, plan.profile.registration.longestPause)
        // It was replaced during the pause.
        guard batch.contains(where: { machine.cell($0.token).serial == $0.serial }) else { break }
      }
    }
  }

  private func nextRegistrations() -> [(token: TokenReference, serial: UInt16, entry: Registrar.Entry)] {
    var batch: [(token: TokenReference, serial: UInt16, entry: Registrar.Entry)] = []
    while batch.count < registrar.atOnce, let token = unregistered.popFirst() {
      let cell = machine.cell(token)
      guard cell.phase == .issued, let text = text(of: token) else { continue }
      let use = token.use
      let entry = Registrar.Entry(
        device: FleetDevice.id(plan.name, token.device), index: token.device, use: use, bundle: bundle(of: use),
        token: text)
      batch.append((token, cell.serial, entry))
    }
    return batch
  }

  private func finish(
    _ batch: [(token: TokenReference, serial: UInt16, entry: Registrar.Entry)], _ result: Registrar.Result,
    after milliseconds: Double
  ) {
    let second = currentSecond()
    for (token, serial, entry) in batch {
      machine.registered(token, serial: serial)
      registration.latency.add(milliseconds)
      metrics?.observeRegistration(seconds: milliseconds / 1_000)
      switch result {
      case .done:
        registration.succeeded += 1
        metrics?.countRegistration("registered")
        addRegistered(second)
      case .refused(let reason):
        registration.refused[reason, default: 0] += 1
        metrics?.countRegistration("refused")
        registration.lastError = "\(entry.device): \(reason)"
      case .again: break
      }
    }
  }
}
