// SPDX-License-Identifier: Apache-2.0

import Foundation
import Journal
import JournalAnalysis
import Messages

// What the tool supplies to the page: the answers of the live cluster, as JSON. Times are seconds since 1970.

/// What the console shows, which does not change while it runs.
package struct ConsoleFacts: Sendable {
  /// The device of the configuration. Sizes are points.
  package struct Device: Codable, Sendable, Equatable {
    package let name: String
    package let model: String
    package let systemVersion: String
    package let width: Double
    package let height: Double

    /// Creates the facts of a device.
    package init(name: String, model: String, systemVersion: String, width: Double, height: Double) {
      self.name = name
      self.model = model
      self.systemVersion = systemVersion
      self.width = width
      self.height = height
    }
  }

  /// The version of WidgetLab.
  package let version: String
  /// The instance folder, or the shown journal.
  package let instance: String
  /// The path of the configuration; nil for a copied journal without one.
  package let configuration: String?
  /// Why the console performs no actions; nil when it does.
  package let readOnlyReason: String?
  /// What selects this instance in a command: ` --instance second`, or nothing.
  package let commandSuffix: String
  /// The device; nil for a copied journal without a configuration.
  package let device: Device?

  /// Creates the facts.
  package init(
    version: String, instance: String, configuration: String?, readOnlyReason: String?, commandSuffix: String,
    device: Device?
  ) {
    self.version = version
    self.instance = instance
    self.configuration = configuration
    self.readOnlyReason = readOnlyReason
    self.commandSuffix = commandSuffix
    self.device = device
  }
}

/// A process of the cluster.
package struct ConsoleProcess: Codable, Sendable, Equatable {
  package var address: String
  package var name: String
  package var role: String
  /// What `widgetlab kill` takes.
  package var argument: String
  package var state: String
  package var generation: UInt32?
  package var pid: Int32?
  package var since: Double?
  /// Bytes.
  package var memory: Int?
  package var memoryLimit: Int?
  /// Seconds of processor time.
  package var cpu: Double?
  /// Of one processor, since the last question.
  package var cpuShare: Double?
  package var why: String
  package var lastEnding: String?

  /// Creates a process without measurements.
  package init(address: String, name: String, role: String, argument: String, state: String, why: String) {
    self.address = address
    self.name = name
    self.role = role
    self.argument = argument
    self.state = state
    self.why = why
  }
}

/// One screen of the device.
package struct ConsoleScreen: Codable, Sendable, Equatable {
  package struct Location: Codable, Sendable, Equatable {
    package let name: String
    package let isVisible: Bool

    /// Creates a location.
    package init(name: String, isVisible: Bool) {
      self.name = name
      self.isVisible = isVisible
    }
  }

  package struct Extent: Codable, Sendable, Equatable {
    package let width: Double
    package let height: Double

    /// In points.
    package init(width: Double, height: Double) {
      self.width = width
      self.height = height
    }
  }

  package struct State: Codable, Sendable, Equatable {
    package let isLocked: Bool
    package let colorScheme: String
    package let text: String

    /// Creates the state of a screen.
    package init(isLocked: Bool, colorScheme: String, text: String) {
      self.isLocked = isLocked
      self.colorScheme = colorScheme
      self.text = text
    }
  }

  package struct Control: Codable, Sendable, Equatable {
    /// As `widgetlab tap --button` counts buttons and toggles; of a link its own count.
    package let number: Int
    /// `button`, `toggle` or `link`.
    package let type: String
    package let label: String

    /// Creates a control.
    package init(number: Int, type: String, label: String) {
      self.number = number
      self.type = type
      self.label = label
    }
  }

  package struct Tile: Codable, Sendable, Equatable {
    package var placement: Int
    package var kind: String
    package var family: String
    package var bundle: String
    package var x = 0.0
    package var y = 0.0
    package var width = 0.0
    package var height = 0.0
    /// The address of its picture; nil where it has no size.
    package var picture: String?
    package var alt = ""
    package var why = ""
    package var content: String
    package var date: Double?
    package var covers: [Int] = []
    package var notices: [String] = []
    package var controls: [Control] = []
    package var isControl = false

    /// Creates a tile without a place and a picture.
    package init(placement: Int, kind: String, family: String, bundle: String, content: String) {
      self.placement = placement
      self.kind = kind
      self.family = family
      self.bundle = bundle
      self.content = content
    }
  }

  /// `device` or `journal`.
  package var source: String
  package var notice: String?
  package var location: String
  package var locations: [Location] = []
  package var size: Extent
  package var state: State
  package var textSize: String?
  package var textSizes: [String] = []
  package var tiles: [Tile] = []

  /// Creates an empty screen.
  package init(source: String, location: String, size: Extent, state: State) {
    self.source = source
    self.location = location
    self.size = size
    self.state = state
  }
}

