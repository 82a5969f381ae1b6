// SPDX-License-Identifier: Apache-2.0

package import Archive
package import Foundation
package import Messages

/// The process instances of each address, from the journal: when each ran, was suspended and ended.
package struct ProcessHistory: Sendable {
  /// A time in one state.
  package struct Span: Encodable, Sendable, Equatable {
    /// `running`, `suspended` or `stopped`.
    package let state: String
    package let from: Double
    package var to: Double?
  }

  /// One process instance.
  package struct Run: Encodable, Sendable, Equatable {
    package let generation: UInt32
    package var pid: Int32?
    package let start: Double
    package var end: Double?
    package var ending: String?
    package var isFailure = false
    package var spans: [Span]
    package let startSequence: UInt64
    package var endSequence: UInt64?
    /// The path of its executable, if an agent reported it.
    package var executable: String?

    private enum CodingKeys: String, CodingKey {
      case generation, pid, start, end, ending, isFailure, spans, startSequence, endSequence
    }
  }

  private static let runLimit = 500
  private static let spanLimit = 400

  /// By address; each in the order of the starts.
  package private(set) var lanes: [Address: [Run]] = [:]
  /// The addresses, in the order of their first start.
  package private(set) var order: [Address] = []
  /// The time of the previous envelope, at which a broker that has ended was seen last.
  private var previous = 0.0

  init() {}

  mutating func handle(_ envelope: Envelope) {
    let header = envelope.header
    let (time, sequence) = (Double(header.sentAt.microseconds) / 1e6, header.sequence)
    defer { previous = time }
    switch header.kind {
    case ProcessStarted.kind:
      guard let started = envelope.reading(ProcessStarted.self) else { return }
      begin(
        started.address, generation: started.generation, pid: started.pid, at: time, sequence: sequence,
        executable: started.executable)
    case ProcessExited.kind:
      guard let exited = envelope.reading(ProcessExited.self) else { return }
      finish(
        exited.address, generation: exited.generation, ending: exited.ending, at: time, sequence: sequence,
        pid: exited.pid)
    case ProcessState.kind:
      guard let state = envelope.reading(ProcessState.self) else { return }
      change(state.address, generation: state.generation, to: state.state, at: time)
    case SignalProcess.kind:
      guard let signal = envelope.reading(SignalProcess.self), [18, 19].contains(signal.signal) else { return }
      change(signal.address, generation: signal.generation, to: signal.signal == 19 ? "stopped" : "running", at: time)
    case RegistrationChanged.kind:
      guard let changed = envelope.reading(RegistrationChanged.self) else { return }
      register(changed, at: time, sequence: sequence)
    case BusStarted.kind:
      guard let started = envelope.reading(BusStarted.self) else { return }
      restart(started, at: time, sequence: sequence)
    default: return
    }
  }

  /// The last process instance of an address.
  package func last(of address: Address) -> Run? { lanes[address]?.last }

  // MARK: Changes

  private mutating func begin(
    _ address: Address, generation: UInt32, pid: Int32?, at time: Double, sequence: UInt64,
    executable: String? = nil
  ) {
    if lanes[address] == nil { order.append(address) }
    var runs = lanes[address] ?? []
    // An agent may report a start after the exit of a short run.
    guard !runs.contains(where: { $0.generation == generation }) else { return }
    if let open = runs.indices.last, runs[open].end == nil {
      runs[open].finish("ended", isFailure: true, at: time, sequence: sequence)
    }
    var run = Run(
      generation: generation, pid: pid, start: time, spans: [Span(state: "running", from: time)],
      startSequence: sequence)
    run.executable = executable
    runs.append(run)
    if runs.count > Self.runLimit { runs.removeFirst() }
    lanes[address] = runs
  }

  private mutating func finish(
    _ address: Address, generation: UInt32, ending: Ending, at time: Double, sequence: UInt64, pid: Int32
  ) {
    if lanes[address]?.contains(where: { $0.generation == generation }) != true {
      begin(address, generation: generation, pid: pid, at: time, sequence: sequence)
    }
    guard let index = lanes[address]?.lastIndex(where: { $0.generation == generation }) else { return }
    // An event is sent again until it is acknowledged.
    guard lanes[address]?[index].endSequence == nil else { return }
    lanes[address]?[index].finish(ending.short, isFailure: ending.isFailure, at: time, sequence: sequence)
  }

  private mutating func change(_ address: Address, generation: UInt32?, to state: String, at time: Double) {
    guard ["running", "suspended", "stopped"].contains(state), var runs = lanes[address],
      let index = runs.lastIndex(where: { generation == nil || $0.generation == generation }), runs[index].end == nil,
      let span = runs[index].spans.indices.last, runs[index].spans[span].state != state
    else { return }
    runs[index].spans[span].to = time
    runs[index].spans.append(Span(state: state, from: time))
    if runs[index].spans.count > Self.spanLimit { runs[index].spans.removeFirst() }
    lanes[address] = runs
  }

  /// Standing processes are not reported by an agent: their connections show when they run.
  private mutating func register(_ changed: RegistrationChanged, at time: Double, sequence: UInt64) {
    let registration = changed.registration
    guard [.host, .agent, .provider, .pushServer].contains(registration.address.role) else { return }
    switch changed.change {
    case .connected:
      begin(
        registration.address, generation: registration.generation, pid: registration.pid, at: time, sequence: sequence)
    case .disconnected, .left:
      guard let index = lanes[registration.address]?.indices.last, lanes[registration.address]?[index].end == nil else {
        return
      }
      let isFailure = changed.change == .disconnected
      lanes[registration.address]?[index].finish(
        isFailure ? "disconnected" : "left", isFailure: isFailure, at: time, sequence: sequence)
    case .registered, .retired: return
    }
  }

  private mutating func restart(_ started: BusStarted, at time: Double, sequence: UInt64) {
    let ownAddress = Address.messageBus
    // A new segment begins with the same message.
    guard lanes[ownAddress]?.last?.generation != started.generation else { return }
    if let index = lanes[ownAddress]?.indices.last, lanes[ownAddress]?[index].end == nil {
      lanes[ownAddress]?[index].finish("ended", isFailure: true, at: previous, sequence: sequence)
    }
    begin(ownAddress, generation: started.generation, pid: started.pid, at: time, sequence: sequence)
  }
}

