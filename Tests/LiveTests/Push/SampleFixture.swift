// SPDX-License-Identifier: Apache-2.0

import Cluster
import Foundation
import Messages
import Testing
import WidgetLabTesting

/// The sample's cluster with a push server: its widget, and the developer's backend, where a figure changes.
struct SampleFixture: Sendable {
  static let widgetExtension = Address.widgetExtension(LiveFixture.device, "com.example.CaffeineTracker.Widget")
  static let app = Address.app(LiveFixture.device, "com.example.CaffeineTracker")
  static let session = "com.example.CaffeineTracker.Widget.subscription"

  /// A push in the backend's response to `GET /pushes`.
  struct Push: Decodable {
    let state: String
    let attempts: Int
    let status: Int?
    let reason: String?
  }

  /// A subscription in the backend's response to `GET /subscriptions`.
  struct Subscription: Decodable {
    struct Widget: Decodable {
      let kind: String
      let family: String
    }
    let token: String
    let widgets: [Widget]
  }

  /// A change of a figure.
  struct Change {
    /// The day's sum after the change, which is unique.
    let milligrams: Int
    /// The journal's last sequence number before the change.
    let after: UInt64
  }

  let cluster: LabCluster
  var journal: LabJournal { cluster.journal }

  /// The sample's products, backend and push server.
  ///
  /// - Parameters:
  ///   - app, widget: the URLs of their downloads; empty for none.
  ///   - settings: lines of `name: value`.
  static func configuration(app: String, widget: String, settings: [String]) -> String {
    var sample = SampleCluster()
    (sample.app, sample.widget) = (app, widget)
    sample.settings = ["callDeadline: 60", "limiterFirst: 0"] + settings
    return sample.yaml
  }

  /// The extension downloads nothing: it sends a request to the backend in `getTimeline`.
  private static let configuration = configuration(app: "", widget: "", settings: ["suspendAfter: 0.5"])

  /// Runs the test `WIDGETLAB_REPEAT` times; `body` begins when the backend has the widget's token and the extension is
  /// suspended without work.
  static func run(_ name: String, _ body: @Sendable (SampleFixture) async throws -> Void) async throws {
    let rounds = LiveTrait.rounds
    for round in 1...rounds {
      do {
        try await LabCluster.with(name, configuration: configuration) { cluster in
          let fixture = SampleFixture(cluster: cluster)
          try await fixture.begin()
          try await body(fixture)
        }
      } catch {
        throw LabError("\(name), round \(round) of \(rounds): \(error)")
      }
    }
  }

  private func begin() async throws {
    try await cluster.run("reload", "--all")
    let received = try await journal.waitFor("the upload of the token has ended") {
      guard let called = $0.reading(DelegateCalled.self) else { return false }
      return called.session == Self.session && called.method == "didCompleteWithError" && called.failureCode == nil
    }
    #expect(try await subscriptions().count == 1)
    try await journal.waitFor("the extension is suspended, with nothing left to do", after: received.sequence) {
      let change = $0.reading(ProcessState.self)
      return change?.address == Self.widgetExtension && change?.state == "suspended"
    }
  }

  // MARK: The backend

  func subscriptions() async throws -> [Subscription] {
    try JSONDecoder().decode([Subscription].self, from: try await cluster.fetch("/subscriptions"))
  }

  /// The backend's push: it has one for each installation, and this cluster has one installation.
  func push() async throws -> Push? {
    try JSONDecoder().decode([Push].self, from: try await cluster.fetch("/pushes")).first
  }

  func pushIs(_ state: String) async throws {
    try await cluster.eventually("the backend's push is \(state)") { try await push()?.state == state }
  }

