// SPDX-License-Identifier: Apache-2.0

package import Archive
package import Foundation
package import Messages

/// The state machine of notifications that arrived. A plain value without clock or I/O.
///
/// A notification is open until all its results are recorded. Of several pushes to an app's widgets, or to one control,
/// whose reloads have not begun, only the newest counts.
package struct NotificationStateMachine: Sendable, Hashable {
  /// A notification that is not fully processed.
  package struct Open: Codable, Sendable, Hashable {
    package let notification: PushedNotification
    /// Whether Timelines has reported a reload.
    var hasBegun = false
    /// Placements whose result is pending.
    var outstanding: Set<Int> = []
    /// Whether a newer push replaced one of its reloads.
    var wasSuperseded = false
    /// How many process instances of the app ended while they handled it.
    var exits = 0

    package var id: UUID { notification.uniqueID }
    var app: String { notification.subject.bundle }
    /// The key of the token to which it was sent.
    var key: TokenKey { notification.key }
    /// Whether it reloads widgets or a control. The others are for the app itself.
    package var reloads: Bool {
      switch key.use {
      case .widgets, .control: true
      case .app, .liveActivity, .liveActivityStarts, .fleet: false
      }
    }
  }

  package enum Event: Sendable {
    /// The host starts: continue the notifications that reload widgets. These are the results at placements so far.
    case began([PlacementReloadReport])
    /// The host starts: continue a notification for an app.
    case resumed(UUID)
    case received(PushedNotification)
    /// `placements` has changed.
    case placed
    case reported(PlacementReloadReport)
    /// The app is in the foreground or is woken: it must receive the notification.
    case expect(UUID)
    /// All is done for it, with this result: it is shown to the user, a Live Activity took it, or it is discarded.
    case closed(UUID, PushStep.Name, String)
    /// It arrived, and is not handled.
    case setAside(UUID, String)
    case awake(Address)
    case instanceEnded(Address)
    case answered(UUID, ReceiveNotification.Reply)
    /// The time for the completion handler is over.
    case overran(UUID)
  }

  package enum Action: Sendable, Equatable {
    case asks(DeviceRequest)
    case step(UUID, PushStep.Name, String?)
    case ask(Address, PushedNotification)
  }

  /// How many process instances of the app may end while they handle one notification. Source: ours.
  static let exitLimit = 2

  private let device: String
  package private(set) var open: [Open]
  /// The notifications that have arrived.
  package private(set) var takenNotifications: TakenNotifications
  /// The kinds of the placements that a push reloads, by the key of its token and by placement number.
  package var placements: [TokenKey: [Int: String]] = [:]
  /// Notifications that the app receives as soon as it runs.
  private var expected: Set<UUID> = []
  private var asking: Set<UUID> = []

  package init(device: String, open: [Open] = [], taken takenNotifications: TakenNotifications = TakenNotifications()) {
    self.device = device
    self.takenNotifications = takenNotifications
    self.open = open
  }

  /// The assertion that keeps an app awake.
  package static func assertion(_ id: UUID) -> Assertion {
    Assertion("push \(id.text.prefix(8))")
  }

  package func notification(_ id: UUID) -> Open? { open.first { $0.id == id } }

  package mutating func handle(_ event: Event) -> [Action] {
    switch event {
    case .began(let reports): return began(reports)
    case .resumed(let id): return offer(id)
    case .received(let notification): return received(notification)
    case .placed: return open.filter(\.reloads).flatMap { dropRemoved($0.id) }
    case .reported(let report): return reported(report)
    case .expect(let id):
      if notification(id) != nil { expected.insert(id) }
      return []
    case .closed(let id, let step, let detail): return close(id, name: step, detail: detail)
    case .setAside(let id, let reason): return takenNotifications.insert(id) ? [.step(id, .discarded, reason)] : []
    case .awake(let address): return notify(address)
    case .instanceEnded(let address): return instanceEnded(address)
    case .answered(let id, let reply): return close(id, name: .handled, detail: reply.text)
    case .overran(let id): return overran(id)
    }
  }

  // MARK: Arrival

  private mutating func received(_ notification: PushedNotification) -> [Action] {
    let id = notification.uniqueID
    guard takenNotifications.insert(id) else { return [] }
    switch notification.subject.use {
    case .app, .liveActivity, .liveActivityStarts, .fleet:
      open.append(Open(notification: notification))
      return offer(id)
    case .widgets, .control:
      guard PushPayload(notification.payload).isContentChanged else {
        return [
          .step(id, .noContentChanged, "its payload has no \"content-changed\": true in aps: it reloads nothing")
        ]
      }
      let placed = placements[notification.key] ?? [:]
      guard !placed.isEmpty else { return [.step(id, .noWidget, notification.nothingPlaced)] }
      let waiting = open.filter { $0.key == notification.key && !$0.hasBegun }
      open.append(Open(notification: notification, outstanding: Set(placed.keys)))
      return waiting.flatMap { close($0.id, name: .supersededOnDevice, detail: "by \(id.text)") }
        + [reload(id)]
    }
  }

  private mutating func offer(_ id: UUID) -> [Action] {
    guard let open = notification(id) else { return [] }
    switch open.key.use {
    case .liveActivity, .liveActivityStarts: return [.asks(.activity(open.notification))]
    case .app, .widgets, .control, .fleet: break
    }
    let address = Address.app(device, open.app)
    let payload = PushPayload(open.notification.payload)
    switch open.notification.type {
    case .background where !payload.isContentAvailable:
      return close(
        id, name: .discarded, detail: "a background push wakes the app only with \"content-available\": 1 in aps")
    case .background, .alert: return [.asks(.offer(id, to: address, wakes: payload.isContentAvailable))]
    default:
      let type = open.notification.type.rawValue
      return close(id, name: .discarded, detail: "nothing on this device receives pushes of type \(type)")
    }
  }

  // MARK: Widgets and controls

  private func reload(_ id: UUID) -> Action { .asks(.reload(id, placements: outstanding(id))) }

  /// Timelines has taken the push, with the first report about it.
  private mutating func begin(at index: Int) -> [Action] {
    guard !open[index].hasBegun else { return [] }
    open[index].hasBegun = true
    let names = open[index].outstanding.sorted().map { name($0, open[index].key) }
    return [.step(open[index].id, .reloading, names.joined(separator: ", "))]
  }

  /// The placements at which the reload for a push is not finished.
  func outstanding(_ id: UUID) -> [Int] { notification(id)?.outstanding.sorted() ?? [] }

  private mutating func reported(_ report: PlacementReloadReport) -> [Action] {
    guard let index = open.firstIndex(where: { $0.id == report.push }),
      open[index].outstanding.contains(report.placement)
    else { return [] }
    let what = name(report.placement, open[index].key)
    var actions = begin(at: index)
    switch report.outcome {
    case .pending: return actions
    case .delayed(let rule, let until):
      let end = until.map { " until \($0.formatted(.iso8601))" } ?? ""
      return actions + [.step(report.push, .budget, "\(what) waits\(end): \(rule)")]
    case .failed(let reason): return actions + [.step(report.push, .reloadFailed, "\(what): \(reason)")]
    case .refused(let rule): actions.append(.step(report.push, .budget, "\(what) is refused: \(rule)"))
    case .stored: actions.append(.step(report.push, .reloaded, what))
    case .gaveUp(let reason): actions.append(.step(report.push, .reloadFailed, "\(what): \(reason)"))
    case .superseded:
      if !open[index].wasSuperseded { actions.append(.step(report.push, .supersededOnDevice, "at \(what)")) }
      open[index].wasSuperseded = true
    }
    open[index].outstanding.remove(report.placement)
    if open[index].outstanding.isEmpty { open.remove(at: index) }
    return actions
  }

  private mutating func dropRemoved(_ id: UUID) -> [Action] {
    guard let index = open.firstIndex(where: { $0.id == id }) else { return [] }
    let placed = Set((placements[open[index].key] ?? [:]).keys)
    guard !open[index].outstanding.isSubset(of: placed) else { return [] }
    open[index].outstanding.formIntersection(placed)
    return open[index].outstanding.isEmpty ? close(id, name: .noWidget, detail: "removed before the reload") : []
  }

  private func name(_ placement: Int, _ key: TokenKey) -> String {
    let kind = placements[key]?[placement]
    return "placement \(placement)\(kind.map { " (\($0))" } ?? "")"
  }

  // MARK: The app

  private mutating func notify(_ address: Address) -> [Action] {
    open.filter { !$0.reloads && Address.app(device, $0.app) == address && expected.contains($0.id) }
      .compactMap { asking.insert($0.id).inserted ? .ask(address, $0.notification) : nil }
  }

  /// Source: "or your app will be terminated", `application(_:didReceiveRemoteNotification:fetchCompletionHandler:)`.
  private mutating func overran(_ id: UUID) -> [Action] {
    guard let open = notification(id) else { return [] }
    let reason = "the completion handler was not called within 30 s"
    return close(id, name: .handled, detail: "\(reason): the app is terminated")
      + [.asks(.process(.evict(Address.app(device, open.app), why: "\(reason) of a push")))]
  }

  /// A notification that was being handled is sent to the next process instance, if the system still requests that.
  private mutating func instanceEnded(_ address: Address) -> [Action] {
    let notified = open.filter { !$0.reloads && Address.app(device, $0.app) == address && expected.contains($0.id) }
    return notified.flatMap { item -> [Action] in
      expected.remove(item.id)
      let wasAsked = asking.remove(item.id) != nil
      guard wasAsked, let index = open.firstIndex(where: { $0.id == item.id }) else { return offer(item.id) }
      open[index].exits += 1
      guard open[index].exits < NotificationStateMachine.exitLimit else {
        return close(item.id, name: .discarded, detail: "the app exited twice while it handled the notification")
      }
      return offer(item.id)
    }
  }

  // MARK: Closing and resuming

  private mutating func close(_ id: UUID, name: PushStep.Name, detail: String) -> [Action] {
    guard let index = open.firstIndex(where: { $0.id == id }) else { return [] }
    let closed = open.remove(at: index)
    asking.remove(id)
    expected.remove(id)
    let actions: [Action] = [.step(id, name, detail)]
    guard !closed.reloads else { return actions }
    let address = Address.app(device, closed.app)
    return actions + [.asks(.process(.release(address, because: NotificationStateMachine.assertion(id))))]
  }

  /// Resumes after a host restart: of the pushes to the same widgets or control the newest is reloaded, unless Timelines
  /// has it already.
  private mutating func began(_ reports: [PlacementReloadReport]) -> [Action] {
    var actions = reports.flatMap { reported($0) } + open.filter(\.reloads).flatMap { dropRemoved($0.id) }
    let knownPlacements = Dictionary(grouping: reports, by: \.push).mapValues { $0.map(\.placement) }
    var newest: Set<TokenKey> = []
    for item in open.reversed() where item.reloads {
      guard !newest.insert(item.key).inserted else {
        if notification(item.id) != nil { actions.append(reload(item.id)) }
        continue
      }
      if !item.hasBegun {
        actions += close(item.id, name: .supersededOnDevice, detail: "by a newer one")
      } else {
        actions += item.outstanding.subtracting(knownPlacements[item.id] ?? []).sorted().flatMap {
          reported(PlacementReloadReport(push: item.id, placement: $0, outcome: .superseded))
        }
      }
    }
    return actions
  }
}

