// SPDX-License-Identifier: Apache-2.0

package import Archive
import Foundation
package import Messages

/// The state machine of device tokens, and of the calls that report them. A plain value without clock or I/O.
///
/// A token for widgets is wanted while a widget with a push handler is placed whose extension has the entitlement; one for
/// a control while that control is; a token for the app from `registerForRemoteNotifications()` on. A call of the handlers
/// of widgets or of controls is due while the tokens or the placements differ from those of the last call.
package struct TokenStateMachine: Sendable, Hashable {
  package struct Kept: Codable, Sendable, Hashable {
    package enum Phase: String, Codable, Sendable { case asking, held, releasing }
    package fileprivate(set) var phase: Phase
    /// `nil` while the token is requested.
    package fileprivate(set) var token: String?
    package let environment: PushEnvironment
  }

  /// A call of an extension's handlers.
  package enum TokenNotice: Sendable, Hashable {
    case widgets(TellPushHandlers)
    case controls(TellControlPushHandlers)
  }

  /// The persistent state.
  package struct State: Codable, Sendable, Hashable {
    package fileprivate(set) var tokens: [TokenKey: Kept] = [:]
    /// The last call that each extension's widget push handlers acknowledged, by its bundle identifier.
    var notified: [String: TellPushHandlers] = [:]
    /// The same of its control push handlers.
    var notifiedControls: [String: TellControlPushHandlers] = [:]
    /// Registered apps.
    var registered: Set<String> = []
    /// The token that each running app received.
    var notifiedApps: [String: String] = [:]
    package init() {}
  }

  package enum Event: Sendable {
    case began
    /// The widgets of each extension, by its bundle identifier.
    case widgets([String: PushWidgets])
    /// The tokens that Live Activities need, and those that start them.
    case activities(Set<TokenKey>)
    /// The app requested an activity with a token, without the entitlement.
    case activityRefused(app: String)
    case issued(TokenKey, String)
    case released(TokenKey)
    /// The token started an activity. It ends, and a new one is requested.
    case used(TokenKey)
    /// `push.token.replaced`.
    case replaced(TokenKey, String?)
    case register(app: String)
    case unregister(app: String)
    case awake(Address)
    case instanceEnded(Address)
    case notified(Address, TokenNotice)
    /// The call of the handlers did not complete.
    case notNotified(Address, TokenNotice)
    case appNotified(app: String, String)
  }

  package enum Action: Sendable, Equatable {
    case asks(DeviceRequest)
    /// Request or release tokens according to `state.tokens`.
    case tokensChanged
    case notify(Address, TokenNotice)
    case notifyApp(Address, app: String, String)
    case registered(app: String)
    case notRegistered(app: String)
    case withheld(PushWithheld)
  }

  /// The assertion that keeps an extension awake.
  package static let assertion: Assertion = "push handlers"
  /// How many process instances may end during one call before it waits for a launch with another cause. Source: ours.
  static let exitLimit = 2

  private let products: [PushProduct]
  /// Whether the device's system supports pushes to widgets.
  private let hasWidgetPushes: Bool
  package private(set) var state: State
  private var widgets: [String: PushWidgets] = [:]
  private var wanted: Set<Address> = []
  /// Those of them that are wanted only until their instances end.
  private var borrowed: Set<Address> = []
  private var asking: [Address: TokenNotice] = [:]
  /// How many process instances ended during a call that was not completed since.
  private var exits: [Address: [TokenNotice: Int]] = [:]
  private var withheld: Set<PushWithheld> = []
  /// The tokens for Live Activities. Set before the first event, because each event releases what is not wanted.
  package var activities: Set<TokenKey> = []

  package init(products: [PushProduct], hasWidgetPushes: Bool = true, state: State = State()) {
    self.products = products
    self.hasWidgetPushes = hasWidgetPushes
    self.state = state
  }

  // MARK: Queries

  /// The token of an app, of its widgets or of a control; `nil` while it has none.
  package func token(_ key: TokenKey) -> String? {
    state.tokens[key].flatMap { $0.phase == .held ? $0.token : nil }
  }

  /// Whether an app is registered and has the entitlement.
  package func isRegistered(_ app: String) -> Bool { environment(TokenKey(app, .app)) != nil }

  /// Source: `WidgetCenter.currentPushInfo`.
  package func pushInfo(askedBy address: Address) -> String? {
    guard let app = product(address)?.app, !placements(ofApp: app).isEmpty else { return nil }
    return token(TokenKey(app, .widgets))
  }

  /// The tokens of an app's controls, by placement number. Source: `ControlInfo.pushInfo`.
  package func controlTokens(askedBy address: Address) -> [Int: String] {
    guard let app = product(address)?.app else { return [:] }
    return Dictionary(
      uniqueKeysWithValues: tokens(ofControls: controls(ofApp: app), app).map { ($0.placement.id, $0.token) })
  }

  /// The placed widgets of an app that take pushes.
  package func placements(ofApp app: String) -> [Placement] {
    guard hasWidgetPushes else { return [] }
    return placed(\.placements, ofApp: app)
  }

  /// The placed controls of an app that take pushes.
  private func controls(ofApp app: String) -> [Placement] { placed(\.controls, ofApp: app) }

  private func placed(_ placements: KeyPath<PushWidgets, [Placement]>, ofApp app: String) -> [Placement] {
    takers.filter { $0.app == app }.flatMap { widgets[$0.bundle]?[keyPath: placements] ?? [] }.sorted { $0.id < $1.id }
  }

  private func tokens(ofControls controls: [Placement], _ app: String) -> [TellControlPushHandlers.Control] {
    controls.compactMap { control in
      token(TokenKey(app, .control(control.id))).map { TellControlPushHandlers.Control(placement: control, token: $0) }
    }
  }

  /// The placements that a push to widgets or to a control reloads, by the key of its token.
  var reloadedPlacements: [TokenKey: [Placement]] {
    apps.reduce(into: [:]) { reloaded, app in
      reloaded[TokenKey(app, .widgets)] = reloadedWidgets(ofApp: app)
      for control in controls(ofApp: app) { reloaded[TokenKey(app, .control(control.id))] = [control] }
    }
  }

  /// The placed widgets of an app that a widget push reloads: those that take pushes, and others by a setting. None while
  /// no placed widget takes pushes.
  private func reloadedWidgets(ofApp app: String) -> [Placement] {
    let taking = placements(ofApp: app)
    guard !taking.isEmpty else { return [] }
    let others = products.filter { $0.app == app }.flatMap { widgets[$0.bundle]?.others ?? [] }
    return (taking + others).sorted { $0.id < $1.id }
  }

  /// The apps of this device.
  private var apps: Set<String> { Set(products.map(\.app)) }

  /// The extensions whose widgets and controls can have a token.
  private var takers: [PushProduct] {
    products.filter { $0.address.role == .widgetExtension && $0.environment != nil }
  }

  private func product(_ address: Address) -> PushProduct? { products.first { $0.address == address } }

  private func app(_ bundle: String) -> PushProduct? {
    products.first { $0.address.role == .app && $0.bundle == bundle }
  }

  /// The environment of a wanted token; `nil` if no token is wanted.
  private func environment(_ key: TokenKey) -> PushEnvironment? {
    switch key.use {
    case .app: return state.registered.contains(key.bundle) ? app(key.bundle)?.environment : nil
    case .widgets: return environment(of: placements(ofApp: key.bundle).first)
    case .control(let id): return environment(of: controls(ofApp: key.bundle).first { $0.id == id })
    case .liveActivity, .liveActivityStarts: return activities.contains(key) ? app(key.bundle)?.environment : nil
    // This device has no code that needs one.
    case .fleet: return nil
    }
  }

  private func environment(of placement: Placement?) -> PushEnvironment? {
    takers.first { $0.bundle == placement?.bundle }?.environment
  }

  /// The calls of an extension's handlers that are due.
  private func due(_ product: PushProduct) -> [TokenNotice] {
    [
      dueToWidgets(product).map(TokenNotice.widgets), dueToControls(product).map(TokenNotice.controls),
    ].compactMap(\.self)
  }

  /// The next of the calls that are due: the one during which fewest process instances ended.
  private func next(_ product: PushProduct) -> TokenNotice? {
    due(product).min { exits(product.address, $0) < exits(product.address, $1) }
  }

  private func exits(_ address: Address, _ notice: TokenNotice) -> Int { exits[address]?[notice] ?? 0 }

  private func dueToWidgets(_ product: PushProduct) -> TellPushHandlers? {
    guard hasWidgetPushes, widgets[product.bundle]?.handlers.isEmpty == false else { return nil }
    let notified = state.notified[product.bundle]
    let placed = placements(ofApp: product.app)
    guard !placed.isEmpty else {
      return notified.flatMap { $0.widgets.isEmpty ? nil : TellPushHandlers(token: $0.token, widgets: []) }
    }
    guard let token = token(TokenKey(product.app, .widgets)) else { return nil }
    let notice = TellPushHandlers(token: token, widgets: placed)
    return notice == notified ? nil : notice
  }

  /// Not due before all placed controls have a token.
  private func dueToControls(_ product: PushProduct) -> TellControlPushHandlers? {
    guard widgets[product.bundle]?.controlHandlers.isEmpty == false else { return nil }
    let placed = controls(ofApp: product.app)
    let notice = TellControlPushHandlers(controls: tokens(ofControls: placed, product.app))
    guard notice.controls.count == placed.count else { return nil }
    let notified = state.notifiedControls[product.bundle] ?? TellControlPushHandlers(controls: [])
    return notice == notified ? nil : notice
  }

  // MARK: Events

  package mutating func handle(_ event: Event) -> [Action] {
    switch event {
    case .began:
      return reconcile() + state.notifiedApps.keys.sorted().flatMap(notifyApp)
        + state.tokens.keys.sorted().flatMap(passOn)
    case .widgets(let widgets):
      self.widgets = widgets
      return withhold() + reconcile()
    case .activities(let keys):
      activities = keys
      return reconcile()
    case .activityRefused(let bundle):
      guard let app = app(bundle) else { return [] }
      let report = PushWithheld(address: app.address, reason: .noEntitlement, handlers: ["pushTokenUpdates"])
      return withheld.insert(report).inserted ? [.withheld(report)] : []
    case .issued(let key, let token): return issued(key, token)
    case .released(let key):
      guard state.tokens[key]?.phase == .releasing else { return [] }
      state.tokens[key] = nil
      return reconcile()
    case .used(let key):
      guard case .liveActivityStarts = key.use, state.tokens[key]?.phase == .held else { return [] }
      state.tokens[key]?.phase = .releasing
      return [.tokensChanged] + passOn(key)
    case .replaced(let key, let token): return replaced(key, token)
    case .register(let app): return register(app)
    case .unregister(let app):
      state.registered.remove(app)
      state.notifiedApps[app] = nil
      return [.notRegistered(app: app)] + reconcile()
    case .awake(let address): return ask(address)
    case .instanceEnded(let address):
      if let app = product(address), address.role == .app { state.notifiedApps[app.bundle] = nil }
      return asking[address].map { failed(address, $0) } ?? []
    case .notified(let address, let notice):
      guard asking[address] == notice, let product = product(address) else { return [] }
      asking[address] = nil
      exits[address]?[notice] = nil
      switch notice {
      case .widgets(let call): state.notified[product.bundle] = call
      case .controls(let call): state.notifiedControls[product.bundle] = call
      }
      return ask(address)
    case .notNotified(let address, let notice):
      return asking[address] == notice ? failed(address, notice, isFinal: true) : []
    case .appNotified(let app, let token):
      if state.notifiedApps[app] != nil { state.notifiedApps[app] = token }
      return notifyApp(app)
    }
  }

  private mutating func issued(_ key: TokenKey, _ token: String) -> [Action] {
    guard state.tokens[key]?.phase == .asking else { return [] }
    state.tokens[key]?.phase = .held
    state.tokens[key]?.token = token
    return replyRegistered(key) + passOn(key) + reconcile()
  }

  /// Passes on the token of a Live Activity, or that it has none.
  private func passOn(_ key: TokenKey) -> [Action] {
    switch key.use {
    case .liveActivity, .liveActivityStarts: [.asks(.activityToken(key, token(key)))]
    case .app, .widgets, .control, .fleet: []
    }
  }

  private mutating func replaced(_ key: TokenKey, _ token: String?) -> [Action] {
    guard let keptToken = state.tokens[key] else { return [] }
    if let token {
      state.tokens[key]?.token = token
      if keptToken.phase == .asking { state.tokens[key]?.phase = .held }
      return replyRegistered(key) + (key.use == .app ? notifyApp(key.bundle) : []) + passOn(key) + reconcile()
    }
    state.tokens[key] = nil
    // The app requests a token again at its next launch. Source: "Registering your app with APNs".
    if key.use == .app {
      state.registered.remove(key.bundle)
      state.notifiedApps[key.bundle] = nil
    }
    return [.tokensChanged] + passOn(key) + reconcile()
  }

  private mutating func register(_ bundle: String) -> [Action] {
    guard let app = app(bundle), app.environment != nil else {
      let address = app(bundle)?.address
      return address.map { [.withheld(PushWithheld(address: $0, reason: .noEntitlement))] } ?? []
    }
    state.registered.insert(bundle)
    return reconcile() + replyRegistered(TokenKey(bundle, .app))
  }

  private mutating func replyRegistered(_ key: TokenKey) -> [Action] {
    guard key.use == .app, state.registered.contains(key.bundle), let token = token(key) else { return [] }
    if state.notifiedApps[key.bundle] == nil { state.notifiedApps[key.bundle] = token }
    return [.registered(app: key.bundle)]
  }

  /// Sends the token to a running app that has received another one.
  private func notifyApp(_ bundle: String) -> [Action] {
    guard let notified = state.notifiedApps[bundle], let token = token(TokenKey(bundle, .app)), notified != token,
      let app = app(bundle)
    else { return [] }
    return [.notifyApp(app.address, app: bundle, token)]
  }

  /// Reports extensions that declare a handler and get no token.
  private mutating func withhold() -> [Action] {
    let extensions = products.filter { $0.address.role == .widgetExtension }
    return extensions.flatMap { product -> [PushWithheld] in
      guard let declared = widgets[product.bundle] else { return [] }
      let tooOld = hasWidgetPushes ? [] : declared.handlers
      let without =
        product.environment == nil ? (hasWidgetPushes ? declared.handlers : []) + declared.controlHandlers : []
      return [
        PushWithheld(address: product.address, reason: .systemTooOld, handlers: tooOld),
        PushWithheld(address: product.address, reason: .noEntitlement, handlers: without),
      ]
    }
    .filter { !$0.handlers.isEmpty && withheld.insert($0).inserted }
    .map(Action.withheld)
  }

  // MARK: Consequences

  /// Adapts the tokens and the calls to what is wanted.
  private mutating func reconcile() -> [Action] {
    var isChanged = false
    var released: [TokenKey] = []
    let possible = apps.map { TokenKey($0, .app) } + reloadedPlacements.keys + activities
    for key in Set(possible).union(state.tokens.keys) {
      let environment = environment(key)
      switch (state.tokens[key], environment) {
      case (nil, let environment?):
        state.tokens[key] = Kept(phase: .asking, environment: environment)
        isChanged = true
      case (let kept?, _) where kept.phase == .held && kept.environment != environment:
        state.tokens[key]?.phase = .releasing
        released.append(key)
        isChanged = true
      default: break
      }
    }
    let actions: [Action] = isChanged ? [.tokensChanged] : []
    return actions + released.sorted().flatMap(passOn)
      + takers.flatMap { product in
        next(product).map { want(product.address, $0) } ?? release(product.address)
      }
  }

  private mutating func want(_ address: Address, _ notice: TokenNotice) -> [Action] {
    guard exits(address, notice) < TokenStateMachine.exitLimit,
      borrowed.remove(address) != nil || wanted.insert(address).inserted
    else { return [] }
    return [.asks(.process(.want(address, because: TokenStateMachine.assertion)))]
  }

  /// Keeps a running extension awake during a call. One for whose call it is not launched again is kept awake while its
  /// instance runs.
  private mutating func keep(_ address: Address, _ notice: TokenNotice) -> [Action] {
    guard exits(address, notice) >= TokenStateMachine.exitLimit else { return want(address, notice) }
    guard wanted.insert(address).inserted else { return [] }
    borrowed.insert(address)
    return [.asks(.process(.want(address, because: TokenStateMachine.assertion, mayWake: false)))]
  }

  private mutating func release(_ address: Address) -> [Action] {
    guard asking[address] == nil, wanted.remove(address) != nil else { return [] }
    borrowed.remove(address)
    return [.asks(.process(.release(address, because: TokenStateMachine.assertion)))]
  }

  /// Calls the handlers of a running extension, or releases the extension.
  private mutating func ask(_ address: Address) -> [Action] {
    guard asking[address] == nil, let product = takers.first(where: { $0.address == address }) else { return [] }
    guard let notice = next(product) else { return release(address) }
    asking[address] = notice
    return keep(address, notice) + [.notify(address, notice)]
  }

  /// A process instance ended during the call, or did not complete it in time.
  private mutating func failed(_ address: Address, _ notice: TokenNotice, isFinal: Bool = false) -> [Action] {
    asking[address] = nil
    if !isFinal, borrowed.remove(address) != nil { wanted.remove(address) }
    exits[address, default: [:]][notice] = isFinal ? TokenStateMachine.exitLimit : exits(address, notice) + 1
    guard let product = product(address), let next = next(product),
      exits(address, next) < TokenStateMachine.exitLimit
    else { return release(address) }
    return isFinal ? ask(address) : want(address, next)
  }
}

