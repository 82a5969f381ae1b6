import Archive
import Conversations
import Foundation

/// What must be seen for each victim, and what never may be.
enum StoryTable {
  /// The steps of a victim, in the order in which they are told.
  ///
  /// - Parameter sharesAgent: the extension's agent serves the app too.
  static func steps(killing victim: Victim, fileBytes: Int64?, sharesAgent: Bool = true) -> [StoryStep] {
    beginning + death(of: victim) + download(victim, fileBytes) + relaunch(victim) + events(victim)
      + app(relaunched: victim == .app || (victim == .agent && sharesAgent))
  }

  private static let beginning: [StoryStep] = [
    StoryStep("reload", "the reload was asked for, and the extension asked for its timeline") { envelope, facts in
      guard let request = envelope.reading(RequestTimeline.self),
        envelope.header.destination == facts.cast.widgetExtension
      else { return nil }
      return "\(request.widgetKind) \(request.environment.family.rawValue)"
    },
    StoryStep("accepted", "the extension's resume() returned: its task is on the host's disk", after: ["reload"]) {
      envelope, facts in
      guard envelope.header.kind == CreateTransfer.kind.answered(.ok), let request = facts.request,
        envelope.header.cause == request
      else { return nil }
      return "session \(facts.session ?? "?")"
    },
    StoryStep("started", "the host began the download", after: ["reload"]) { envelope, facts in
      guard let step = progress(envelope, facts.cast.widgetExtension, [.started]), step.session == facts.session else {
        return nil
      }
      return "\(step.session) task \(step.taskIdentifier)"
    },
    StoryStep("app-started", "the app's own download began beside it") { envelope, facts in
      progress(envelope, facts.cast.app, [.started]).map { "\($0.session) task \($0.taskIdentifier)" }
    },
  ]

  private static func death(of victim: Victim) -> [StoryStep] {
    let before = ["accepted", "started", "app-started"]
    switch victim {
    case .none: return []
    case .widgetExtension, .app:
      return [
        StoryStep("death", "the \(victim.rawValue)'s process died of SIGKILL, says its agent", after: before) {
          envelope, facts in
          guard let exited = envelope.reading(ProcessExited.self), let killed = facts.killed,
            exited.address == killed.address, exited.generation == killed.generation,
            exited.ending == .signalled(signal: 9)
          else { return nil }
          return "generation \(exited.generation), pid \(exited.pid), \(exited.ending)"
        }
      ]
    case .host, .agent:
      return [
        StoryStep("death", "the \(victim.rawValue) died: the bus lost its connection", after: before) {
          envelope, facts in
          registration(envelope, .disconnected, facts.killed?.address) { $0 == facts.killed?.generation }
        },
        StoryStep("back", "a new \(victim.rawValue) came to the bus", after: ["death"]) { envelope, facts in
          registration(envelope, .connected, facts.killed?.address) { $0 > facts.killed?.generation ?? .max }
        },
      ]
    case .bus:
      return [
        StoryStep("death", "the bus died, and a new one read back from the journal whom it knew", after: before) {
          envelope, facts in
          guard let started = envelope.reading(BusStarted.self), started.generation > facts.killed?.generation ?? .max
          else { return nil }
          return "generation \(started.generation), pid \(started.pid), \(started.registrations.count) addresses"
        },
        StoryStep("back", "the host came back to the new bus", after: ["death"]) { envelope, facts in
          registration(envelope, .connected, facts.cast.host) { _ in true }
        },
      ]
    }
  }

  private static func download(_ victim: Victim, _ fileBytes: Int64?) -> [StoryStep] {
    let before = victim == .none ? ["accepted", "started"] : ["death"]
    let resumed = StoryStep("resumed", "the new host resumed the download with Range", after: ["back"]) {
      envelope, facts in
      guard let step = progress(envelope, facts.cast.widgetExtension, [.resumed]), step.bytes > 0 else { return nil }
      return "from byte \(step.bytes)"
    }
    let finished = StoryStep(
      "finished", "the download ended", after: before + (victim == .host ? ["resumed"] : [])
    ) { envelope, facts in
      guard let step = progress(envelope, facts.cast.widgetExtension, [.finished]), step.session == facts.session,
        step.bytes > 0, fileBytes == nil || step.bytes == fileBytes
      else { return nil }
      return "\(step.bytes) bytes, sha256 \((step.sha256 ?? "unknown").prefix(16))…"
    }
    return (victim == .host ? [resumed] : []) + [finished]
  }