extension PushedNotification {
  /// The key of the token to which it was sent.
  fileprivate var key: TokenKey { TokenKey(subject.bundle, subject.use) }

  /// Why it reloads nothing when no placement takes it.
  fileprivate var nothingPlaced: String {
    if case .control(let placement) = subject.use { return "control \(placement) of \(subject.bundle) is not placed" }
    return "no widget of \(subject.bundle) with a push handler is placed"
  }
}

/// The fields of a notification's payload that the device evaluates.
struct PushPayload {
  /// `"content-changed": true`. Source: "Updating widgets with WidgetKit push notifications".
  private(set) var isContentChanged = false
  /// `"content-available": 1`. Source: "Pushing background updates to your app".
  private(set) var isContentAvailable = false

  /// - Parameter text: JSON; a trailing comma is accepted, since Apple's own sample has one.
  init(_ text: String) {
    let decoder = JSONDecoder()
    decoder.allowsJSON5 = true
    guard let aps = try? decoder.decode(Payload.self, from: Data(text.utf8)).aps else { return }
    isContentChanged = aps.contentChanged
    isContentAvailable = aps.contentAvailable
  }

  private struct Payload: Decodable {
    let aps: Aps
  }

  private struct Aps: Decodable {
    enum Key: String, CodingKey {
      case contentChanged = "content-changed"
      case contentAvailable = "content-available"
    }
    let contentChanged: Bool
    let contentAvailable: Bool

