// SPDX-License-Identifier: Apache-2.0

package import Foundation

// Background sessions: messages between an author's process and the host's Transfers.

/// A process created a session object: from now on the session's events can be delivered to this process.
package struct OpenSession: Request {
  package static let kind: Kind = "session.open"
  package let identifier: String
  package let configuration: SessionConfiguration
  package init(identifier: String, configuration: SessionConfiguration) {
    self.identifier = identifier
    self.configuration = configuration
  }
  package struct Reply: Codable, Hashable, Sendable {
    /// The first free task identifier.
    package let nextTaskIdentifier: Int
    /// Tasks that were resumed and are not acknowledged yet.
    package let tasks: [TaskSnapshot]
    /// When they are too many for an envelope: a file with them in the owner's container, which the receiver removes.
    package let tasksFile: String?
    package init(nextTaskIdentifier: Int, tasks: [TaskSnapshot], tasksFile: String? = nil) {
      self.nextTaskIdentifier = nextTaskIdentifier
      self.tasks = tasks
      self.tasksFile = tasksFile
    }

    /// The tasks, from the envelope or the file.
    ///
    /// - Throws: `failed` when the file cannot be read.
    package func allTasks() throws(BusError) -> BodyValues<TaskSnapshot> {
      guard let tasksFile else { return BodyValues(tasks) }
      return try BodyValues(file: tasksFile)
    }
  }
}

extension BusError.Code {
  /// `session.open`: another process of the same app has connected a session with this identifier: -996. Definite.
  package static let sessionInUse = BusError.Code("session-in-use")
}

/// A session object was invalidated: the process is no longer connected to the session. Running tasks continue; tasks
/// to be cancelled have been cancelled before.
package struct CloseSession: Request {
  package static let kind: Kind = "session.close"
  package typealias Reply = Done
  package let identifier: String
  package init(identifier: String) { self.identifier = identifier }
}

/// While the process was suspended, another process of the app connected to a session of this identifier: the session
/// object becomes invalid with -996.
package struct SessionTaken: Event {
  package static let kind: Kind = "session.taken"
  package let session: String
  /// The generation of the process that was suspended. Later ones are not meant.
  package let generation: UInt32
  /// The process that is connected now.
  package let holder: Address
  package init(session: String, generation: UInt32, holder: Address) {
    self.session = session
    self.generation = generation
    self.holder = holder
  }
}

/// The time to handle a session's events is running out: the Swift tasks of `backgroundTask(.urlSession)` actions are
/// cancelled. An owner that does not acknowledge soon afterwards is evicted.
package struct ExpireEvents: Notice {
  package static let kind: Kind = "session.expire"
  package let session: String
  package let delivery: UUID
  package init(session: String, delivery: UUID) {
    self.session = session
    self.delivery = delivery
  }
}

/// The outcomes of a session's tasks: of all of them when the owner was woken, or of some that ended while it ran with
/// the session open. Acknowledged after the delegate was called and, when `wakesHandler`, after every matching
/// handler's completion was called. Every redelivery has the same id.
package struct SessionEvents: Event {
  package static let kind: Kind = "session.events"
  package let session: String
  /// Whether the owner was woken for it: then its handler is called first. A running owner gets no handler call.
  package let wakesHandler: Bool
  /// Whether `urlSessionDidFinishEvents` is called.
  package let finishes: Bool
  /// Whether the handler is called after the delegate messages when a session exists already.
  package let handlerComesLast: Bool
  package let outcomes: [TaskOutcome]
  /// When they are too many for an envelope: a file with them in the owner's container.
  package let outcomesFile: String?
  /// The tasks of the outcomes in the file, so that the journal names them; `nil` without a file.
  package let fileTasks: TaskNumbers?
  /// - Parameter finishes: defaults to whether the handler is called (documented).
  package init(
    session: String, wakesHandler: Bool, finishes: Bool? = nil, handlerComesLast: Bool = false,
    outcomes: [TaskOutcome], outcomesFile: String? = nil, fileTasks: TaskNumbers? = nil
  ) {
    self.session = session
    self.wakesHandler = wakesHandler
    self.finishes = finishes ?? wakesHandler
    self.handlerComesLast = handlerComesLast
    self.outcomes = outcomes
    self.outcomesFile = outcomesFile
    self.fileTasks = fileTasks
  }

  /// The outcomes, from the envelope or the file.
  ///
  /// - Throws: `failed` when the file cannot be read.
  package func allOutcomes() throws(BusError) -> BodyValues<TaskOutcome> {
    guard let outcomesFile else { return BodyValues(outcomes) }
    return try BodyValues(file: outcomesFile)
  }
}

extension BusError.Code {
  /// No handler of this process matches the session, and the session is not open in it. Definite.
  package static let unclaimed = BusError.Code("unclaimed")
}

/// Journal: the owner cannot handle a session's events. They are kept until a process creates the session.
package struct SessionUnclaimed: Notice {
  package static let kind: Kind = "session.unclaimed"
  package let owner: Address
  package let session: String
  package let delivery: UUID
  /// The owner's reply.
  package let reason: String
  package init(owner: Address, session: String, delivery: UUID, reason: String) {
    self.owner = owner
    self.session = session
    self.delivery = delivery
    self.reason = reason
  }
}

