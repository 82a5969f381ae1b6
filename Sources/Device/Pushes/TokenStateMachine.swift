// SPDX-License-Identifier: Apache-2.0

package import Archive
import Foundation
package import Messages
package import ProcessActions

/// The state machine of device tokens, and of the calls that report them. A plain value without clock or I/O.
///
/// A token for widgets is wanted while a widget with a push handler is placed whose extension has the entitlement; a
/// token for the app from `registerForRemoteNotifications()` on. A call of the handlers is due while the token or the
/// placed widgets differ from those of the last call.
package struct TokenStateMachine: Sendable {
  package struct Kept: Codable, Sendable, Equatable {
    package enum Phase: String, Codable, Sendable { case asking, held, releasing }
    package internal(set) var phase: Phase
    /// `nil` while the token is requested.
    package internal(set) var token: String?
    let environment: PushEnvironment
  }

  /// The arguments of a call of an extension's handlers.
  package struct TokenNotice: Codable, Sendable, Equatable {
    package let token: String
    package let widgets: [Placement]
  }

  /// The persistent state.
  package struct State: Codable, Sendable, Equatable {
    package internal(set) var tokens: [TokenKey: Kept] = [:]
    /// The last call that each extension's handlers acknowledged, by its bundle identifier.
    var notified: [String: TokenNotice] = [:]
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
    case issued(TokenKey, String)
    case released(TokenKey)
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
    case output(PushOutput)
    case process(ProcessAction)
    /// Request or release tokens according to `state.tokens`.
    case tokensChanged
    case notify(Address, TokenNotice)
    case notifyApp(Address, app: String, String)
    case registered(app: String, String)
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
  private var asking: [Address: TokenNotice] = [:]
  private var exits: [Address: (notice: TokenNotice, count: Int)] = [:]
  private var withheld: Set<Address> = []

  package init(products: [PushProduct], hasWidgetPushes: Bool = true, state: State = State()) {
    self.products = products
    self.hasWidgetPushes = hasWidgetPushes
    self.state = state
  }

  // MARK: Queries

  /// The token of an app or of its widgets; `nil` while it has none.
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

  /// The placed widgets of an app that take pushes.
  package func placements(ofApp app: String) -> [Placement] {
    takers.filter { $0.app == app }.flatMap { widgets[$0.bundle]?.placements ?? [] }.sorted { $0.id < $1.id }
  }

  /// The placed widgets of an app that a widget push reloads: those that take pushes, and others by a setting. None while
  /// no placed widget takes pushes.
  package func reloadedPlacements(ofApp app: String) -> [Placement] {
    let taking = placements(ofApp: app)
    guard !taking.isEmpty else { return [] }
    let others = products.filter { $0.app == app }.flatMap { widgets[$0.bundle]?.others ?? [] }
    return (taking + others).sorted { $0.id < $1.id }
  }

  /// The apps of this device.
  package var apps: Set<String> { Set(products.map(\.app)) }

  /// The extensions whose widgets can have a token.
  private var takers: [PushProduct] {
    guard hasWidgetPushes else { return [] }
    return products.filter { $0.address.role == .widgetExtension && $0.environment != nil }
  }

  private func product(_ address: Address) -> PushProduct? { products.first { $0.address == address } }

  private func app(_ bundle: String) -> PushProduct? {
    products.first { $0.address.role == .app && $0.bundle == bundle }
  }

  /// The environment of a wanted token; `nil` if no token is wanted.
  private func environment(_ key: TokenKey) -> PushEnvironment? {
    switch key.use {
    case .app: return state.registered.contains(key.bundle) ? app(key.bundle)?.environment : nil
    case .widgets:
      let having = takers.filter { $0.app == key.bundle && widgets[$0.bundle]?.placements.isEmpty == false }
      return having.first?.environment
    }
  }

  /// The call of an extension's handlers that is due; `nil` if they are up to date.
  private func pending(_ product: PushProduct) -> TokenNotice? {
    guard widgets[product.bundle]?.handlers.isEmpty == false else { return nil }
    let notified = state.notified[product.bundle]
    let placed = placements(ofApp: product.app)
    guard !placed.isEmpty else {
      return notified.flatMap { $0.widgets.isEmpty ? nil : TokenNotice(token: $0.token, widgets: []) }
    }
    guard let token = token(TokenKey(product.app, .widgets)) else { return nil }
    let notice = TokenNotice(token: token, widgets: placed)
    return notice == notified ? nil : notice
  }

  // MARK: Events

  package mutating func handle(_ event: Event) -> [Action] {
    switch event {
    case .began: return settle() + state.notifiedApps.keys.sorted().flatMap(notifyApp)
    case .widgets(let widgets):
      self.widgets = widgets
      return withhold() + settle()
    case .issued(let key, let token): return issued(key, token)
    case .released(let key):
      guard state.tokens[key]?.phase == .releasing else { return [] }
      state.tokens[key] = nil
      return settle()
    case .replaced(let key, let token): return replaced(key, token)
    case .register(let app): return register(app)
    case .unregister(let app):
      state.registered.remove(app)
      state.notifiedApps[app] = nil
      return [.notRegistered(app: app)] + settle()
    case .awake(let address): return ask(address)
    case .instanceEnded(let address):
      if let app = product(address), address.role == .app { state.notifiedApps[app.bundle] = nil }
      return asking[address].map { failed(address, $0) } ?? []
    case .notified(let address, let notice):
      guard asking[address] == notice, let product = product(address) else { return [] }
      asking[address] = nil
      exits[address] = nil
      state.notified[product.bundle] = notice
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
    return replyRegistered(key) + settle()
  }

  private mutating func replaced(_ key: TokenKey, _ token: String?) -> [Action] {
    guard let kept = state.tokens[key] else { return [] }
    if let token {
      state.tokens[key]?.token = token
      if kept.phase == .asking { state.tokens[key]?.phase = .held }
      return replyRegistered(key) + (key.use == .app ? notifyApp(key.bundle) : []) + settle()
    }
    state.tokens[key] = nil
    // The app requests a token again at its next launch. Source: "Registering your app with APNs".
    if key.use == .app {
      state.registered.remove(key.bundle)
      state.notifiedApps[key.bundle] = nil
    }
    return [.tokensChanged] + settle()
  }

  private mutating func register(_ bundle: String) -> [Action] {
    guard let app = app(bundle), app.environment != nil else {
      let address = app(bundle)?.address
      return address.map { [.withheld(PushWithheld(address: $0, use: .app, reason: .noEntitlement))] } ?? []
    }
    state.registered.insert(bundle)
    return settle() + replyRegistered(TokenKey(bundle, .app))
  }

  private mutating func replyRegistered(_ key: TokenKey) -> [Action] {
    guard key.use == .app, state.registered.contains(key.bundle), let token = token(key) else { return [] }
    if state.notifiedApps[key.bundle] == nil { state.notifiedApps[key.bundle] = token }
    return [.registered(app: key.bundle, token)]
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
    products.filter { $0.address.role == .widgetExtension }.compactMap { product in
      guard let handlers = widgets[product.bundle]?.handlers, !handlers.isEmpty,
        !hasWidgetPushes || product.environment == nil, withheld.insert(product.address).inserted
      else { return nil }
      return .withheld(
        PushWithheld(
          address: product.address, use: .widgets, reason: hasWidgetPushes ? .noEntitlement : .systemTooOld,
          handlers: handlers))
    }
  }

  // MARK: Consequences

  /// Adapts the tokens and the calls to what is wanted.
  private mutating func settle() -> [Action] {
    var isChanged = false
    let wantedKeys = apps.flatMap { app in PushTokenUse.allCases.map { TokenKey(app, $0) } }
    for key in Set(wantedKeys).union(state.tokens.keys) {
      let environment = environment(key)
      switch (state.tokens[key], environment) {
      case (nil, let environment?):
        state.tokens[key] = Kept(phase: .asking, environment: environment)
        isChanged = true
      case (let kept?, _) where kept.phase == .held && kept.environment != environment:
        state.tokens[key]?.phase = .releasing
        isChanged = true
      default: break
      }
    }
    let actions: [Action] = isChanged ? [.tokensChanged] : []
    return actions
      + takers.flatMap { product in
        pending(product).map { want(product.address, $0) } ?? release(product.address)
      }
  }

  private mutating func want(_ address: Address, _ notice: TokenNotice) -> [Action] {
    let isGivenUp = exits[address].map { $0.notice == notice && $0.count >= TokenStateMachine.exitLimit } ?? false
    guard !isGivenUp, wanted.insert(address).inserted else { return [] }
    return [.process(.want(address, because: TokenStateMachine.assertion))]
  }

  private mutating func release(_ address: Address) -> [Action] {
    guard asking[address] == nil, wanted.remove(address) != nil else { return [] }
    return [.process(.release(address, because: TokenStateMachine.assertion))]
  }

  /// Calls the handlers of a running extension, or releases the extension.
  private mutating func ask(_ address: Address) -> [Action] {
    guard asking[address] == nil, let product = takers.first(where: { $0.address == address }) else { return [] }
    guard let notice = pending(product) else { return release(address) }
    asking[address] = notice
    return want(address, notice) + [.notify(address, notice)]
  }

  /// A process instance ended during the call, or did not complete it in time.
  private mutating func failed(_ address: Address, _ notice: TokenNotice, isFinal: Bool = false) -> [Action] {
    asking[address] = nil
    let former = exits[address].map { $0.notice == notice ? $0.count : 0 } ?? 0
    let count = isFinal ? TokenStateMachine.exitLimit : former + 1
    exits[address] = (notice, count)
    return count < TokenStateMachine.exitLimit ? [] : release(address)
  }
}
