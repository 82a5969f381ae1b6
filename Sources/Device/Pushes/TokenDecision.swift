package import Archive
package import Conversations
import Foundation

/// Which device tokens there are, and who is to be told of them: a plain value without clock or I/O.
///
/// A token for widgets is wanted while a widget with a push handler is placed whose extension has the entitlement; a token for
/// the app from `registerForRemoteNotifications()` on. Handlers are owed a call while the token or the placed widgets are
/// others than when they were called last.
package struct TokenDecision: Sendable {
  package struct Kept: Codable, Sendable, Equatable {
    package enum Phase: String, Codable, Sendable { case asking, held, releasing }
    package internal(set) var phase: Phase
    /// `nil` while it is asked for.
    package internal(set) var token: String?
    let environment: PushEnvironment
  }

  /// What an extension's handlers are called with.
  package struct Telling: Codable, Sendable, Equatable {
    package let token: String
    package let widgets: [Placement]
  }

  /// All that is kept on disk.
  package struct State: Codable, Sendable, Equatable {
    package internal(set) var tokens: [TokenKey: Kept] = [:]
    /// What each extension's handlers acknowledged last, by its bundle identifier.
    var told: [String: Telling] = [:]
    /// Apps that registered.
    var registered: Set<String> = []
    /// The token that each app's living process was told.
    var toldApps: [String: String] = [:]
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
    case lifeEnded(Address)
    case told(Address, Telling)
    /// The handlers were not called to their end.
    case notTold(Address, Telling)
    case appTold(app: String, String)
  }

  package enum Answer: Sendable, Equatable {
    case intent(PushIntent)
    /// Ask for a token, give one back, or neither: look at `state.tokens`.
    case tokensChanged
    case tell(Address, Telling)
    case tellApp(Address, app: String, String)
    case registered(app: String, String)
    case notRegistered(app: String)
    case withheld(PushWithheld)
  }

  /// The name of the reason why an extension is kept awake.
  package static let assertion = "push handlers"
  /// Lives that may end over one call before it waits for a life that begins for something else. Source: ours.
  static let deathLimit = 2

  private let products: [PushProduct]
  /// Whether the device's system has pushes to widgets.
  private let hasWidgetPushes: Bool
  package private(set) var state: State
  private var widgets: [String: PushWidgets] = [:]
  private var wanted: Set<Address> = []
  private var asking: [Address: Telling] = [:]
  private var deaths: [Address: (telling: Telling, count: Int)] = [:]
  private var withheld: Set<Address> = []

  package init(products: [PushProduct], hasWidgetPushes: Bool = true, state: State = State()) {
    self.products = products
    self.hasWidgetPushes = hasWidgetPushes
    self.state = state
  }

  // MARK: What is known

  /// The token of an app or of its widgets; `nil` while there is none.
  package func token(_ key: TokenKey) -> String? {
    state.tokens[key].flatMap { $0.phase == .held ? $0.token : nil }
  }

  /// Whether an app registered and may.
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

  /// The environment of a token that there is to be; `nil`: there is to be none.
  private func environment(_ key: TokenKey) -> PushEnvironment? {
    switch key.use {
    case .app: return state.registered.contains(key.bundle) ? app(key.bundle)?.environment : nil
    case .widgets:
      let having = takers.filter { $0.app == key.bundle && widgets[$0.bundle]?.placements.isEmpty == false }
      return having.first?.environment
    }
  }

  /// What an extension's handlers are to be called with; `nil`: they know it.
  private func owed(_ product: PushProduct) -> Telling? {
    guard widgets[product.bundle]?.handlers.isEmpty == false else { return nil }
    let told = state.told[product.bundle]
    let placed = placements(ofApp: product.app)
    guard !placed.isEmpty else {
      return told.flatMap { $0.widgets.isEmpty ? nil : Telling(token: $0.token, widgets: []) }
    }
    guard let token = token(TokenKey(product.app, .widgets)) else { return nil }
    let telling = Telling(token: token, widgets: placed)
    return telling == told ? nil : telling
  }

  // MARK: What happens

  package mutating func take(_ event: Event) -> [Answer] {
    switch event {
    case .began: return settle() + state.toldApps.keys.sorted().flatMap(tellApp)
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
      state.toldApps[app] = nil
      return [.notRegistered(app: app)] + settle()
    case .awake(let address): return ask(address)
    case .lifeEnded(let address):
      if let app = product(address), address.role == .app { state.toldApps[app.bundle] = nil }
      return asking[address].map { failed(address, $0) } ?? []
    case .told(let address, let telling):
      guard asking[address] == telling, let product = product(address) else { return [] }
      asking[address] = nil
      deaths[address] = nil
      state.told[product.bundle] = telling
      return ask(address)
    case .notTold(let address, let telling):
      return asking[address] == telling ? failed(address, telling, isFinal: true) : []
    case .appTold(let app, let token):
      if state.toldApps[app] != nil { state.toldApps[app] = token }
      return tellApp(app)
    }
  }

  private mutating func issued(_ key: TokenKey, _ token: String) -> [Answer] {
    guard state.tokens[key]?.phase == .asking else { return [] }
    state.tokens[key]?.phase = .held
    state.tokens[key]?.token = token
    return answerRegistered(key) + settle()
  }

  private mutating func replaced(_ key: TokenKey, _ token: String?) -> [Answer] {
    guard let kept = state.tokens[key] else { return [] }
    if let token {
      state.tokens[key]?.token = token
      if kept.phase == .asking { state.tokens[key]?.phase = .held }
      return answerRegistered(key) + (key.use == .app ? tellApp(key.bundle) : []) + settle()
    }
    state.tokens[key] = nil
    // The app asks for itself, when it is launched next. Source: "Registering your app with APNs".
    if key.use == .app {
      state.registered.remove(key.bundle)
      state.toldApps[key.bundle] = nil
    }
    return [.tokensChanged] + settle()
  }

  private mutating func register(_ bundle: String) -> [Answer] {
    guard let app = app(bundle), app.environment != nil else {
      let address = app(bundle)?.address
      return address.map { [.withheld(PushWithheld(address: $0, use: .app, reason: .noEntitlement))] } ?? []
    }
    state.registered.insert(bundle)
    return settle() + answerRegistered(TokenKey(bundle, .app))
  }

  private mutating func answerRegistered(_ key: TokenKey) -> [Answer] {
    guard key.use == .app, state.registered.contains(key.bundle), let token = token(key) else { return [] }
    if state.toldApps[key.bundle] == nil { state.toldApps[key.bundle] = token }
    return [.registered(app: key.bundle, token)]
  }

  /// A process that lives and has heard of another token.
  private func tellApp(_ bundle: String) -> [Answer] {
    guard let told = state.toldApps[bundle], let token = token(TokenKey(bundle, .app)), told != token,
      let app = app(bundle)
    else { return [] }
    return [.tellApp(app.address, app: bundle, token)]
  }

  /// Extensions that declare a handler and get no token.
  private mutating func withhold() -> [Answer] {
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

  // MARK: What follows

  /// Brings the tokens and the calls to what is wanted.
  private mutating func settle() -> [Answer] {
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
    let answers: [Answer] = isChanged ? [.tokensChanged] : []
    return answers
      + takers.flatMap { product in
        owed(product).map { want(product.address, $0) } ?? letGo(product.address)
      }
  }

  private mutating func want(_ address: Address, _ telling: Telling) -> [Answer] {
    let isGivenUp = deaths[address].map { $0.telling == telling && $0.count >= TokenDecision.deathLimit } ?? false
    guard !isGivenUp, wanted.insert(address).inserted else { return [] }
    return [.intent(.wantAwake(address, because: TokenDecision.assertion))]
  }

  private mutating func letGo(_ address: Address) -> [Answer] {
    guard asking[address] == nil, wanted.remove(address) != nil else { return [] }
    return [.intent(.release(address, because: TokenDecision.assertion))]
  }

  /// Calls the handlers of an extension that runs, or lets it go.
  private mutating func ask(_ address: Address) -> [Answer] {
    guard asking[address] == nil, let product = takers.first(where: { $0.address == address }) else { return [] }
    guard let telling = owed(product) else { return letGo(address) }
    asking[address] = telling
    return want(address, telling) + [.tell(address, telling)]
  }

  /// A life ended over the call, or did not end it in time.
  private mutating func failed(_ address: Address, _ telling: Telling, isFinal: Bool = false) -> [Answer] {
    asking[address] = nil
    let former = deaths[address].map { $0.telling == telling ? $0.count : 0 } ?? 0
    let count = isFinal ? TokenDecision.deathLimit : former + 1
    deaths[address] = (telling, count)
    return count < TokenDecision.deathLimit ? [] : letGo(address)
  }
}