/// Journal: the author's handler for background session events is about to be called.
package struct HandlerCalled: Notice {
  package static let kind: Kind = "handler.called"
  package let session: String
  package let pid: Int32
  /// How many handlers match the session's identifier.
  package let matching: Int
  package init(session: String, pid: Int32, matching: Int) {
    self.session = session
    self.pid = pid
    self.matching = matching
  }
}

/// Journal: a delegate method has returned. For `urlSessionDidFinishEvents` the record precedes the call, so that what
/// the author does in it (a reload, the completion) is recorded later.
package struct DelegateCalled: Notice {
  package static let kind: Kind = "delegate.called"
  /// Not the record that precedes a call of the author's code.
  package var maySendLater: Bool { taskIdentifier != nil }
  package let session: String
  /// `didFinishDownloadingTo`, `didCompleteWithError`, `urlSessionDidFinishEvents`.
  package let method: String
  package let taskIdentifier: Int?
  /// The size of the file, for `didFinishDownloadingTo`.
  package let bytes: Int64?
  /// The SHA-256 of the file as this process read it before the call, in hexadecimal digits, for
  /// `didFinishDownloadingTo`; `nil` for a file over 32 MiB, or one that cannot be read.
  package let sha256: String?
  package let failureCode: Int?
  package init(
    session: String, method: String, taskIdentifier: Int? = nil, bytes: Int64? = nil, sha256: String? = nil,
    failureCode: Int? = nil
  ) {
    self.session = session
    self.method = method
    self.taskIdentifier = taskIdentifier
    self.bytes = bytes
    self.sha256 = sha256
    self.failureCode = failureCode
  }
}

/// Journal: the author called a handler's completion.
package struct CompletionCalled: Notice {
  package static let kind: Kind = "completion.called"
  package let session: String
  /// Completions still missing before the events are acknowledged.
  package let outstanding: Int
  package init(session: String, outstanding: Int) {
    self.session = session
    self.outstanding = outstanding
  }
}

/// Journal: the host discarded a session's events, because the owner acknowledged them.
package struct SessionAcknowledged: Notice {
  package static let kind: Kind = "session.acknowledged"
  package let owner: Address
  package let session: String
  package let delivery: UUID
  /// The tasks that the host deleted with the events; `nil` when they are too many for a notice.
  package let tasks: TaskNumbers?
  package init(owner: Address, session: String, delivery: UUID, tasks: TaskNumbers? = nil) {
    self.owner = owner
    self.session = session
    self.delivery = delivery
    self.tasks = tasks
  }
}

/// A session as printed by `ps` and `sessions`.
package struct SessionStatus: Codable, Hashable, Sendable {
  package let owner: Address
  package let session: String
  /// Tasks that have not ended.
  package let running: Int
  /// Tasks that ended and are not acknowledged.
  package let undelivered: Int
  package let bytesReceived: Int64
  package init(owner: Address, session: String, running: Int, undelivered: Int, bytesReceived: Int64) {
    self.owner = owner
    self.session = session
    self.running = running
    self.undelivered = undelivered
    self.bytesReceived = bytesReceived
  }
}

/// A set of task identifiers, encoded as ranges: `1-3,7`. Ten thousand tasks of a session take a few bytes.
package struct TaskNumbers: Codable, Hashable, Sendable, CustomStringConvertible {
  /// The longest encoded form that a message may contain, in bytes.
  private static let limit = 131_072

  /// The identifiers, in ascending order.
  package let identifiers: [Int]

  /// Creates a set; `nil` when its encoded form is too long for a message.
  package init?(_ identifiers: some Sequence<Int>) {
    self.identifiers = Set(identifiers).sorted()
    if self.identifiers.count > Self.limit / 20, description.utf8.count > Self.limit { return nil }
  }

  package var description: String {
    var ranges: [(first: Int, last: Int)] = []
    for identifier in identifiers {
      if let last = ranges.last?.last, last + 1 == identifier {
        ranges[ranges.count - 1].last = identifier
      } else {
        ranges.append((identifier, identifier))
      }
    }
    return ranges.map { $0.first == $0.last ? "\($0.first)" : "\($0.first)-\($0.last)" }.joined(separator: ",")
  }

  package init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    let text = try container.decode(String.self)
    do throws(NotARange) {
      identifiers = try TaskNumbers.identifiers(in: text)
    } catch {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "\(error.part) is not a range of tasks")
    }
  }

  private struct NotARange: Error {
    let part: Substring
  }

  private static func identifiers(in text: String) throws(NotARange) -> [Int] {
    var identifiers: [Int] = []
    for part in text.split(separator: ",") {
      let ends = part.split(separator: "-", omittingEmptySubsequences: false).map { Int($0) }
      guard let first = ends.first ?? nil, let last = ends.last ?? nil, ends.count <= 2, first <= last,
        last - first <= 1_000_000
      else { throw NotARange(part: part) }
      identifiers += first...last
    }
    return identifiers
  }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(description)
  }
}

extension TaskNumbers: DirectJSON {
  package func write(to json: inout JSONWriter) { json.write(string: description) }

  package init(reading json: inout JSONReader) throws(JSONReader.Unusual) {
    let text = try json.string()
    guard let identifiers = try? TaskNumbers.identifiers(in: text) else { throw JSONReader.Unusual() }
    self.identifiers = identifiers
  }
}