/// The properties of an app or an extension that concern pushes.
package struct PushProduct: Sendable, Hashable {
  package let address: Address
  /// The containing app's bundle identifier; for an app, that of the app.
  package let app: String
  /// Its entitlement `aps-environment`; `nil` without one.
  package let environment: PushEnvironment?

  package init(address: Address, app: String, environment: PushEnvironment?) {
    self.address = address
    self.app = app
    self.environment = environment
  }

  var bundle: String { address.bundleIdentifier ?? address.short }
}

/// The widgets and controls of one extension that concern pushes.
package struct PushWidgets: Sendable, Hashable {
  /// The widgets' types of `pushHandler(_:)`, without duplicates.
  private(set) var handlers: [String] = []
  /// Its placed widgets that have a push handler.
  package private(set) var placements: [Placement] = []
  /// Its placed widgets without a push handler that a push reloads nevertheless.
  package private(set) var others: [Placement] = []
  /// The controls' types of `pushHandler(_:)`, without duplicates.
  private(set) var controlHandlers: [String] = []
  /// Its placed controls that have a push handler.
  package private(set) var controls: [Placement] = []
}

/// The key of a device token on this device.
package struct TokenKey: Codable, Hashable, Sendable {
  /// The containing app's bundle identifier.
  package let bundle: String
  package let use: PushTokenUse
  package init(_ bundle: String, _ use: PushTokenUse) {
    self.bundle = bundle
    self.use = use
  }
}

extension TokenKey: Comparable {
  package static func < (left: TokenKey, right: TokenKey) -> Bool {
    (left.bundle, "\(left.use)") < (right.bundle, "\(right.use)")
  }
}
