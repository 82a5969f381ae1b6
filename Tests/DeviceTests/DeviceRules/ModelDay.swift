// SPDX-License-Identifier: Apache-2.0

import Archive
import Foundation
import Messages

@testable import DeviceRules

/// A day of a device with an app and two extensions: a script of events, and a model of agents, authors, servers and the
/// push server, which answers the actions.
struct ModelDay {
  static let app = Address.app("iphone", "com.example.Coffee")
  static let widgets = ["Cups", "Beans"].map { Address.widgetExtension("iphone", "com.example.Coffee.\($0)") }
  static let agent = Address.agent("iphone", 1)
  static let morning = Date(timeIntervalSince1970: 1_000_026_000)

  private(set) var device: DeviceStateMachine
  private(set) var now = ModelDay.morning
  /// Each action with its date, as text.
  private(set) var steps: [String] = []
  private var queue: [(date: Date, event: DeviceEvent)] = []
  private var generations: [Address: UInt32] = [:]
  private var created = 0

  /// - Parameter isReversed: events of one instant that concern different processes come in the other order.
  init(isReversed: Bool = false) {
    let products = [Self.app] + Self.widgets
    let pushProducts = products.map { PushProduct(address: $0, app: "com.example.Coffee", environment: .development) }
    let apps = [InstalledApp(address: Self.app, extensions: Self.widgets)]
    device = DeviceStateMachine()
    device.launching = LaunchStateMachine(
      agents: Dictionary(uniqueKeysWithValues: products.map { ($0, Self.agent) }), suspendAfter: 5)
    device.apps = AppLifecycleStateMachine(apps: apps)
    device.loading = LoadingStateMachine(
      settings: TransferSettings(), families: AppFamilies(apps: ["com.example.Coffee"]))
    device.timelines = TimelineStateMachine(extensions: Self.widgets, apps: [Self.app])
    device.tokens = TokenStateMachine(products: pushProducts)
    device.notifications = NotificationStateMachine(device: "iphone")
    device.gallery = GalleryStateMachine(device: .phone, apps: ["com.example.Coffee"])
    device.activities = ActivityStateMachine(apps: apps)
    device.facts = Self.facts
    begin()
    for hour in 0..<24 { add(Double(hour) * 3600, hourly(hour, isReversed: isReversed)) }
  }

  private static var facts: DeviceFacts {
    var facts = DeviceFacts()
    facts.device = "iphone"
    for widget in widgets { facts.extensions[widget] = widget == widgets[0] }
    return facts
  }

  // MARK: The script

  private mutating func begin() {
    let bundles = Set(Self.widgets.compactMap(\.bundleIdentifier))
    add(
      0,
      [
        .gallery(.keep(extensions: bundles, apps: ["com.example.Coffee"])), .conditions(.began(running: [:])),
        .settings(.began(running: [:])), .delivery(.began), .loading(.network(NetworkState())), .loading(.began),
        .apps(.began(moving: [], quit: [], inFront: [])), .gallery(.began), .activities(.advance), .pushWidgets([:]),
        .tokens(.began), .notifications([.began([])]), .timelines(.began), .gallery(.turnStacks),
        .launching(.agentReported(Self.agent, incarnation: number(1), children: [])),
      ])
    for widget in Self.widgets {
      add(1, [.asked(.process(.want(widget, because: "gallery")))])
      add(9, [.asked(.process(.release(widget, because: "gallery")))])
    }
  }

