// SPDX-License-Identifier: Apache-2.0

import Archive
import AuthorRuntime
import Foundation
import Observation
import OpenCombine
import Synchronization
import UIKit

/// The views of an app that has come to the foreground. No pixel is drawn: the bodies are evaluated once after each change,
/// and the actions of the views run. The tree is that of the archive, which is not kept.
@MainActor final class LiveViews {
  private let app: any App
  private let clock: LiveClock
  private let root: LiveNode
  private var phase = ScenePhase.background
  /// The `onOpenURL(perform:)` actions of the last evaluation.
  private var urls = OpenURLActions()
  /// Whether the views have appeared.
  private var isLive = false
  private var defaults: (any NSObjectProtocol)?
  /// Whether a refusal was reported.
  private var isReported = false
  /// No archive is stored or sent: images of any size are named. The depth is that of the stack.
  private static let limits = ArchiveLimits(bytes: .max, depth: 1024, imageArea: .infinity, entries: .max)

  /// - Parameter frame: how long changes are collected until the views are evaluated again.
  init(_ app: any App, frame: DispatchTimeInterval = .milliseconds(16)) {
    self.app = app
    let clock = LiveClock(frame: frame)
    self.clock = clock
    root = LiveNode(clock)
    clock.evaluate = { [weak self] in self?.evaluate(again: true) }
    // `@AppStorage` reads them.
    defaults = NotificationCenter.default.addObserver(
      forName: UserDefaults.didChangeNotification, object: nil, queue: nil
    ) { [clock] _ in
      if clock.defaults.haveChanged { clock.changed() }
    }
  }

  /// The app entered or left the foreground. The views appear when it enters it first.
  func enters(_ state: UIApplication.State) {
    phase =
      switch state {
      case .active: .active
      case .inactive: .inactive
      case .background: .background
      }
    isLive = isLive || phase != .background
    evaluate()
  }

  /// Passes a URL to the `onOpenURL(perform:)` actions of the views.
  ///
  /// - Returns: whether there is at least one.
  func opens(_ url: URL) -> Bool {
    let actions = urls.foundActions
    for action in actions { action(url) }
    return !actions.isEmpty
  }

  /// - Parameter again: whether only a change is the cause.
  private func evaluate(again: Bool = false) {
    guard isLive else { return }
    clock.begin(again: again)
    var environment = EnvironmentValues()
    environment.scenePhase = phase
    urls = OpenURLActions()
    environment.openURLActions = urls
    environment.live = root
    root.begin()
    let isWhole = withObservationTracking {
      pass(environment)
    } onChange: { [clock] in
      clock.changed()
    }
    // What was not reached has not disappeared.
    if isWhole { root.sweep() }
    clock.end()
  }

  /// - Returns: whether each view was reached.
  private func pass(_ environment: EnvironmentValues) -> Bool {
    root.adopt(app, in: environment)
    func scene(of app: some App) -> any Scene { environment.during { app.body } }
    let scene = scene(of: app)
    var isWhole = true
    for effect in scene.allEffects { root.add(effect, in: environment) }
    for (number, content) in scene.allContents.enumerated() {
      var inner = environment
      inner.live = root.child(type(of: content), number)
      do {
        _ = try content.archived(in: inner, limits: Self.limits)
      } catch {
        isWhole = false
        if !isReported {
          isReported = true
          HostedProcess.current?.log("the app's views beyond this one are not evaluated: \(error)")
        }
      }
    }
    return isWhole
  }
}

/// When the views of an app are evaluated, and what they asked for in an evaluation.
final class LiveClock: Sendable {
  /// The number of the evaluation.
  @MainActor private(set) var round = 0
  @MainActor var evaluate: () -> Void = {}
  @MainActor private var actions: [() -> Void] = []
  @MainActor private var nodeCount = 0
  /// Whether a row without end was reported.
  private let isReported = Atomic(false)
  private let frame: DispatchTimeInterval
  private let isDue = Atomic(false)
  /// Whether a change came from outside an evaluation since the last one began.
  private let isFromOutside = Atomic(false)
  /// The thread that evaluates the views or runs their actions; 0 between evaluations.
  private let thread = Atomic<UInt>(0)
  /// The evaluations in a row whose only cause was the one before.
  private let chain = Atomic(0)
  /// How long such a row may be.
  private static let longest = 100
  /// What views have read of the user defaults.
  fileprivate let defaults = ReadDefaults()

  @MainActor init(frame: DispatchTimeInterval) { self.frame = frame }

  /// - Parameter again: whether only a change is the cause.
  @MainActor func begin(again: Bool) {
    round += 1
    let isNew = isFromOutside.exchange(false, ordering: .relaxed) || !again
    chain.store(isNew ? 0 : chain.load(ordering: .relaxed) + 1, ordering: .relaxed)
    thread.store(UInt(pthread_self()), ordering: .relaxed)
    isDue.store(false, ordering: .relaxed)
    defaults.forget()
  }

