// SPDX-License-Identifier: Apache-2.0

import Archive
import BusTesting
import Crypto
import Foundation
import GRDB
import MessageBus
import Messages
import Stores
import Synchronization
import Timekeeping

@testable import Device
@testable import DeviceRules

/// The processes of the tests of transfers.
enum TransferSamples {
  static let app = Address.app("iphone", "com.example")
  static let widget = Address.widgetExtension("iphone", "com.example.Widget")
  /// The only app group of the device.
  static let group = "group.com.example"
}

/// A transfer service with a file server, an in-memory bus and a clock that the test advances.
final class TransferFixture: Sendable {
  let bus = InMemoryBus()
  let clock = ManualClock()
  let folder: String
  let database: DatabasePool
  let server: FileServer
  /// The space of the disk; `nil` for no limit.
  let space = Mutex<TransferSpace?>(nil)
  /// Whether owners run according to Launching.
  let awake = Mutex(true)

  init(_ behaviour: FileServer.Behaviour, database configuration: Configuration = Configuration()) async throws {
    folder = FileManager.default.temporaryDirectory.path + "/transfers-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    database = try DatabasePool(path: folder + "/host.sqlite", configuration: configuration)
    server = try await FileServer.start(behaviour)
  }

  deinit { try? FileManager.default.removeItem(atPath: folder) }

  /// Starts a host process. The previous one must have ended.
  ///
  /// - Parameter clock: the device's clock; `nil` for the fixture's.
  func host(
    network: NetworkState = NetworkState(), clock: (any ControllableClock)? = nil, suspended: [Address: UInt32] = [:],
    _ change: (inout TransferSettings) -> Void = { _ in }
  ) async throws -> TransferService {
    var settings = TransferSettings()
    change(&settings)
    let connection = bus.connection(.host("iphone"))
    let storedState = try TransferService.Stored(
      DeviceTransactions(immediate: database), settings: settings, families: AppFamilies(apps: ["com.example"]))
    let state = DeviceStateMachine {
      $0.loading = storedState.loading
      $0.delivery = storedState.delivery
    }
    let device = await LoneDevice(state, clock: clock ?? self.clock)
    let service = try TransferService(
      storedState, core: device.core, folder: folder + "/transfers", bus: connection, clock: clock ?? self.clock,
      isAwake: { [weak self] _ in self?.awake.withLock { $0 } ?? false },
      container: { [folder] owner in "\(folder)/containers/\(owner.bundleIdentifier ?? "")" },
      group: { [folder] in $0 == TransferSamples.group ? "\(folder)/groups/\($0)" : nil },
      space: { [weak self] in self?.space.withLock { $0 } })
    await device.core.connect(service)
    connection.onRequest(OpenSession.self) { try await service.open($0, $1) }
    connection.onRequest(CreateTransfer.self) { request, from in
      try await service.create(request, from)
      return Done()
    }
    connection.onRequest(CancelTransfer.self) { try await service.cancel($0, $1) }
    connection.onRequest(ChangeTransfer.self) { request, from in
      try await service.change(request, from)
      return Done()
    }
    connection.onRequest(CloseSession.self) { request, from in
      try await service.close(request, from)
      return Done()
    }
    try await service.begin(network: network, suspended: suspended)
    _ = try await connection.start()
    return service
  }

  /// Ends the host process.
  func end(_ service: TransferService) async {
    await service.leave()
    await bus.disconnect(.host("iphone"))
  }

  /// Waits until the host has recorded the `count`-th progress step of this kind.
  @discardableResult
  func recorded(_ step: TransferProgress.Step, _ count: Int = 1) async -> TransferProgress? {
    var seen = 0
    for await envelope in await bus.watch() where envelope.header.kind == TransferProgress.kind {
      guard let notice = try? BodyCoding.decode(TransferProgress.self, from: envelope.body), notice.step == step
      else { continue }
      seen += 1
      if seen == count { return notice }
    }
    return nil
  }

  var clockState: ClockState { ClockState(now: clock.now, isHeld: true, offset: 0) }

  /// Waits for the given number of changes of resume rate limiters and returns them.
  func limiterChanges(_ count: Int) async throws -> [LimiterChanged] {
    var changes: [LimiterChanged] = []
    for await envelope in await bus.watch() where envelope.header.kind == LimiterChanged.kind {
      changes.append(try BodyCoding.decode(LimiterChanged.self, from: envelope.body))
      if changes.count == count { break }
    }
    return changes
  }

  func received(_ kind: Kind) async { _ = await bus.first { $0.header.kind == kind } }