extension ProcessHistory.Run {
  fileprivate mutating func finish(_ ending: String, isFailure: Bool, at time: Double, sequence: UInt64) {
    end = time
    endSequence = sequence
    self.ending = ending
    self.isFailure = isFailure
    if let last = spans.indices.last { spans[last].to = time }
  }
}

extension Ending {
  /// `SIGKILL`, `exit code 1`, `evicted: memory …`.
  package var short: String {
    if case .signalled(let signal) = self { return Ending.name(ofSignal: signal) }
    return description
  }

  /// Whether the process did not end by itself without an error.
  package var isFailure: Bool { self != .exited(code: 0) }
}

/// The delivery of pushes and the tokens, from the journal, for a console without a push server.
package struct PushHistory: Sendable {
  /// One push.
  package struct Push: Sendable {
    package let id: UUID
    package let type: String?
    package let subject: PushSubject?
    package var steps: [PushStep]
  }

  private static let limit = 1000

  private var pushes: [UUID: Push] = [:]
  private var order: [UUID] = []
  private var tokensByText: [String: DeviceToken] = [:]

  init() {}

  /// The newest pushes, newest first.
  package func newest(_ limit: Int) -> [Push] { order.suffix(limit).reversed().compactMap { pushes[$0] } }

  /// The tokens, newest state first.
  package var tokens: [DeviceToken] { tokensByText.values.sorted { $0.since > $1.since } }

  mutating func handle(_ envelope: Envelope) {
    if let logged = envelope.reading(PushLogged.self) {
      if pushes[logged.uniqueID] == nil {
        pushes[logged.uniqueID] = Push(id: logged.uniqueID, type: logged.type, subject: logged.subject, steps: [])
        order.append(logged.uniqueID)
        if order.count > Self.limit { pushes[order.removeFirst()] = nil }
      }
      pushes[logged.uniqueID]?.steps.append(logged.step)
    } else if let changed = envelope.reading(TokenChanged.self) {
      tokensByText[changed.token.token] = changed.token
      if tokensByText.count > Self.limit, let oldest = tokens.last { tokensByText[oldest.token] = nil }
    }
  }
}

/// What the journal knows about the screen: the placements, and the last timeline of each. It has no pictures.
package struct ScreenHistory: Sendable {
  /// The placed widgets and controls, by number.
  package private(set) var placements: [Int: Placement] = [:]
  /// The last stored timeline of each placement.
  package private(set) var timelines: [Int: TimelineStored] = [:]
  /// The last shown entry of each placement.
  package private(set) var shown: [Int: EntryShown] = [:]
  /// Why the last reload of a placement failed; nil after a success.
  package private(set) var failures: [Int: String] = [:]
  /// The state of the device; nil when the journal does not show it.
  package private(set) var state: DeviceScreen?

  init() {}

  mutating func handle(_ envelope: Envelope) {
    switch envelope.header.kind {
    case PlacementChanged.kind:
      guard let changed = envelope.reading(PlacementChanged.self) else { return }
      let number = changed.placement.id
      placements[number] = changed.change == .removed ? nil : changed.placement
      if changed.change == .removed { (timelines[number], shown[number], failures[number]) = (nil, nil, nil) }
    case TimelineStored.kind:
      guard let storedTimeline = envelope.reading(TimelineStored.self) else { return }
      timelines[storedTimeline.placement] = storedTimeline
      failures[storedTimeline.placement] = nil
    case EntryShown.kind:
      guard let entry = envelope.reading(EntryShown.self) else { return }
      shown[entry.placement] = entry
    case ReloadFailed.kind:
      guard let failed = envelope.reading(ReloadFailed.self), let placement = failed.placement else { return }
      failures[placement] = failed.reason
    case ScreenChanged.kind: state = envelope.reading(ScreenChanged.self)?.state ?? state
    default: return
    }
  }
}