  /// The number of a new node.
  @MainActor func number() -> Int {
    nodeCount += 1
    return nodeCount
  }

  /// Runs an action after the evaluation.
  @MainActor func then(_ action: @escaping () -> Void) { actions.append(action) }

  @MainActor func end() {
    let due = actions
    actions = []
    for action in due { action() }
    thread.store(0, ordering: .relaxed)
  }

  /// A value that views read has changed: they are evaluated again, once for all changes of a frame. Any thread.
  ///
  /// An evaluation that causes the next one is the fault of an author, which would use the processor without end.
  func changed() {
    if thread.load(ordering: .relaxed) != UInt(pthread_self()) {
      isFromOutside.store(true, ordering: .relaxed)
    } else if chain.load(ordering: .relaxed) >= Self.longest, !isFromOutside.load(ordering: .relaxed) {
      return reportChain()
    }
    guard !isDue.exchange(true, ordering: .relaxed) else { return }
    DispatchQueue.main.asyncAfter(deadline: .now() + frame) {
      MainActor.assumeIsolated { self.evaluate() }
    }
  }

  private func reportChain() {
    guard !isReported.exchange(true, ordering: .relaxed) else { return }
    HostedProcess.current?.log(
      """
      the app's views were evaluated \(Self.longest) times in a row, each time because of the evaluation before; they are \
      evaluated again after another change. The likely cause is a state that changes in each evaluation
      """)
  }
}

/// The user defaults that views have read in an evaluation. Any thread.
private final class ReadDefaults: Sendable {
  private struct Key: Hashable {
    let store: ObjectIdentifier
    let key: String
  }

  private let lock = NSLock()
  // Unsafe: guarded by the lock. `UserDefaults` is not Sendable on Linux, but its methods may be called on any thread.
  private nonisolated(unsafe) var values: [Key: (store: UserDefaults, value: Any?)] = [:]

  func forget() { lock.withLock { values = [:] } }

  func add(_ key: String, of store: UserDefaults) {
    let value = store.object(forKey: key)
    lock.withLock { values[Key(store: ObjectIdentifier(store), key: key)] = (store, value) }
  }

  /// Whether one has another value now.
  var haveChanged: Bool {
    let known = lock.withLock { values }
    return known.contains { key, read in
      switch (read.value, read.store.object(forKey: key.key)) {
      case (nil, nil): false
      case (let old as any Equatable, let new as any Equatable): !old.isEqual(to: new)
      default: true
      }
    }
  }
}

/// A view with state, or a place among others, in the tree of an app's views. It exists as long as each evaluation reaches it.
@MainActor final class LiveNode {
  private struct Key: Hashable {
    let type: ObjectIdentifier
    let id: AnyHashable?
    /// Among those of this type and identity.
    let ordinal: Int
  }

  private let clock: LiveClock
  /// The nodes are numbered in the order of their creation.
  private let number: Int
  private var children: [Key: LiveNode] = [:]
  private var counts: [Key: Int] = [:]
  private var round = 0
  /// The storage of the state, by the names of the properties.
  private var cells: [String: AnyObject] = [:]
  private var observed: [String: (object: AnyObject, subscription: AnyCancellable)] = [:]
  private var effects: [Int: LiveEffect.Slot] = [:]
  private var effectCount = 0

  init(_ clock: LiveClock) { (self.clock, number) = (clock, clock.number()) }

  /// An evaluation has reached the node.
  func begin() {
    (round, counts, effectCount) = (clock.round, [:], 0)
  }

  /// The node below this one for a view of a type and identity.
  func child(_ type: Any.Type, _ id: AnyHashable? = nil) -> LiveNode {
    let counted = Key(type: ObjectIdentifier(type), id: id, ordinal: 0)
    let ordinal = counts[counted, default: 0]
    counts[counted] = ordinal + 1
    let key = Key(type: counted.type, id: id, ordinal: ordinal)
    let child = children[key] ?? LiveNode(clock)
    children[key] = child
    child.begin()
    return child
  }

  /// Gives the properties of a view the state that they had in the last evaluation, and those within them.
  func adopt(_ view: Any, in environment: EnvironmentValues, prefix: String = "") {
    for case (let name?, let value) in Mirror(reflecting: view).children {
      let label = prefix + name
      if let property = value as? any LiveProperty {
        environment.during { property.live(in: self, label) }
      } else if value is any DynamicProperty {
        adopt(value, in: environment, prefix: label + ".")
      }
    }
  }

