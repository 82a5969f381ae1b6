// SPDX-License-Identifier: Apache-2.0

import Archive
import BusTesting
import Foundation
import MessageBus
import Messages
import Synchronization
import Testing

@testable import AuthorRuntime
@testable import URLSessionAPI

/// An author's process on an in-memory bus, and a host that a test controls.
struct SDKFixture {
  static let group = "group.com.example.Trial"
  static let widget = Address.widgetExtension("phone", "com.example.App.Widget")
  static let app = Address.app("phone", "com.example.App")

  let bus = InMemoryBus()
  let host: HostModel
  let process: HostedProcess
  private let scratch: ScratchFolder
  var folder: URL { scratch.url }

  /// Creates a process that is not announced yet.
  init(_ address: Address = SDKFixture.widget, rules: ProcessRules = .waiting(60)) throws {
    let host = Address.host("phone")
    scratch = try ScratchFolder()
    let folder = scratch.url
    let launchContext = LaunchContext(
      address: address, generation: 1, host: host, endpoint: "", serverKey: "", publicKey: "", secretKey: "",
      container: folder.path, groups: [SDKFixture.group: folder.path], rules: rules,
      agentPid: 0)
    process = HostedProcess(launchContext, connection: bus.connection(address))
    self.host = HostModel(bus.connection(host))
  }

  var registry: SessionRegistry { SessionRegistry.of(process) }

  /// Starts the host, then the process with these handlers.
  func begin(_ handlers: [BackgroundEventsHandler] = []) async throws {
    try await host.start()
    await MainActor.run { registry.serve(handlers) }
    try await announce()
  }

  func announce() async throws {
    try await process.announce(widgets: [WidgetDeclaration(kind: "Trial")]) {
      Issue.record("the process instance has ended: \($0)")
    }
  }

  /// Creates a session of this process.
  func session(_ delegate: any URLSessionDelegate, _ identifier: String = "daily", shared: Bool = true) -> URLSession {
    process.session(delegate, identifier, shared: shared)
  }

  /// Calls a function that may block, on a new thread.
  func blocking<Result: Sendable>(_ work: @escaping @Sendable () -> Result) async -> Result {
    await withCheckedContinuation { continuation in
      Thread { [process] in continuation.resume(returning: process.asCurrent(body: work)) }.start()
    }
  }

  /// The outcome of a task that downloaded these bytes into a new file.
  func success(_ task: Int, _ bytes: String = "figures") throws -> TaskOutcome {
    let file = folder.appendingPathComponent(UUID().uuidString)
    try Data(bytes.utf8).write(to: file)
    return TaskOutcome(
      task: SDKFixture.snapshot(task),
      response: TransferResponse(
        url: "http://a.example/figures", status: 200, headers: [["Content-Type", "text/plain; charset=utf-8"]],
        expectedLength: Int64(bytes.utf8.count)),
      file: file.path, failure: nil)
  }

  static func snapshot(_ task: Int) -> TaskSnapshot {
    TaskSnapshot(
      taskIdentifier: task, request: TransferRequest(url: "http://a.example/figures", headers: [["X-Day", "1"]]),
      taskDescription: "of an earlier instance", bytesReceived: 7, bytesExpected: 7)
  }

  /// All messages of one type that were sent so far.
  func sent<N: Notice>(_ type: N.Type) async -> [N] {
    await bus.sentEnvelopes.filter { $0.header.kind == N.kind }.compactMap {
      try? BodyCoding.decode(N.self, from: $0.body)
    }
  }

  /// The journal's records of handlers, delegate calls and completions, in order.
  func journal() async -> [String] {
    await bus.sentEnvelopes.compactMap { envelope in
      switch envelope.header.kind {
      case HandlerCalled.kind:
        (try? BodyCoding.decode(HandlerCalled.self, from: envelope.body)).map { "handler.called \($0.matching)" }
      case DelegateCalled.kind:
        (try? BodyCoding.decode(DelegateCalled.self, from: envelope.body)).map {
          "\($0.method)\($0.taskIdentifier.map { " \($0)" } ?? "")"
        }
      case CompletionCalled.kind:
        (try? BodyCoding.decode(CompletionCalled.self, from: envelope.body)).map {
          "completion.called \($0.outstanding)"
        }
      default: nil
      }
    }
  }