  private mutating func hourly(_ hour: Int, isReversed: Bool) -> [DeviceEvent] {
    let widget = Self.widgets[hour % 2]
    var events: [DeviceEvent] = [
      .timelines(.reload(from: widget, kind: nil, isInside: false, .none))
    ]
    let key = TaskKey(session: session(of: widget), identifier: hour + 1)
    events += [
      .delivery(.created(key)),
      .loading(
        .created(LoadingStateMachine.Transfer(key: key, host: "http://a", created: Self.morning + Double(hour) * 3600))),
    ]
    switch hour {
    case 1: events.append(.gallery(.open(app: "com.example.Coffee", .none)))
    case 2: events += [.apps(.opened(Self.app)), .tokens(.register(app: "com.example.Coffee"))]
    case 3: events.append(.gallery(.screen(.background(app: "com.example.Coffee"), .none)))
    case 4:
      events.append(
        .gallery(
          .add(AddPlacement(widgetKind: "Cups", family: nil, location: .homeScreen, stack: 1), offer: nil, .none)))
    case 5, 12: events.append(.notifications([.received(push(hour, .app))]))
    case 6: events.append(.gallery(.screen(.lock, .none)))
    case 7: events.append(.gallery(.screen(.unlock, .none)))
    case 8: events.append(.conditions(.networkSet(NetworkState(path: .off))))
    case 9: events.append(.conditions(.networkSet(NetworkState())))
    case 10:
      if let stored = try? device.settings.changed(by: .set(.textSize, "xLarge")) {
        events.append(.settings(.stored(stored)))
      }
    case 11: events.append(.notifications([.received(push(hour, .widgets))]))
    // Both extensions end at one instant.
    case 13, 14, 15:
      let widgets = isReversed ? Self.widgets.reversed() : Self.widgets
      events = widgets.map { .asked(.process(.want($0, because: "test"))) }
      add(Double(hour) * 3600 + 60, widgets.map { .launching(.process(.evict($0, why: "killed"))) })
      add(Double(hour) * 3600 + 120, widgets.map { .asked(.process(.release($0, because: "test"))) })
    case 16: events += [.launching(.quit(Self.app)), .quit(app: Self.app, [session(of: widget)])]
    case 17: events.append(.launching(.allEvicted(why: "the device restarts")))
    case 18: events.append(.gallery(.remove(1, .none)))
    default: break
    }
    return events
  }

  private func session(of owner: Address) -> SessionKey { SessionKey(owner: owner, identifier: owner.text) }

  private func number(_ number: Int) -> UUID {
    UUID(uuid: (1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, UInt8(truncatingIfNeeded: number)))
  }

  private func push(_ hour: Int, _ use: PushTokenUse) -> PushedNotification {
    PushedNotification(
      uniqueID: number(hour), apnsID: number(hour).uuidString,
      subject: PushSubject(device: "iphone", bundle: "com.example.Coffee", use: use),
      type: use == .app ? .background : .widgets, priority: 10, collapseID: nil,
      payload: #"{"aps":{"content-available":1,"content-changed":true}}"#, acceptedAt: now, expiration: nil,
      isFromStorage: false)
  }

  // MARK: The run

  private mutating func add(_ seconds: Double, _ events: [DeviceEvent]) {
    queue += events.map { (Self.morning + seconds, $0) }
  }

  private mutating func later(_ seconds: Double, _ events: DeviceEvent...) {
    queue += events.map { (now + seconds, $0) }
  }

  /// Runs the day.
  mutating func run() {
    let end = Self.morning + 86_400
    while let next = nextEvent(), next.date <= end, steps.count < 100_000 {
      now = max(now, next.date)
      let step = device.handle(next.event, now: now)
      for action in step.actions {
        steps.append("\(now.timeIntervalSince1970) \(canonical(action))")
        answer(action)
      }
    }
  }

  /// The earliest event: of the queue, or the next date of the device.
  private mutating func nextEvent() -> (date: Date, event: DeviceEvent)? {
    let due = device.nextInstant.map { (date: max($0, now), event: DeviceEvent.timerFired) }
    guard let index = queue.indices.min(by: { queue[$0].date < queue[$1].date }) else { return due }
    if let due, due.date < queue[index].date { return due }
    return queue.remove(at: index)
  }

  // MARK: The environment

