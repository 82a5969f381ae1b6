import Conversations
import Crypto
import Foundation
import GRDB
import MessageBus
import Synchronization
import Timekeeping

@testable import Transfers

let widget = Address.widgetExtension("iphone", "com.example.Widget")

/// A transfer daemon with a file server, on a bus in memory and on a clock that the test advances.
final class TransferScene: Sendable {
  let bus = InMemoryBus()
  let clock = HeldClock()
  let folder: String
  let database: DatabasePool
  let server: FileServer
  /// Whether owners run, as Launching knows it.
  let awake = Mutex(true)

  init(_ behaviour: FileServer.Behaviour, database configuration: Configuration = Configuration()) async throws {
    folder = FileManager.default.temporaryDirectory.path + "/transfers-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    database = try DatabasePool(path: folder + "/host.sqlite", configuration: configuration)
    server = try await FileServer.start(behaviour)
  }

  deinit { try? FileManager.default.removeItem(atPath: folder) }

  /// A life of the host. The one before must have left.
  func host(
    network: NetworkState = NetworkState(), _ change: (inout TransferSettings) -> Void = { _ in }
  ) async throws -> TransferDaemon {
    var settings = TransferSettings()
    change(&settings)
    let connection = bus.connection(.host("iphone"))
    let daemon = try TransferDaemon(
      folder: folder + "/transfers", database: database, bus: connection, clock: clock, settings: settings,
      families: AppFamilies(apps: ["com.example"]), isAwake: { [weak self] _ in self?.awake.withLock { $0 } ?? false },
      container: { [folder] owner in "\(folder)/containers/\(owner.bundleIdentifier ?? "")" })
    connection.onRequest(OpenSession.self) { try await daemon.open($0, $1) }
    connection.onRequest(CreateTransfer.self) { try await daemon.create($0, $1) }
    connection.onRequest(CancelTransfer.self) { try await daemon.cancel($0, $1) }
    connection.onRequest(ChangeTransfer.self) { try await daemon.change($0, $1) }
    connection.onRequest(CloseSession.self) { await daemon.close($0, $1) }
    try await daemon.begin(network: network)
    _ = try await connection.start()
    return daemon
  }

  /// The host's process ends.
  func end(_ daemon: TransferDaemon) async {
    await daemon.leave()
    await bus.disconnect(.host("iphone"))
  }

  /// Waits until the host recorded a step, the `count`-th of its kind.
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

  /// The first changes of resume rate limiters, once there are so many.
  func limiterChanges(_ count: Int) async throws -> [LimiterChanged] {
    var changes: [LimiterChanged] = []
    for await envelope in await bus.watch() where envelope.header.kind == LimiterChanged.kind {
      changes.append(try BodyCoding.decode(LimiterChanged.self, from: envelope.body))
      if changes.count == count { break }
    }
    return changes
  }

  func heard(_ kind: Kind) async { _ = await bus.first { $0.header.kind == kind } }

  /// The files below a folder of the scene.
  func files(below name: String, ending: String) -> [String] {
    let names = FileManager.default.enumerator(atPath: "\(folder)/\(name)")?.compactMap { $0 as? String } ?? []
    return names.filter { $0.hasSuffix(ending) }
  }
}

/// A model of the process that owns a session: it hears events and answers as the test says.
final class ModelOwner: Sendable {
  /// What an owner does with the events that it is handed.
  enum Manner: Sendable {
    /// Reads the files, acknowledges.
    case acknowledges
    /// Moves the files away, and never answers.
    case takesAndHangs
    /// Answers `unclaimed` to the first, acknowledges the next.
    case claimsNothingAtFirst
    /// Acknowledges after `speak()`.
    case holdsItsWord
  }

  /// One hand-over as it was heard.
  struct Heard: Sendable {
    let id: UUID
    let events: SessionEvents
    let outcomes: [TaskOutcome]
    let files: [Data?]
  }

  let connection: Connection
  let heard: AsyncStream<Heard>
  private let word: AsyncStream<Void>.Continuation

  init(_ bus: InMemoryBus, at address: Address = widget, _ manner: Manner = .acknowledges) async throws {
    connection = bus.connection(address)
    let (stream, continuation) = AsyncStream.makeStream(of: Heard.self)
    heard = stream
    let silence = AsyncStream.makeStream(of: Void.self)
    let (words, word) = AsyncStream.makeStream(of: Void.self)
    self.word = word
    let refusals = Mutex(manner == .claimsNothingAtFirst ? 1 : 0)
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
      if case .takesAndHangs = manner {
        for file in events.outcomes.compactMap(\.file) { try FileManager.default.removeItem(atPath: file) }
      }
      continuation.yield(Heard(id: from.id, events: events, outcomes: outcomes, files: files))
      if case .holdsItsWord = manner { for await _ in words { break } }
      if case .takesAndHangs = manner {
        for await _ in silence.stream {}
        silence.continuation.finish()
      }
    }
    _ = try await connection.start()
  }

  /// Acknowledges what was held.
  func speak() { word.yield() }

  /// Creates the session.
  @discardableResult
  func open(
    _ configuration: SessionConfiguration = SessionConfiguration(), named session: String = "figures"
  ) async throws -> OpenSession.Reply {
    try await connection.request(OpenSession(identifier: session, configuration: configuration), to: .host("iphone"))
  }

  /// `resume()` of a task; one with a date asks before it begins.
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

  func next() async -> Heard? { await heard.first { _ in true } }
}

/// The SHA-256 of bytes, as hexadecimal digits.
func digest(_ bytes: [UInt8]) -> String {
  SHA256.hash(data: bytes).map { byte in
    let text = String(byte, radix: 16)
    return text.count < 2 ? "0" + text : text
  }.joined()
}

/// Bytes that are nowhere alike.
func figures(_ count: Int) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) } }