  /// The storage of a property: that of the last evaluation, or else this one.
  func cell<Cell: AnyObject>(_ label: String, _ new: Cell) -> (cell: Cell, isNew: Bool) {
    if let known = cells[label] as? Cell { return (known, false) }
    cells[label] = new
    return (new, true)
  }

  /// What a change of a cell of this node calls.
  var changed: @Sendable () -> Void {
    { [clock] in clock.changed() }
  }

  /// Evaluates the views again after a change of a value of the user defaults.
  func reads(_ key: String, of store: UserDefaults) { clock.defaults.add(key, of: store) }

  /// Evaluates the views again after each change of an object.
  func observe<Object: ObservableObject>(_ label: String, _ object: Object) {
    guard observed[label]?.object !== object else { return }
    observed[label] = (object, object.objectWillChange.sink { [clock] _ in clock.changed() })
  }

  /// Adds the next effect of this view.
  ///
  /// - Parameter environment: what the action reads with `@Environment`.
  func add(_ effect: LiveEffect, in environment: EnvironmentValues) {
    let number = effectCount
    effectCount += 1
    if let slot = effects[number] { return slot.became(effect, in: environment, clock) }
    let slot = LiveEffect.Slot(effect, in: environment)
    effects[number] = slot
    slot.begin(clock)
  }

  /// Ends what the evaluation has not reached.
  func sweep() {
    for (number, slot) in effects.sorted(by: { $0.key < $1.key }) where number >= effectCount {
      slot.end()
      effects[number] = nil
    }
    for (key, child) in inOrder {
      if child.round == clock.round {
        child.sweep()
      } else {
        child.end()
        children[key] = nil
      }
    }
  }

  private var inOrder: [(key: Key, value: LiveNode)] { children.sorted { $0.value.number < $1.value.number } }

  private func end() {
    for (_, slot) in effects.sorted(by: { $0.key < $1.key }) { slot.end() }
    for (_, child) in inOrder { child.end() }
    (effects, children, observed) = ([:], [:], [:])
  }
}

/// A property of a view whose value exists as long as the view.
@MainActor protocol LiveProperty {
  func live(in node: LiveNode, _ label: String)
}

/// What a modifier does while its view is in the tree.
enum LiveEffect {
  case appear(() -> Void)
  case disappear(() -> Void)
  case change(any Equatable, isInitial: Bool, (_ old: Any, _ new: Any) -> Void)
  case task(id: (any Equatable)?, TaskPriority, @isolated(any) () async -> Void)
  case receive(subscribe: (_ receive: @escaping (Any) -> Void) -> AnyCancellable, (Any) -> Void)

  /// An effect in the tree.
  @MainActor final class Slot {
    /// The action of the last evaluation.
    private var effect: LiveEffect
    private var environment: EnvironmentValues
    private var task: Task<Void, Never>?
    private var subscription: AnyCancellable?
    private let receiver = LiveReceiver()

    init(_ effect: LiveEffect, in environment: EnvironmentValues) {
      (self.effect, self.environment) = (effect, environment)
    }

    /// The view has appeared.
    func begin(_ clock: LiveClock) {
      switch effect {
      case .appear(let action): then(clock, action)
      case .disappear: break
      case .change(let value, let isInitial, let action): if isInitial { then(clock) { action(value, value) } }
      case .task(_, let priority, let action): then(clock) { [self] in start(priority, action) }
      case .receive(let subscribe, let action):
        receiver.became(action, in: environment)
        subscription = subscribe(receiver.receive)
      }
    }

    /// The view was evaluated again.
    func became(_ next: LiveEffect, in environment: EnvironmentValues, _ clock: LiveClock) {
      let former = effect
      (effect, self.environment) = (next, environment)
      switch (former, next) {
      case (.change(let old, _, _), .change(let new, _, let action)) where !old.isEqual(to: new):
        then(clock) { action(old, new) }
      case (.task(let old?, _, _), .task(let new?, let priority, let action)) where !old.isEqual(to: new):
        then(clock) { [self] in start(priority, action) }
      case (.receive, .receive(_, let action)): receiver.became(action, in: environment)
      default: break
      }
    }

    /// The view has disappeared.
    func end() {
      task?.cancel()
      (task, subscription) = (nil, nil)
      if case .disappear(let action) = effect { environment.during(action) }
    }

    /// Runs an action after the evaluation, with the environment of its view.
    private func then(_ clock: LiveClock, _ action: @escaping () -> Void) {
      clock.then { [environment] in environment.during(action) }
    }

    private func start(_ priority: TaskPriority, _ action: @escaping @isolated(any) () async -> Void) {
      task?.cancel()
      // Called by this task only.
      nonisolated(unsafe) let action = action
      task = Task(priority: priority) { await action() }
    }
  }
}