  /// Waits for the first message of a type that fulfils the condition.
  func waitFor<N: Notice>(_ type: N.Type, where fits: @escaping @Sendable (N) -> Bool = { _ in true }) async {
    _ = await bus.first { envelope in
      envelope.header.kind == N.kind && (try? BodyCoding.decode(N.self, from: envelope.body)).map(fits) == true
    }
  }
}

extension ProcessRules {
  /// Rules of a process that waits this many seconds for its host.
  static func waiting(_ seconds: Double) -> ProcessRules {
    var rules = ProcessRules()
    rules.callDeadline = seconds
    return rules
  }
}

/// A folder that is deleted with the last fixture that uses it.
private final class ScratchFolder: Sendable {
  let url = FileManager.default.temporaryDirectory.appendingPathComponent("sdk-\(UUID().uuidString)")

  init() throws { try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true) }

  deinit { try? FileManager.default.removeItem(at: url) }
}

extension HostedProcess {
  /// For a handler. The fixture retains the handler, so the handler must not retain the fixture.
  func session(_ delegate: any URLSessionDelegate, _ identifier: String = "daily", shared: Bool = true) -> URLSession {
    let configuration = URLSessionConfiguration.background(withIdentifier: identifier)
    if shared { configuration.sharedContainerIdentifier = SDKFixture.group }
    return asCurrent { URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil) }
  }

  func asCurrent<Result>(body: () -> Result) -> Result { asCurrent(.none, body) }
}

/// A host that accepts every message.
actor HostModel {
  nonisolated let connection: Connection
  private(set) var opened: [OpenSession] = []
  private(set) var created: [CreateTransfer] = []
  private(set) var cancelled: [CancelTransfer] = []
  private(set) var changed: [ChangeTransfer] = []
  private(set) var closed: [String] = []
  /// The resume data of a cancelled task.
  var resumeData: Data?
  /// The error with which `session.open` is refused.
  private var refusal: BusError?
  private(set) var readies = 0
  var openReply = OpenSession.Reply(nextTaskIdentifier: 1, tasks: [])
  /// Whether replies to `transfer.create` wait for `answerCreates`.
  private var holds = false
  private var held: [CheckedContinuation<Void, Never>] = []
  private var holdsOpens = false
  private var heldOpens: [CheckedContinuation<Void, Never>] = []

  init(_ connection: Connection) { self.connection = connection }

  func start() async throws {
    connection.onRequest(ProcessReady.self) { _, _ in await self.ready() }
    connection.onRequest(OpenSession.self) { request, _ in try await self.open(request) }
    connection.onRequest(CreateTransfer.self) { request, _ in await self.create(request) }
    connection.onRequest(CancelTransfer.self) { request, _ in await self.cancel(request) }
    connection.onRequest(ChangeTransfer.self) { request, _ in await self.change(request) }
    connection.onRequest(CloseSession.self) { request, _ in await self.close(request) }
    connection.onEvent(ReloadTimelines.self) { _, _ in }
    _ = try await connection.start()
  }

  func reply(nextTask: Int, tasks: [TaskSnapshot]) {
    openReply = OpenSession.Reply(nextTaskIdentifier: nextTask, tasks: tasks)
  }

  func refuseOpens(_ error: BusError?) { refusal = error }
  func makeResumeData(_ data: Data) { resumeData = data }

  private func cancel(_ request: CancelTransfer) -> CancelTransfer.Reply {
    cancelled.append(request)
    return CancelTransfer.Reply(resumeData: request.producesResumeData ? resumeData : nil)
  }

  private func change(_ request: ChangeTransfer) -> Done {
    changed.append(request)
    return Done()
  }

  private func close(_ request: CloseSession) -> Done {
    closed.append(request.identifier)
    return Done()
  }

  func holdCreates() { holds = true }

  func answerCreates() {
    holds = false
    for continuation in held { continuation.resume() }
    held = []
  }

  private func ready() -> Done {
    readies += 1
    return Done()
  }

  func holdOpens() { holdsOpens = true }

  func answerOpens() {
    holdsOpens = false
    for continuation in heldOpens { continuation.resume() }
    heldOpens = []
  }

  private func open(_ request: OpenSession) async throws -> OpenSession.Reply {
    opened.append(request)
    if let refusal { throw refusal }
    if holdsOpens { await withCheckedContinuation { heldOpens.append($0) } }
    return openReply
  }

  private func create(_ request: CreateTransfer) async -> Done {
    created.append(request)
    if holds { await withCheckedContinuation { held.append($0) } }
    return Done()
  }
}