  /// The files below a folder of the fixture.
  func files(below name: String, ending: String) -> [String] {
    let names = FileManager.default.enumerator(atPath: "\(folder)/\(name)")?.compactMap { $0 as? String } ?? []
    return names.filter { $0.hasSuffix(ending) }
  }
}

extension TransferService {
  nonisolated var device: LoneDevice { LoneDevice.of(context.core) }

  func awake(_ owner: Address, generation: UInt32, woken: Bool, because: Assertion? = nil) {
    ask(.awake(owner, ProcessInstance(generation: generation, pid: 1), woken: woken, because: because))
  }

  func suspended(_ owner: Address, generation: UInt32) {
    ask(.suspended(owner, ProcessInstance(generation: generation, pid: 1)))
  }

  func ended(_ owner: Address, generation: UInt32) {
    ask(.ended(owner, ProcessInstance(generation: generation, pid: 1), .exited(code: 0)))
  }

  private func ask(_ request: DeviceRequest) { context.core.handle(.asked(request)) }

  func setFront(_ app: Address, isInFront: Bool) { context.core.handle(.loading(.front(app, isInFront))) }

  func setNetwork(_ state: NetworkState) { ask(.networkChanged(state)) }
}

/// A model of the process that owns a session. It receives events and replies as the test specifies.
final class ModelOwner: Sendable {
  /// How an owner handles delivered events.
  enum Manner: Sendable {
    /// Reads the files and acknowledges.
    case acknowledges
    /// Removes the files and never replies.
    case removesFilesAndNeverReplies
    /// Replies `unclaimed` to the first delivery and acknowledges the next.
    case refusesFirst
    /// Acknowledges after `acknowledge()`.
    case acknowledgesOnRequest
  }

  /// A received delivery.
  struct Receipt: Sendable {
    let id: UUID
    let events: SessionEvents
    let outcomes: [TaskOutcome]
    let files: [Data?]
  }

  let connection: Connection
  let received: AsyncStream<Receipt>
  private let permission: AsyncStream<Void>.Continuation

  init(
    _ bus: InMemoryBus, at address: Address = TransferSamples.widget, _ manner: Manner = .acknowledges
  ) async throws {
    connection = bus.connection(address)
    let (stream, continuation) = AsyncStream.makeStream(of: Receipt.self)
    received = stream
    let never = AsyncStream.makeStream(of: Void.self)
    let (permissions, permission) = AsyncStream.makeStream(of: Void.self)
    self.permission = permission
    let refusals = Mutex(manner == .refusesFirst ? 1 : 0)
    connection.onEvent(SessionEvents.self) { events, from in
      let isRefused = refusals.withLock { count in
        defer { count = 0 }
        return count > 0
      }
      if isRefused { throw BusError(.unclaimed, "no handler matches") }
      var values = try events.allOutcomes()
      let outcomes = try values.all()
      let files = outcomes.map { outcome in
        outcome.file.flatMap { FileManager.default.contents(atPath: $0) }
      }
      if case .removesFilesAndNeverReplies = manner {
        for file in events.outcomes.compactMap(\.file) { try FileManager.default.removeItem(atPath: file) }
      }
      continuation.yield(Receipt(id: from.id, events: events, outcomes: outcomes, files: files))
      if case .acknowledgesOnRequest = manner { for await _ in permissions { break } }
      if case .removesFilesAndNeverReplies = manner {
        for await _ in never.stream {}
        never.continuation.finish()
      }
    }
    _ = try await connection.start()
  }

  /// Acknowledges the held delivery.
  func acknowledge() { permission.yield() }

  /// Creates the session.
  @discardableResult
  func open(
    _ configuration: SessionConfiguration = SessionConfiguration(), named session: String = "figures"
  ) async throws -> OpenSession.Reply {
    try await connection.request(OpenSession(identifier: session, configuration: configuration), to: .host("iphone"))
  }

  /// Resumes a task. A task with a date asks before it begins.
  func create(
    _ task: Int, _ url: String, in session: String = "figures", resumeData: Data? = nil, after date: Date? = nil
  ) async throws {
    _ = try await connection.request(
      CreateTransfer(
        session: session, taskIdentifier: task, request: TransferRequest(url: url), taskDescription: "note",
        resumeData: resumeData, earliestBeginDate: date, asksBeforeDelayedRequest: date != nil),
      to: .host("iphone"))
  }

  func change(_ change: ChangeTransfer) async throws { _ = try await connection.request(change, to: .host("iphone")) }

  func next() async -> Receipt? { await received.first { _ in true } }
}

/// The SHA-256 of bytes, as hexadecimal digits.
func digest(_ bytes: [UInt8]) -> String { SHA256.hash(data: bytes).hexadecimal }

/// Returns bytes without a short repeating pattern.
func figures(_ count: Int) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) } }