    init(from decoder: any Decoder) throws {
      let values = try decoder.container(keyedBy: Key.self)
      contentChanged = (try? values.decode(Bool.self, forKey: .contentChanged)) ?? false
      let number = try? values.decode(Int.self, forKey: .contentAvailable)
      contentAvailable = number.map { $0 == 1 } ?? (try? values.decode(Bool.self, forKey: .contentAvailable)) ?? false
    }
  }
}

/// The ids of the newest notifications that arrived. A notification that arrives again is ignored.
package struct TakenNotifications: Sendable, Hashable {
  /// How many are remembered: the push server does not redeliver older ones.
  package static let remembered = 20_000

  private var ids: Set<UUID> = []
  /// The ids in the order of their arrival. Those before `first` are forgotten.
  private var order: [UUID] = []
  private var first = 0

  /// - Parameter ids: in the order of their arrival.
  package init(_ ids: [UUID] = []) {
    for id in ids { insert(id) }
  }

  package func contains(_ id: UUID) -> Bool { ids.contains(id) }

  /// - Returns: `false` if the notification had arrived before.
  @discardableResult
  mutating func insert(_ id: UUID) -> Bool {
    guard ids.insert(id).inserted else { return false }
    order.append(id)
    guard ids.count > Self.remembered else { return true }
    ids.remove(order[first])
    first += 1
    if first > Self.remembered {
      order.removeFirst(first)
      first = 0
    }
    return true
  }
}