  /// Only who died with the kill is launched again; everybody else is woken where it is.
  private static func relaunch(_ victim: Victim) -> [StoryStep] {
    guard victim == .widgetExtension || victim == .agent else { return [] }
    return [
      StoryStep("born", "a new generation of the extension was launched", after: ["finished"]) { envelope, facts in
        guard let started = envelope.reading(ProcessStarted.self), started.address == facts.cast.widgetExtension,
          facts.isNew(started.generation, of: started.address), pidIsNew(started.pid, facts)
        else { return nil }
        return "generation \(started.generation), pid \(started.pid)"
      },
      // Said by two processes: a quick child is ready before its agent has recorded its birth.
      StoryStep("ready", "the new process itself said that it is ready", after: ["finished"]) { envelope, facts in
        guard let ready = envelope.reading(ProcessReady.self),
          facts.isNewLife(envelope.header, of: facts.cast.widgetExtension)
        else { return nil }
        return "pid \(ready.pid), \(ready.executable.split(separator: "/").last ?? "")"
      },
    ]
  }

  private static func events(_ victim: Victim) -> [StoryStep] {
    let relaunched = victim == .widgetExtension || victim == .agent
    let place = relaunched ? "in the new process" : "in the process that owns the session"
    return [
      StoryStep(
        "handler", "onBackgroundURLSessionEvents was called \(place)",
        after: relaunched ? ["born", "ready"] : ["finished"]
      ) { envelope, facts in
        guard let called = envelope.reading(HandlerCalled.self), called.session == facts.session,
          facts.isNewLife(envelope.header, of: facts.cast.widgetExtension)
        else { return nil }
        return "generation \(envelope.header.sourceGeneration), pid \(called.pid)"
      },
      StoryStep("file", "didFinishDownloadingTo got the whole file", after: ["handler"]) { envelope, facts in
        guard let call = delegate(envelope, facts, "didFinishDownloadingTo"), call.bytes == facts.fileBytes else {
          return nil
        }
        return "\(call.bytes ?? 0) bytes"
      },
      StoryStep("complete", "didCompleteWithError was called without an error", after: ["file"]) { envelope, facts in
        guard let call = delegate(envelope, facts, "didCompleteWithError"), call.failureCode == nil else { return nil }
        return "task \(call.taskIdentifier ?? 0)"
      },
      StoryStep("asked", "the extension asked for a reload of its timeline", after: ["complete"]) { envelope, facts in
        guard let reload = envelope.reading(ReloadTimelines.self),
          facts.isNewLife(envelope.header, of: facts.cast.widgetExtension)
        else { return nil }
        return reload.widgetKind ?? "all kinds"
      },
      StoryStep("finish", "urlSessionDidFinishEvents was called", after: ["complete"]) { envelope, facts in
        delegate(envelope, facts, "urlSessionDidFinishEvents")?.session
      },
      StoryStep("timeline", "the new timeline was stored", after: ["asked"]) { envelope, facts in
        guard let stored = envelope.reading(TimelineStored.self),
          stored.bundle == facts.cast.widgetExtension.bundleIdentifier
        else { return nil }
        return "\(stored.entries) entries: \(stored.text.joined(separator: " | "))"
      },
      StoryStep("completion", "the extension called the completion", after: ["complete"]) { envelope, facts in
        guard let completion = envelope.reading(CompletionCalled.self), completion.session == facts.session,
          completion.outstanding == 0, facts.isNewLife(envelope.header, of: facts.cast.widgetExtension)
        else { return nil }
        return completion.session
      },
      StoryStep("acknowledged", "the events were acknowledged", after: ["completion", "finish"]) { envelope, facts in
        guard envelope.header.kind == SessionEvents.kind.answered(.acknowledged),
          facts.isNewLife(envelope.header, of: facts.cast.widgetExtension)
        else { return nil }
        return "by generation \(envelope.header.sourceGeneration)"
      },
      StoryStep("forgotten", "the host forgot them, and only now", after: ["acknowledged"]) { envelope, facts in
        guard let acknowledged = envelope.reading(SessionAcknowledged.self),
          acknowledged.owner == facts.cast.widgetExtension, acknowledged.session == facts.session
        else { return nil }
        return acknowledged.session
      },
    ]
  }