/// A widget or a control of the gallery.
package struct ConsoleGalleryItem: Codable, Sendable, Equatable {
  package struct Offer: Codable, Sendable, Equatable {
    package let name: String
    package let families: [String]

    /// The families that a location offers.
    package init(name: String, families: [String]) {
      self.name = name
      self.families = families
    }
  }

  package let bundle: String
  package let kind: String
  package let displayName: String
  package let description: String
  package var locations: [Offer]
  package var problem: String?

  /// Creates an item.
  package init(
    bundle: String, kind: String, displayName: String, description: String, locations: [Offer], problem: String? = nil
  ) {
    self.bundle = bundle
    self.kind = kind
    self.displayName = displayName
    self.description = description
    self.locations = locations
    self.problem = problem
  }
}

/// The result of an action.
package struct ConsoleActionResult: Codable, Sendable, Equatable {
  /// The command line that does the same.
  package let command: String
  package let exit: Int32
  package let output: [String]
  package let errors: [String]
  package let milliseconds: Int

  /// Creates a result.
  package init(command: String, exit: Int32, output: [String], errors: [String], milliseconds: Int) {
    self.command = command
    self.exit = exit
    self.output = output
    self.errors = errors
    self.milliseconds = milliseconds
  }
}

/// One line of the page's list of messages.
struct MessageRow: Encodable, Sendable {
  let sequence: UInt64
  let time: Double
  let from: String
  let to: String
  let fromGeneration: UInt32
  let toGeneration: UInt32
  let kind: String
  /// The first six digits of the correlation id.
  let correlation: String?
  let mark: String?
  let note: String
  let attempt: UInt16

  init(_ envelope: Envelope) {
    let (header, note) = (envelope.header, EnvelopeNote(envelope))
    sequence = header.sequence
    time = Double(header.sentAt.microseconds) / 1e6
    from = header.source.tailName
    to = header.destination.tailName
    fromGeneration = header.sourceGeneration
    toGeneration = header.destinationGeneration
    kind = header.kind.name
    correlation = header.correlation.map { String($0.digits.prefix(6)) }
    mark = note.mark.word
    self.note = note.text.start(bytes: 400)
    attempt = header.attempt
  }

  /// The row as JSON.
  var json: [UInt8] { (try? ConsoleJSON.bytes(self)) ?? Array("{\"sequence\":\(sequence)}".utf8) }
}

/// The JSON of all answers.
enum ConsoleJSON {
  static func bytes<T: Encodable>(_ value: T) throws -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    encoder.dateEncodingStrategy = .secondsSince1970
    return Array(try encoder.encode(value))
  }
}

/// One message with its body, its cause and its effects.
struct MessageDetail {
  let envelope: Envelope
  let cause: Envelope?
  let effects: [Envelope]
  let trace: String?

  /// How far causes and effects are searched.
  private static let reach: UInt64 = 20_000
  private static let effectLimit = 50