/// A delegate that records its calls.
final class Delegate: NSObject, URLSessionDownloadDelegate, Sendable {
  let lines = Mutex<[String]>([])
  let files = Mutex<[URL]>([])
  private let keepsFiles: Bool
  private let onFinish: @Sendable () -> Void
  private let ends: AsyncStream<String>
  private let end: AsyncStream<String>.Continuation

  init(keepsFiles: Bool = false, onFinish: @escaping @Sendable () -> Void = {}) {
    self.keepsFiles = keepsFiles
    self.onFinish = onFinish
    (ends, end) = AsyncStream.makeStream(of: String.self)
  }

  var calls: [String] { lines.withLock { $0 } }

  /// Waits for a line with this prefix.
  func waitFor(_ beginning: String) async {
    for await line in ends where line.hasPrefix(beginning) { return }
  }

  private func note(_ line: String) {
    lines.withLock { $0.append(line) }
    end.yield(line)
  }

  func urlSession(_ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL) {
    let content = (try? String(contentsOf: location, encoding: .utf8)) ?? "no file"
    files.withLock { $0.append(location) }
    if keepsFiles { try? FileManager.default.moveItem(at: location, to: location.appendingPathExtension("kept")) }
    note("file \(downloadTask.taskIdentifier) \(content)")
  }

  func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
    note("end \(task.taskIdentifier) \((error as? URLError)?.code.rawValue ?? 0)")
  }

  func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession) {
    onFinish()
    note("finish")
  }

  func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {
    note("invalid \((error as? URLError)?.code.rawValue ?? 0)")
  }
}

/// A handler of background events that stores its completions.
@MainActor final class Handler {
  private(set) var identifiers: [String] = []
  private var completions: [() -> Void] = []
  private let onCall: () -> Void

  init(onCall: @escaping () -> Void = {}) { self.onCall = onCall }

  func handler(for identifier: String? = nil) -> BackgroundEventsHandler {
    BackgroundEventsHandler(matches: { identifier == nil || $0 == identifier }) { session, completion in
      self.identifiers.append(session)
      self.completions.append(completion)
      self.onCall()
    }
  }

  /// Calls all completions and keeps them.
  func complete() { for completion in completions { completion() } }
}

extension SDKFixture {
  /// The journal's records of handlers, delegate calls and completions, in order.
  func journaledCalls() async -> [String] {
    await bus.sentEnvelopes.compactMap { envelope in
      switch envelope.header.kind {
      case HandlerCalled.kind:
        (try? BodyCoding.decode(HandlerCalled.self, from: envelope.body)).map { "handler.called \($0.matching)" }
      case DelegateCalled.kind:
        (try? BodyCoding.decode(DelegateCalled.self, from: envelope.body)).map {
          "\($0.method)\($0.taskIdentifier.map { " \($0)" } ?? "")"
        }
      case CompletionCalled.kind:
        (try? BodyCoding.decode(CompletionCalled.self, from: envelope.body)).map {
          "completion.called \($0.outstanding)"
        }
      default: nil
      }
    }
  }
}
