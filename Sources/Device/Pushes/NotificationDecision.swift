import Archive
package import Conversations
package import Foundation

/// What became of the notifications that arrived: a plain value without clock or I/O.
///
/// One is open until all that it causes is on record. Of several widget pushes of one app whose reloads have not begun the
/// newest counts.
package struct NotificationDecision: Sendable {
  /// A notification that something still is to come of.
  package struct Open: Codable, Sendable, Equatable {
    package let notification: PushedNotification
    /// Reloads were asked for.
    var hasBegun = false
    /// Placements of which nothing has come yet.
    var outstanding: Set<Int> = []
    /// Of those a newer push took.
    var wasSuperseded = false
    /// Lives of the app that ended over it.
    var deaths = 0

    package var id: UUID { notification.uniqueID }
    var app: String { notification.subject.bundle }
    var isWidgets: Bool { notification.subject.use == .widgets }
  }

  package enum Event: Sendable {
    /// The host begins: this is what became of them at placements.
    case began([PlacementReport])
    case received(PushedNotification)
    /// The placed widgets that take pushes, by app, are others.
    case placed
    /// Reloads are asked for now.
    case begin(UUID)
    case reported(PlacementReport)
    /// The app is in front, or is woken: it is to be told.
    case expect(UUID)
    /// The system showed it to the person, and the app was not told.
    case shown(UUID)
    case discarded(UUID, String)
    case awake(Address)
    case lifeEnded(Address)
    case answered(UUID, ReceiveNotification.Reply.Result?)
    case failed(UUID, String)
    /// The time for the completion is over.
    case overran(UUID)
  }

  package enum Answer: Sendable, Equatable {
    case intent(PushIntent)
    case station(UUID, PushStation.Name, String?)
    case ask(Address, PushedNotification)
  }

  /// So many lives of the app may end over one notification. Source: ours.
  static let deathLimit = 2

  private let device: String
  package private(set) var open: [Open]
  /// The placed widgets that take pushes, by app.
  package var placements: [String: [Int: String]] = [:]
  /// The app is to be told when it runs.
  private var expected: Set<UUID> = []
  private var asking: Set<UUID> = []

  package init(device: String, open: [Open] = []) {
    self.device = device
    self.open = open
  }

  /// The name of the reason why an app is kept awake.
  package static func assertion(_ id: UUID) -> String { "push \(id.uuidString.lowercased().prefix(8))" }

  package func notification(_ id: UUID) -> Open? { open.first { $0.id == id } }

  package mutating func take(_ event: Event) -> [Answer] {
    switch event {
    case .began(let reports): return began(reports)
    case .received(let notification): return received(notification)
    case .placed: return open.filter { $0.isWidgets && $0.hasBegun }.flatMap { dropRemoved($0.id) }
    case .begin(let id): return begin(id)
    case .reported(let report): return reported(report)
    case .expect(let id):
      if notification(id) != nil { expected.insert(id) }
      return []
    case .shown(let id): return close(id, .handled, "shown")
    case .discarded(let id, let reason): return close(id, .discarded, reason)
    case .awake(let address): return tell(address)
    case .lifeEnded(let address): return lifeEnded(address)
    case .answered(let id, let result): return answered(id, result)
    case .failed(let id, let reason): return close(id, .discarded, reason)
    case .overran(let id): return overran(id)
    }
  }

  // MARK: Arrival

  private mutating func received(_ notification: PushedNotification) -> [Answer] {
    let id = notification.uniqueID
    guard self.notification(id) == nil else { return [] }
    switch notification.subject.use {
    case .app:
      open.append(Open(notification: notification))
      return handOver(id)
    case .widgets:
      guard PushPayload(notification.payload).isContentChanged else {
        return [
          .station(id, .noContentChanged, "its payload has no \"content-changed\": true in aps: it reloads nothing")
        ]
      }
      guard placements[notification.subject.bundle]?.isEmpty == false else {
        return [.station(id, .noWidget, "no widget of \(notification.subject.bundle) with a push handler is placed")]
      }
      let waiting = open.filter { $0.isWidgets && $0.app == notification.subject.bundle && !$0.hasBegun }
      open.append(Open(notification: notification))
      return waiting.flatMap { close($0.id, .supersededOnDevice, "by \(id.uuidString.lowercased())") }
        + [.intent(.reload(id))]
    }
  }

  private mutating func handOver(_ id: UUID) -> [Answer] {
    guard let open = notification(id) else { return [] }
    let address = Address.app(device, open.app)
    let payload = PushPayload(open.notification.payload)
    switch open.notification.type {
    case .background where !payload.isContentAvailable:
      return close(id, .discarded, "a background push wakes the app with \"content-available\": 1 in aps alone")
    case .background, .alert: return [.intent(.handOver(id, to: address, wakes: payload.isContentAvailable))]
    default:
      let type = open.notification.type.rawValue
      return close(id, .discarded, "nothing on this device receives pushes of the type \(type)")
    }
  }

  // MARK: Widgets

  private mutating func begin(_ id: UUID) -> [Answer] {
    guard let index = open.firstIndex(where: { $0.id == id }), open[index].isWidgets else { return [] }
    guard !open[index].hasBegun else { return [] }
    let placed = placements[open[index].app] ?? [:]
    guard !placed.isEmpty else { return close(id, .noWidget, "the widgets were removed before it began") }
    open[index].hasBegun = true
    open[index].outstanding = Set(placed.keys)
    return [.station(id, .reloading, placed.keys.sorted().map { name($0, open[index].app) }.joined(separator: ", "))]
  }

  /// The placements that a push has begun to reload.
  package func outstanding(_ id: UUID) -> [Int] { notification(id)?.outstanding.sorted() ?? [] }

  private mutating func reported(_ report: PlacementReport) -> [Answer] {
    guard let index = open.firstIndex(where: { $0.id == report.push }),
      open[index].outstanding.contains(report.placement)
    else { return [] }
    let what = name(report.placement, open[index].app)
    var answers: [Answer] = []
    switch report.outcome {
    case .owed: return []
    case .delayed(let rule, let until):
      let end = until.map { " until \($0.formatted(.iso8601))" } ?? ""
      return [.station(report.push, .budget, "\(what) waits\(end): \(rule)")]
    case .failed(let reason): return [.station(report.push, .reloadFailed, "\(what): \(reason)")]
    case .refused(let rule): answers = [.station(report.push, .budget, "\(what) is refused: \(rule)")]
    case .stored: answers = [.station(report.push, .reloaded, what)]
    case .gaveUp(let reason): answers = [.station(report.push, .reloadFailed, "\(what): \(reason)")]
    case .superseded:
      if !open[index].wasSuperseded { answers = [.station(report.push, .supersededOnDevice, "at \(what)")] }
      open[index].wasSuperseded = true
    }
    open[index].outstanding.remove(report.placement)
    if open[index].outstanding.isEmpty { open.remove(at: index) }
    return answers
  }

  private mutating func dropRemoved(_ id: UUID) -> [Answer] {
    guard let index = open.firstIndex(where: { $0.id == id }) else { return [] }
    let placed = Set((placements[open[index].app] ?? [:]).keys)
    guard !open[index].outstanding.isSubset(of: placed) else { return [] }
    open[index].outstanding.formIntersection(placed)
    return open[index].outstanding.isEmpty ? close(id, .noWidget, "the widgets were removed before their reload") : []
  }

  private func name(_ placement: Int, _ app: String) -> String {
    let kind = placements[app]?[placement]
    return "placement \(placement)\(kind.map { " (\($0))" } ?? "")"
  }

  // MARK: The app

  private mutating func tell(_ address: Address) -> [Answer] {
    open.filter { !$0.isWidgets && Address.app(device, $0.app) == address && expected.contains($0.id) }
      .compactMap { asking.insert($0.id).inserted ? .ask(address, $0.notification) : nil }
  }

  private mutating func answered(_ id: UUID, _ result: ReceiveNotification.Reply.Result?) -> [Answer] {
    close(
      id, .handled,
      result?.rawValue ?? "the delegate has no application(_:didReceiveRemoteNotification:fetchCompletionHandler:)")
  }

  /// Source: "or your app will be terminated", `application(_:didReceiveRemoteNotification:fetchCompletionHandler:)`.
  private mutating func overran(_ id: UUID) -> [Answer] {
    guard let open = notification(id) else { return [] }
    let reason = "the completion handler was not called within 30 s"
    return close(id, .handled, "\(reason): the app is ended")
      + [.intent(.evict(Address.app(device, open.app), why: "\(reason) of a push"))]
  }

  /// What was being told is told in the next life, if the system still wants that.
  private mutating func lifeEnded(_ address: Address) -> [Answer] {
    let told = open.filter { !$0.isWidgets && Address.app(device, $0.app) == address && expected.contains($0.id) }
    return told.flatMap { item -> [Answer] in
      expected.remove(item.id)
      let wasAsked = asking.remove(item.id) != nil
      guard wasAsked, let index = open.firstIndex(where: { $0.id == item.id }) else { return handOver(item.id) }
      open[index].deaths += 1
      guard open[index].deaths < NotificationDecision.deathLimit else {
        return close(item.id, .discarded, "the app ended twice while it was told")
      }
      return handOver(item.id)
    }
  }

  // MARK: Ends and beginnings

  private mutating func close(_ id: UUID, _ name: PushStation.Name, _ detail: String) -> [Answer] {
    guard let index = open.firstIndex(where: { $0.id == id }) else { return [] }
    let closed = open.remove(at: index)
    asking.remove(id)
    expected.remove(id)
    let answers: [Answer] = [.station(id, name, detail)]
    guard !closed.isWidgets else { return answers }
    let address = Address.app(device, closed.app)
    return answers + [.intent(.release(address, because: NotificationDecision.assertion(id)))]
  }

  /// Takes up what the last life of the host left: of each app's widget pushes the newest, unless Timelines has it.
  private mutating func began(_ reports: [PlacementReport]) -> [Answer] {
    var answers = reports.flatMap { reported($0) }
    let known = Set(reports.map { Known(push: $0.push, placement: $0.placement) })
    var newest: Set<String> = []
    for item in open.reversed() where item.isWidgets {
      guard !newest.insert(item.app).inserted else {
        answers.append(.intent(.reload(item.id)))
        continue
      }
      let unknown = item.outstanding.filter { !known.contains(Known(push: item.id, placement: $0)) }
      if !item.hasBegun {
        answers += close(item.id, .supersededOnDevice, "by a newer one")
      } else {
        answers += unknown.sorted().flatMap {
          reported(PlacementReport(push: item.id, placement: $0, outcome: .superseded))
        }
      }
    }
    return answers + open.filter { !$0.isWidgets }.flatMap { handOver($0.id) }
  }

  private struct Known: Hashable {
    let push: UUID
    let placement: Int
  }
}