  /// Changes a figure at the backend.
  func drink(_ milligrams: Int = 1) async throws -> Change {
    struct Figures: Decodable { let milligrams: Int }
    let last = try await journal.all().last?.sequence ?? 0
    let answer = try await cluster.post("/drinks", json: #"{"name":"Espresso","milligrams":\#(milligrams)}"#)
    return Change(
      milligrams: try JSONDecoder().decode(Figures.self, from: answer).milligrams, after: last)
  }

  // MARK: The device

  /// Returns when the change is on the screen.
  @discardableResult
  func shown(_ change: Change) async throws -> LabEnvelope {
    try await journal.waitFor("the screen shows \(change.milligrams) mg", after: change.after) {
      $0.reading(EntryShown.self)?.text.contains { $0.contains("\(change.milligrams) mg") } == true
    }
  }

  /// Returns when a notification has reached a step of the push server.
  @discardableResult
  func step(_ name: PushStep.Name, after: UInt64, within limit: Duration = LabTimeout.usual) async throws -> UUID {
    let found = try await journal.waitFor("a push is \(name.rawValue)", after: after, within: limit) {
      $0.reading(PushLogged.self)?.step.name == name
    }
    return try #require(found.reading(PushLogged.self)).uniqueID
  }

  func process(named name: String) throws -> LabProcess { LabProcess(pid: try #require(cluster.pid(of: name))) }

  /// Kills a standing process; returns when its next instance is connected.
  func killAndReturn(_ name: String, _ address: Address) async throws {
    let last = try await journal.all().last?.sequence ?? 0
    try process(named: name).signal(SIGKILL)
    try await journal.waitFor("another instance of \(name)", after: last) {
      let changed = $0.reading(RegistrationChanged.self)
      return changed?.change == .connected && changed?.registration.address == address
    }
  }

  // MARK: The whole path

  /// Checks the journal since a change: each accepted notification has one end; each one that was not superseded caused
  /// one reload of each widget; neither the app nor the extension requested a reload.
  ///
  /// - Parameter superseded: how many notifications were superseded before their delivery.
  func expectOneOfEach(_ changes: Int, since first: Change, superseded: Int = 0) async throws {
    let ends: Set<PushStep.Name> = [.reloaded, .superseded, .supersededOnDevice]
    try await cluster.eventually("\(changes) pushes have ended") {
      let steps = try await logged(since: first)
      return Set(steps.filter { ends.contains($0.name) }.map(\.uniqueID)).count >= changes
    }
    // A redelivery would follow the restart of the host.
    try await killAndReturn("host", .host(LiveFixture.device))
    try await cluster.run("reload", "CaffeineTracker")
    let steps = try await logged(since: first)
    let accepted = steps.filter { $0.name == .accepted }.map(\.uniqueID)
    #expect(accepted.count == changes && Set(accepted).count == changes, "\(steps)")
    let widgets = try await subscriptions().first?.widgets.count ?? 0
    for id in accepted {
      let names = steps.filter { $0.uniqueID == id }.map(\.name)
      #expect(names.filter(ends.contains).count == (names.contains(.reloaded) ? widgets : 1), "\(names)")
      #expect(names.filter { $0 == .reloading }.count == (names.contains(.reloaded) ? 1 : 0), "\(names)")
    }
    #expect(steps.filter { [.superseded, .supersededOnDevice].contains($0.name) }.count == superseded)
    let since = try await journal.all().filter { $0.sequence > first.after }
    let stored = since.compactMap { $0.reading(TimelineStored.self) }.filter { $0.because == .push }
    #expect(stored.count == (changes - superseded) * widgets)
    let authors = [Self.widgetExtension, Self.app]
    #expect(!since.contains { $0.kind == "timeline.reload" && authors.contains($0.envelope.header.source) })
  }

  /// The steps that the push server and the device have reported since a change. A report that is repeated because
  /// it was not acknowledged has the same id, and counts once.
  private func logged(since change: Change) async throws -> [(uniqueID: UUID, name: PushStep.Name)] {
    var output: Set<UUID> = []
    return try await journal.all().filter { $0.sequence > change.after }.compactMap { entry in
      if let logged = entry.reading(PushLogged.self) { return (logged.uniqueID, logged.step.name) }
      guard let progress = entry.reading(PushProgress.self), output.insert(entry.id).inserted else { return nil }
      return (progress.uniqueID, progress.step.name)
    }
  }
}
