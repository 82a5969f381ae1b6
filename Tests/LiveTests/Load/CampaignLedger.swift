// SPDX-License-Identifier: Apache-2.0

import Foundation
import Journal
import Messages

/// The facts in a campaign's journal, envelope by envelope: the running processes, the accepted downloads, and whether
/// each download was delivered exactly once.
struct CampaignLedger: Sendable {
  /// One download, by owner, session and task.
  struct Download: Hashable, Sendable, CustomStringConvertible {
    let owner: Address
    let session: String
    let task: Int
    var description: String { "\(owner.short) \(session) #\(task)" }
  }

  /// The owner of each session.
  private let owners: [String: Address]
  /// By correlation id: the address that must neither send nor receive an envelope with it.
  private let strangers: [UUID: Address]
  /// The SHA-256 that a download must have.
  private let digest: @Sendable (Download) -> String?

  /// The number of the last envelope.
  private(set) var last: UInt64 = 0
  /// The violations found.
  private(set) var faults: [String] = []

  private var askedDownloads: [UUID: Download] = [:]
  private(set) var accepted: Set<Download> = []
  private var deliveries: [UUID: Set<Download>] = [:]
  /// How often `didCompleteWithError` was called for each.
  private(set) var completions: [Download: Int] = [:]
  private var acknowledged: Set<UUID> = []
  private var forgotten: Set<UUID> = []

  init(
    owners: [String: Address], strangers: [UUID: Address] = [:], digest: @escaping @Sendable (Download) -> String?
  ) {
    self.owners = owners
    self.strangers = strangers
    self.digest = digest
  }

  /// Downloads that were accepted and whose events are not acknowledged.
  var unfinished: Set<Download> { accepted.subtracting(settled.flatMap { deliveries[$0] ?? [] }) }

  /// Downloads in more than one acknowledged delivery.
  var acknowledgedTwice: [Download] {
    var counts: [Download: Int] = [:]
    for download in settled.flatMap({ deliveries[$0] ?? [] }) { counts[download, default: 0] += 1 }
    return counts.filter { $0.value > 1 }.map(\.key)
  }

  private var settled: Set<UUID> { acknowledged.union(forgotten) }

  mutating func handle(_ envelope: Envelope) {
    let header = envelope.header
    if header.sequence != last + 1 { faults.append("#\(header.sequence) follows #\(last)") }
    last = header.sequence
    if let correlation = header.correlation, let stranger = strangers[correlation],
      header.source == stranger || header.destination == stranger
    {
      faults.append("#\(header.sequence) \(header.kind) has the correlation id of a session that is not \(stranger)'s")
    }
    takeTransfer(envelope)
  }

  private mutating func takeTransfer(_ envelope: Envelope) {
    let header = envelope.header
    switch header.kind {
    case CreateTransfer.kind:
      guard let body = read(CreateTransfer.self, envelope) else { return }
      askedDownloads[header.id] = Download(owner: header.source, session: body.session, task: body.taskIdentifier)
    case CreateTransfer.kind.answered(.ok):
      if let download = header.cause.flatMap({ askedDownloads[$0] }) { accepted.insert(download) }
    case TransferProgress.kind: if let body = read(TransferProgress.self, envelope) { progress(body, header) }
    case SessionEvents.kind: if let body = read(SessionEvents.self, envelope) { handedOver(body, header) }
    case DelegateCalled.kind:
      guard let body = read(DelegateCalled.self, envelope), body.method == "didCompleteWithError" else { return }
      completions[Download(owner: header.source, session: body.session, task: body.taskIdentifier ?? 0), default: 0] +=
        1
    case SessionEvents.kind.answered(.acknowledged): if let cause = header.cause { acknowledged.insert(cause) }
    case SessionAcknowledged.kind:
      guard let body = read(SessionAcknowledged.self, envelope) else { return }
      if !forgotten.insert(body.delivery).inserted {
        faults.append("#\(header.sequence) acknowledges a delivery again")
      }
    default: break
    }
  }

  private mutating func progress(_ body: TransferProgress, _ header: EnvelopeHeader) {
    let download = Download(owner: body.owner, session: body.session, task: body.taskIdentifier)
    accepted.insert(download)
    switch body.step {
    case .finished where body.sha256 != digest(download):
      faults.append("#\(header.sequence): the bytes differ from those served")
    case .failed: faults.append("#\(header.sequence): \(body.detail ?? "a download failed")")
    default: break
    }
  }

  private mutating func handedOver(_ body: SessionEvents, _ header: EnvelopeHeader) {
    if header.destination != owners[body.session] {
      faults.append("#\(header.sequence) is sent to \(header.destination)")
    }
    if forgotten.contains(header.id) { faults.append("#\(header.sequence) delivers acknowledged events") }
    let downloads = body.outcomes.map {
      Download(owner: header.destination, session: body.session, task: $0.task.taskIdentifier)
    }
    deliveries[header.id, default: []].formUnion(downloads)
  }

  private mutating func read<C: Message>(_: C.Type, _ envelope: Envelope) -> C? {
    do {
      return try BodyCoding.decode(C.self, from: envelope.body)
    } catch {
      faults.append("#\(envelope.header.sequence) cannot be read: \(error)")
      return nil
    }
  }
}

/// Reads the journal into a ledger, up to its current end at each call.
actor CampaignWatch {
  private var cursor: JournalCursor
  private var ledger: CampaignLedger

  init(_ folder: String, _ ledger: CampaignLedger) {
    cursor = JournalReader(folder: URL(fileURLWithPath: folder)).cursor()
    self.ledger = ledger
  }

  func look<R: Sendable>(_ read: @Sendable (CampaignLedger) -> R) throws -> R {
    while let envelope = try cursor.next() { ledger.handle(envelope) }
    return read(ledger)
  }
}