/// Receives the values of a publisher, on any thread, with the action of the last evaluation.
nonisolated private final class LiveReceiver {
  private let lock = NSLock()
  private var current: (action: (Any) -> Void, environment: EnvironmentValues)?

  func became(_ action: @escaping (Any) -> Void, in environment: EnvironmentValues) {
    lock.withLock { current = (action, environment) }
  }

  func receive(_ value: Any) {
    guard let (action, environment) = lock.withLock({ current }) else { return }
    environment.during { action(value) }
  }
}

extension Equatable {
  func isEqual(to other: any Equatable) -> Bool { (other as? Self) == self }
}

/// A view with an effect. The archive contains only its content. In a widget `onAppear` is called, and `task` is reported.
nonisolated struct LiveEffectView<Content: View>: View, WrappingView {
  typealias Body = Never

  let content: Content
  let effect: LiveEffect

  @MainActor func unwrapped(
    in context: inout ArchivingContext, adding modifiers: inout [ViewArchive.Modifier]
  ) -> any View {
    if let live = context.environment.live {
      live.add(effect, in: context.environment)
    } else if let appearing = context.environment.appearing {
      switch effect {
      case .appear(let action): appearing.add(action)
      case .task: HostedProcess.current?.noticeLoader("task", "its closure is never called in a widget")
      case .disappear, .change, .receive: break
      }
    }
    return content
  }
}

/// A view with an identity: another one is another view.
nonisolated struct IdentifiedView<Content: View>: View, WrappingView {
  typealias Body = Never

  let content: Content
  // Compared and hashed on the main thread only.
  let id: AnyHashable

  @MainActor func unwrapped(
    in context: inout ArchivingContext, adding modifiers: inout [ViewArchive.Modifier]
  ) -> any View {
    context.enter(Self.self, id)
    return content
  }
}

extension ArchivingContext {
  /// The views within have a place below this one.
  @MainActor mutating func enter(_ type: Any.Type, _ id: AnyHashable? = nil) {
    if let live = environment.live { environment.live = live.child(type, id) }
  }

  /// The context of a view at a place, by its identity.
  @MainActor func place(_ type: Any.Type, _ id: AnyHashable) -> ArchivingContext {
    var inner = self
    inner.enter(type, id)
    return inner
  }

  /// A view with a body, or a modifier, is evaluated: its state is that of the last evaluation.
  @MainActor mutating func enter(evaluating view: Any) {
    guard environment.live != nil else { return }
    enter(type(of: view))
    environment.live?.adopt(view, in: environment)
  }
}

/// Whether an app is in front. Source: `SwiftUI.ScenePhase`.
public enum ScenePhase: Comparable, Hashable, Sendable {
  case background, inactive, active
}

extension EnvironmentValues {
  private struct ScenePhaseKey: EnvironmentKey {
    static var defaultValue: ScenePhase { .background }
  }

  /// The phase of an app; a widget is in the background.
  public var scenePhase: ScenePhase {
    get { self[ScenePhaseKey.self] }
    set { self[ScenePhaseKey.self] = newValue }
  }
}

/// A scene with an effect.
nonisolated struct LiveEffectScene<Content: Scene>: Scene, DescribedScene {
  let content: Content
  let effect: LiveEffect

  @MainActor var body: Never { fatalError("a scene with an effect has no body") }
  @MainActor var handlers: [BackgroundEventsHandler] { content.allHandlers }
  @MainActor var contents: [any View] { content.allContents }
  @MainActor var effects: [LiveEffect] { content.allEffects + [effect] }
}

extension Scene {
  /// Source: `SwiftUI.Scene`, iOS 17.
  nonisolated public func onChange<V: Equatable>(
    of value: V, initial: Bool = false, _ action: @escaping (_ oldValue: V, _ newValue: V) -> Void
  ) -> some Scene {
    LiveEffectScene(content: self, effect: .change(of: value, initial, action))
  }
  nonisolated public func onChange<V: Equatable>(
    of value: V, initial: Bool = false, _ action: @escaping () -> Void
  ) -> some Scene {
    LiveEffectScene(content: self, effect: .change(of: value, initial) { _, _ in action() })
  }
  @_disfavoredOverload nonisolated public func onChange<V: Equatable>(
    of value: V, perform action: @escaping (_ newValue: V) -> Void
  ) -> some Scene {
    LiveEffectScene(content: self, effect: .change(of: value, false) { _, new in action(new) })
  }
}

extension LiveEffect {
  static func change<V: Equatable>(
    of value: V, _ isInitial: Bool, _ action: @escaping (V, V) -> Void
  ) -> LiveEffect {
    .change(value, isInitial: isInitial) { old, new in
      if let old = old as? V, let new = new as? V { action(old, new) }
    }
  }
}