  private static func app(relaunched: Bool) -> [StoryStep] {
    let born = StoryStep("app-born", "a new generation of the app was launched for its own session", after: ["death"]) {
      envelope, facts in
      guard let started = envelope.reading(ProcessStarted.self), started.address == facts.cast.app,
        facts.isNew(started.generation, of: started.address)
      else { return nil }
      return "generation \(started.generation), pid \(started.pid)"
    }
    let file = StoryStep("app-file", "the app got its own file", after: relaunched ? ["app-born"] : ["app-started"]) {
      envelope, facts in
      guard let call = envelope.reading(DelegateCalled.self), call.method == "didFinishDownloadingTo",
        facts.isNewLife(envelope.header, of: facts.cast.app), facts.sessionsOfApp.contains(call.session)
      else { return nil }
      return "\(call.bytes ?? 0) bytes, session \(call.session)"
    }
    let acknowledged = StoryStep(
      "app-acknowledged", "the app acknowledged its own session's events", after: ["app-file"]
    ) {
      envelope, facts in
      guard let acknowledged = envelope.reading(SessionAcknowledged.self), acknowledged.owner == facts.cast.app else {
        return nil
      }
      return acknowledged.session
    }
    return (relaunched ? [born] : []) + [file, acknowledged]
  }

  /// What may never be seen, whoever is killed.
  static let forbidden: [ForbiddenSight] = [
    ForbiddenSight(title: "an envelope of the extension's session touched the app") { envelope, facts, _ in
      let header = envelope.header
      guard header.source == facts.cast.app || header.destination == facts.cast.app else { return nil }
      guard let correlation = facts.correlation, header.correlation == correlation else { return nil }
      return "\(header.kind) from \(header.source) to \(header.destination)"
    },
    ForbiddenSight(title: "the app was handed events of a session that is not its own") { envelope, facts, _ in
      guard let events = envelope.reading(SessionEvents.self), envelope.header.destination == facts.cast.app,
        !facts.sessionsOfApp.contains(events.session)
          || envelope.header.correlation != Story.session(facts.cast.app, events.session)
      else { return nil }
      return events.session
    },
    ForbiddenSight(title: "events were delivered again after they were acknowledged") { envelope, _, forgotten in
      guard let events = envelope.reading(SessionEvents.self), forgotten.contains(envelope.header.id) else {
        return nil
      }
      return events.session
    },
  ]

  private static func progress(
    _ envelope: Envelope, _ owner: Address, _ steps: Set<TransferProgress.Step>
  ) -> TransferProgress? {
    guard let progress = envelope.reading(TransferProgress.self), progress.owner == owner, steps.contains(progress.step)
    else { return nil }
    return progress
  }

  private static func registration(
    _ envelope: Envelope, _ change: RegistrationChanged.Change, _ address: Address?, _ generation: (UInt32) -> Bool
  ) -> String? {
    guard let changed = envelope.reading(RegistrationChanged.self), changed.change == change,
      changed.registration.address == address, generation(changed.registration.generation)
    else { return nil }
    return
      "generation \(changed.registration.generation), pid \(changed.registration.pid.map(String.init) ?? "unknown")"
  }

  private static func delegate(_ envelope: Envelope, _ facts: StoryFacts, _ method: String) -> DelegateCalled? {
    guard let call = envelope.reading(DelegateCalled.self), call.method == method, call.session == facts.session,
      facts.isNewLife(envelope.header, of: facts.cast.widgetExtension)
    else { return nil }
    return call
  }

  private static func pidIsNew(_ pid: Int32, _ facts: StoryFacts) -> Bool {
    guard let killed = facts.killed else { return true }
    return facts.pids[killed]?.pid != pid
  }
}