  /// - Throws: 404 when the journal does not contain the number.
  init(_ sequence: UInt64, pages: JournalPages, traces: TraceList) throws {
    guard sequence > 0, let envelope = try pages.read(sequence...sequence).first, let bounds = try pages.bounds() else {
      throw ConsoleError(
        404, "the journal has no message \(sequence)", advice: "it may be removed: the journal has a size limit")
    }
    self.envelope = envelope
    let first = max(bounds.lowerBound, sequence > Self.reach ? sequence - Self.reach : 1)
    cause = try envelope.header.cause.flatMap { id in
      sequence > first ? try pages.last(id, in: first...sequence - 1) : nil
    }
    let id = RecordIdentifier(envelope.header.id)
    var foundCount = 0
    let last = min(bounds.upperBound, sequence + Self.reach)
    effects =
      sequence < last
      ? try pages.select(sequence + 1...last) { head in
        guard head.cause == id, foundCount < Self.effectLimit else { return false }
        foundCount += 1
        return true
      } : []
    trace = traces.entry(of: envelope.header)?.id
  }

  /// As JSON: the body is as it was sent.
  var json: [UInt8] {
    get throws {
      func object(_ row: MessageRow) throws -> Any {
        try JSONSerialization.jsonObject(with: Data(try ConsoleJSON.bytes(row)))
      }
      let header = envelope.header
      var fields: [String: Any] = [
        "row": try object(MessageRow(envelope)), "id": header.id.text,
        "size": envelope.body.count, "effects": try effects.map { try object(MessageRow($0)) },
      ]
      fields["cause"] = header.cause?.text
      fields["correlation"] = header.correlation?.text
      fields["causeRow"] = try cause.map { try object(MessageRow($0)) }
      fields["trace"] = trace
      let body = Data(envelope.body)
      if let object = try? JSONSerialization.jsonObject(with: body, options: [.fragmentsAllowed]) {
        fields["body"] = object
      } else if !body.isEmpty {
        fields["bodyText"] = String(decoding: body, as: UTF8.self)
      }
      return Array(try JSONSerialization.data(withJSONObject: fields, options: [.sortedKeys, .withoutEscapingSlashes]))
    }
  }
}

/// What a page shows, and reads again after a change.
package enum ConsoleTopic: String, CaseIterable, Sendable, Encodable {
  case screen, processes, history, traces, budget, pushes, diagnoses, state
}

extension ConsoleTopic {
  /// What an envelope changes. The console's own questions and their replies change nothing.
  static func changed(by header: EnvelopeHeader) -> Set<ConsoleTopic> {
    var topics = byKind[header.kind] ?? []
    if header.kind == RegistrationChanged.kind { topics = [.processes, .history, .state] }
    if header.correlation != nil { topics.insert(.traces) }
    return topics
  }

  private static let byKind: [Kind: Set<ConsoleTopic>] = [
    TimelineStored.kind: [.screen, .budget], EntryShown.kind: [.screen], ReloadFailed.kind: [.screen, .budget],
    PlacementChanged.kind: [.screen, .budget], StackTurned.kind: [.screen], ScreenChanged.kind: [.screen],
    SettingChanged.kind: [.screen], ClockChanged.kind: [.screen, .budget, .state],
    BudgetDecided.kind: [.budget, .screen],
    ProcessStarted.kind: [.processes, .history], ProcessExited.kind: [.processes, .history],
    ProcessState.kind: [.processes, .history], AgentStarted.kind: [.processes, .history],
    ProcessReady.kind: [.processes, .screen], BusStarted.kind: [.processes, .history, .state],
    SignalProcess.kind.answered(.ok): [.processes, .history], MemoryExceeded.kind: [.processes],
    PushLogged.kind: [.pushes, .traces], TokenChanged.kind: [.pushes],
    OverrideResponses.kind.answered(.ok): [.pushes],
    SessionAcknowledged.kind: [.traces], SessionEvents.kind: [.traces], TransferProgress.kind: [.traces],
  ]
}
