import Conversations
import Foundation
import Journal

/// What the journal of a campaign says, envelope by envelope: who lives, which downloads were promised, and whether each
/// promise was kept once.
struct CampaignLedger: Sendable {
  /// One download, as its owner and the host name it.
  struct Download: Hashable, Sendable, CustomStringConvertible {
    let owner: Address
    let session: String
    let task: Int
    var description: String { "\(owner.short) \(session) #\(task)" }
  }

  /// A life of an app or an extension that has said `ready`.
  struct Life: Sendable {
    let generation: UInt32
    let pid: Int32
    let readyAt: Timestamp
  }

  /// What a line of a tail is compared with.
  struct Line: Sendable {
    let id: UUID
    let kind: String
  }

  /// Whose session it is.
  private let owners: [String: Address]
  /// The stories of these must not touch that address.
  private let strangers: [UUID: Address]
  /// What a download must hash to.
  private let digest: @Sendable (Download) -> String?

  private var last: UInt64 = 0
  /// Number `n` stands at `n - 1`, if none is missing.
  private(set) var lines: [Line] = []
  private(set) var lives: [Address: Life] = [:]
  /// The pids whose end was reported.
  private(set) var exits: Set<Int32> = []
  private(set) var busLives: [UInt32] = []
  /// What should not be.
  private(set) var faults: [String] = []

  private var asked: [UUID: Download] = [:]
  private(set) var accepted: Set<Download> = []
  private var deliveries: [UUID: Set<Download>] = [:]
  /// How often `didCompleteWithError` was told of each.
  private(set) var told: [Download: Int] = [:]
  private var acknowledged: Set<UUID> = []
  private var forgotten: Set<UUID> = []

  init(
    owners: [String: Address], strangers: [UUID: Address] = [:], digest: @escaping @Sendable (Download) -> String?
  ) {
    self.owners = owners
    self.strangers = strangers
    self.digest = digest
  }

  /// Downloads that were accepted, and whose events nobody has acknowledged.
  var unfinished: Set<Download> { accepted.subtracting(settled.flatMap { deliveries[$0] ?? [] }) }

  /// The downloads that more than one acknowledged delivery handed over.
  var acknowledgedTwice: [Download] {
    var counts: [Download: Int] = [:]
    for download in settled.flatMap({ deliveries[$0] ?? [] }) { counts[download, default: 0] += 1 }
    return counts.filter { $0.value > 1 }.map(\.key)
  }

  private var settled: Set<UUID> { acknowledged.union(forgotten) }

  mutating func take(_ envelope: Envelope) {
    let header = envelope.header
    if header.sequence != last + 1 { faults.append("#\(header.sequence) follows #\(last)") }
    last = header.sequence
    lines.append(Line(id: header.id, kind: header.kind.name))
    if let story = header.correlation, let stranger = strangers[story],
      header.source == stranger || header.destination == stranger
    {
      faults.append("#\(header.sequence) \(header.kind) is of a story that is not \(stranger)'s")
    }
    switch header.kind {
    case BusStarted.kind: if let body = read(BusStarted.self, envelope) { busLives.append(body.generation) }
    case ProcessReady.kind:
      guard let body = read(ProcessReady.self, envelope) else { return }
      lives[header.source] = Life(generation: header.sourceGeneration, pid: body.pid, readyAt: header.sentAt)
    case ProcessExited.kind: if let body = read(ProcessExited.self, envelope) { exits.insert(body.pid) }
    default: takeTransfer(envelope)
    }
  }

  private mutating func takeTransfer(_ envelope: Envelope) {
    let header = envelope.header
    switch header.kind {
    case CreateTransfer.kind:
      guard let body = read(CreateTransfer.self, envelope) else { return }
      asked[header.id] = Download(owner: header.source, session: body.session, task: body.taskIdentifier)
    case CreateTransfer.kind.answered(.ok):
      if let download = header.cause.flatMap({ asked[$0] }) { accepted.insert(download) }
    case TransferProgress.kind: if let body = read(TransferProgress.self, envelope) { progress(body, header) }
    case SessionEvents.kind: if let body = read(SessionEvents.self, envelope) { handedOver(body, header) }
    case DelegateCalled.kind:
      guard let body = read(DelegateCalled.self, envelope), body.method == "didCompleteWithError" else { return }
      told[Download(owner: header.source, session: body.session, task: body.taskIdentifier ?? 0), default: 0] += 1
    case SessionEvents.kind.answered(.acknowledged): if let cause = header.cause { acknowledged.insert(cause) }
    case SessionAcknowledged.kind:
      guard let body = read(SessionAcknowledged.self, envelope) else { return }
      if !forgotten.insert(body.delivery).inserted { faults.append("#\(header.sequence) forgets a delivery again") }
    default: break
    }
  }

  private mutating func progress(_ body: TransferProgress, _ header: EnvelopeHeader) {
    let download = Download(owner: body.owner, session: body.session, task: body.taskIdentifier)
    accepted.insert(download)
    switch body.step {
    case .finished where body.sha256 != digest(download):
      faults.append("#\(header.sequence): other bytes than were served")
    case .failed: faults.append("#\(header.sequence): \(body.detail ?? "a download failed")")
    default: break
    }
  }

  private mutating func handedOver(_ body: SessionEvents, _ header: EnvelopeHeader) {
    if header.destination != owners[body.session] { faults.append("#\(header.sequence) goes to \(header.destination)") }
    if forgotten.contains(header.id) { faults.append("#\(header.sequence) delivers what was acknowledged") }
    let downloads = body.outcomes.map {
      Download(owner: header.destination, session: body.session, task: $0.task.taskIdentifier)
    }
    deliveries[header.id, default: []].formUnion(downloads)
  }

  private mutating func read<C: Conversation>(_: C.Type, _ envelope: Envelope) -> C? {
    do {
      return try BodyCoding.decode(C.self, from: envelope.body)
    } catch {
      faults.append("#\(envelope.header.sequence) cannot be read: \(error)")
      return nil
    }
  }
}

/// Reads the journal into a ledger, as far as it goes at each look.
actor CampaignWatch {
  private var cursor: JournalCursor
  private var ledger: CampaignLedger

  init(_ folder: String, _ ledger: CampaignLedger) {
    cursor = JournalReader(folder: URL(fileURLWithPath: folder)).cursor()
    self.ledger = ledger
  }

  func look<R: Sendable>(_ read: @Sendable (CampaignLedger) -> R) throws -> R {
    while let envelope = try cursor.next() { ledger.take(envelope) }
    return read(ledger)
  }
}