  private mutating func answer(_ action: DeviceAction) {
    switch action {
    case .launching(let action): answer(action)
    case .timelines(.ask(let providerRequest)): later(0.2, .timelines(reply(providerRequest)))
    case .loading(.load(let key)):
      later(2, .delivery(.ending(key)), .loading(.ended(key)), .delivery(.ended([key])))
    case .delivery(.deliver(let id, let attempt)):
      later(0.05, .delivery(.sent(id, generation: attempt.generation)), .delivery(.acknowledged(id)))
    case .tokens(.tokensChanged):
      for (key, keptToken) in device.tokens.state.tokens.sorted(by: { $0.key < $1.key }) where keptToken.phase != .held
      {
        later(0.1, .tokens(keptToken.phase == .asking ? .issued(key, "token of \(key.use)") : .released(key)))
      }
    case .tokens(.notify(let address, let notice)): later(0.1, .tokens(.notified(address, notice)))
    case .notifications(.ask(_, let notification)):
      later(0.1, .notifications([.answered(notification.uniqueID, ReceiveNotification.Reply(result: .newData))]))
    default: break
    }
  }

  private mutating func answer(_ action: LaunchStateMachine.Action) {
    switch action {
    case .spawn(let address, _):
      let generation = (generations[address] ?? 0) + 1
      generations[address] = generation
      let instance = ProcessInstance(generation: generation, pid: 7)
      later(0.05, .launching(.spawned(address, instance)))
      later(0.1, .runs(address, generation: generation))
      if address.role == .widgetExtension {
        var widget = WidgetDeclaration(kind: address == Self.widgets[0] ? "Cups" : "Beans")
        widget.families = [.systemSmall]
        widget.pushHandler = "Handler"
        later(
          0.1, .gallery(.learned(address, [widget], .none)),
          .loading(.opened(session(of: address), SessionConfiguration())),
          .delivery(.opened(session(of: address), sendsLaunchEvents: true, generation: generation)))
      }
      later(0.1, .launching(.ready(address, generation: generation)))
    case .signal(let address, let generation, SIGKILL):
      let instance = ProcessInstance(generation: generation, pid: 7)
      later(0.02, .launching(.exited(address, instance, .signalled(signal: SIGKILL))))
    case .signal(let address, let generation, let signal):
      later(0.02, .launching(.signalled(address, generation: generation, signal: signal)))
    case .pause(let address): later(1, .launching(.pauseEnded(address)))
    case .list, .asks, .changed: break
    }
  }

  private func reply(_ providerRequest: TimelineStateMachine.ProviderRequest) -> TimelineStateMachine.Event {
    guard providerRequest.purpose == .timeline else { return .answered(providerRequest) }
    let entries = (0..<3).map { index in
      UpcomingEntry(
        date: now + Double(index) * 900, text: ["cup \(index)"],
        relevance: ArchivedEntry.Relevance(score: Double(index), duration: 600),
        transition: EntryTransition(.text("cup \(index)"), Data([UInt8(index)])))
    }
    let facts = TimelineFacts(
      reloadCause: providerRequest.reloadCause, entries: entries.count, first: entries[0].date, last: entries[2].date,
      policy: .after(now + 5400), bytes: 300, digest: "digest", note: nil)
    return .gave(providerRequest, facts, entries)
  }
}

/// A value as text, with dictionaries and sets in order.
func canonical(_ value: Any) -> String {
  switch value {
  case let text as String: return "\"\(text)\""
  case let date as Date: return "\(date.timeIntervalSince1970)"
  case let id as UUID: return id.uuidString
  case let address as Address: return address.text
  case let data as Data: return data.base64EncodedString()
  default: break
  }
  let mirror = Mirror(reflecting: value)
  let children = mirror.children.map { child in (child.label.map { "\($0): " } ?? "") + canonical(child.value) }
  switch mirror.displayStyle {
  case .dictionary?, .set?: return "[\(children.sorted().joined(separator: ", "))]"
  case .collection?: return "[\(children.joined(separator: ", "))]"
  case .optional?: return mirror.children.first.map { canonical($0.value) } ?? "nil"
  case .enum? where children.isEmpty: return "\(value)"
  case .enum?, .tuple?: return "(\(children.joined(separator: ", ")))"
  case .struct?, .class?: return "\(mirror.subjectType)(\(children.joined(separator: ", ")))"
  default: return "\(value)"
  }
}
