// SPDX-License-Identifier: Apache-2.0

import Archive
import Foundation
import Messages

/// The expected steps for each victim, and the violations.
package enum ScenarioTable {
  /// Returns the steps for a victim, in the order of the transcript.
  ///
  /// - Parameter sharesAgent: whether the extension's agent also spawns the app.
  package static func steps(killing victim: Victim, fileBytes: Int64?, sharesAgent: Bool = true) -> [ScenarioStep] {
    beginning + exit(of: victim) + download(victim, fileBytes) + relaunch(victim) + events(victim)
      + app(relaunched: victim == .app || (victim == .agent && sharesAgent))
  }

  private static let beginning: [ScenarioStep] = [
    ScenarioStep("reload", "the reload was requested, and the extension was asked for its timeline") {
      envelope, facts in
      guard let request = envelope.reading(RequestTimeline.self),
        envelope.header.destination == facts.cast.widgetExtension
      else { return nil }
      return "\(request.widgetKind) \(request.environment.family.rawValue)"
    },
    ScenarioStep("accepted", "the extension's resume() returned: the host has persisted the task", after: ["reload"]) {
      envelope, facts in
      guard envelope.header.kind == CreateTransfer.kind.answered(.ok), let request = facts.request,
        envelope.header.cause == request
      else { return nil }
      return "session \(facts.session ?? "?")"
    },
    ScenarioStep("started", "the host started the download", after: ["reload"]) { envelope, facts in
      guard let step = progress(envelope, owner: facts.cast.widgetExtension, steps: [.started]),
        step.session == facts.session
      else {
        return nil
      }
      return "\(step.session) task \(step.taskIdentifier)"
    },
    ScenarioStep("app-started", "the app's own download started in parallel") { envelope, facts in
      progress(envelope, owner: facts.cast.app, steps: [.started]).map { "\($0.session) task \($0.taskIdentifier)" }
    },
  ]

  private static func exit(of victim: Victim) -> [ScenarioStep] {
    let before = ["accepted", "started", "app-started"]
    switch victim {
    case .none: return []
    case .widgetExtension, .app:
      return [
        ScenarioStep("exit", "the \(victim.rawValue) was killed by SIGKILL, as reported by its agent", after: before) {
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
        ScenarioStep("exit", "the \(victim.rawValue) exited: its connection to the bus was lost", after: before) {
          envelope, facts in
          registration(envelope, change: .disconnected, address: facts.killed?.address) {
            $0 == facts.killed?.generation
          }
        },
        ScenarioStep("back", "a new \(victim.rawValue) connected to the bus", after: ["exit"]) { envelope, facts in
          registration(envelope, change: .connected, address: facts.killed?.address) {
            $0 > facts.killed?.generation ?? .max
          }
        },
      ]
    case .bus:
      return [
        ScenarioStep(
          "exit", "the bus exited, and a new one restored its registrations from the journal", after: before
        ) {
          envelope, facts in
          guard let started = envelope.reading(BusStarted.self), started.generation > facts.killed?.generation ?? .max
          else { return nil }
          return "generation \(started.generation), pid \(started.pid), \(started.registrations.count) addresses"
        },
        ScenarioStep("back", "the host connected to the new bus", after: ["exit"]) { envelope, facts in
          registration(envelope, change: .connected, address: facts.cast.host) { _ in true }
        },
      ]
    }
  }

  private static func download(_ victim: Victim, _ fileBytes: Int64?) -> [ScenarioStep] {
    let before = victim == .none ? ["accepted", "started"] : ["exit"]
    let resumed = ScenarioStep("resumed", "the new host resumed the download with Range", after: ["back"]) {
      envelope, facts in
      guard let step = progress(envelope, owner: facts.cast.widgetExtension, steps: [.resumed]), step.bytes > 0 else {
        return nil
      }
      return "from byte \(step.bytes)"
    }
    let finished = ScenarioStep(
      "finished", "the download finished", after: before + (victim == .host ? ["resumed"] : [])
    ) { envelope, facts in
      guard let step = progress(envelope, owner: facts.cast.widgetExtension, steps: [.finished]),
        step.session == facts.session,
        step.bytes > 0, fileBytes == nil || step.bytes == fileBytes
      else { return nil }
      return "\(step.bytes) bytes, sha256 \((step.sha256 ?? "unknown").prefix(16))…"
    }
    return (victim == .host ? [resumed] : []) + [finished]
  }

  /// Only processes that exited in the kill are launched again. Running processes are woken.
  private static func relaunch(_ victim: Victim) -> [ScenarioStep] {
    guard victim == .widgetExtension || victim == .agent else { return [] }
    return [
      ScenarioStep("launched", "a new generation of the extension was launched", after: ["finished"]) {
        envelope, facts in
        guard let started = envelope.reading(ProcessStarted.self), started.address == facts.cast.widgetExtension,
          facts.isNew(started.generation, of: started.address), pidIsNew(started.pid, facts)
        else { return nil }
        return "generation \(started.generation), pid \(started.pid)"
      },
      // Two processes report this, in any order: a fast child is ready before its agent has recorded its start.
      ScenarioStep("ready", "the new process reported ready", after: ["finished"]) { envelope, facts in
        guard let ready = envelope.reading(ProcessReady.self),
          facts.isNewInstance(envelope.header, of: facts.cast.widgetExtension)
        else { return nil }
        return "pid \(ready.pid), \(ready.executable.split(separator: "/").last ?? "")"
      },
    ]
  }

  private static func events(_ victim: Victim) -> [ScenarioStep] {
    let relaunched = victim == .widgetExtension || victim == .agent
    let place = relaunched ? "in the new process" : "in the process that owns the session"
    return [
      ScenarioStep(
        "handler", "onBackgroundURLSessionEvents was called \(place)",
        after: relaunched ? ["launched", "ready"] : ["finished"]
      ) { envelope, facts in
        guard let called = envelope.reading(HandlerCalled.self), called.session == facts.session,
          facts.isNewInstance(envelope.header, of: facts.cast.widgetExtension)
        else { return nil }
        return "generation \(envelope.header.sourceGeneration), pid \(called.pid)"
      },
      ScenarioStep("file", "didFinishDownloadingTo received the whole file", after: ["handler"]) { envelope, facts in
        guard let call = delegate(envelope, facts: facts, method: "didFinishDownloadingTo"),
          call.bytes == facts.fileBytes
        else {
          return nil
        }
        return "\(call.bytes ?? 0) bytes"
      },
      ScenarioStep("complete", "didCompleteWithError was called without an error", after: ["file"]) { envelope, facts in
        guard let call = delegate(envelope, facts: facts, method: "didCompleteWithError"), call.failureCode == nil
        else { return nil }
        return "task \(call.taskIdentifier ?? 0)"
      },
      ScenarioStep("asked", "the extension requested a reload of its timeline", after: ["complete"]) {
        envelope, facts in
        guard let reload = envelope.reading(ReloadTimelines.self),
          facts.isNewInstance(envelope.header, of: facts.cast.widgetExtension)
        else { return nil }
        return reload.widgetKind ?? "all kinds"
      },
      ScenarioStep("finish", "urlSessionDidFinishEvents was called", after: ["complete"]) { envelope, facts in
        delegate(envelope, facts: facts, method: "urlSessionDidFinishEvents")?.session
      },
      ScenarioStep("timeline", "the new timeline was stored", after: ["asked"]) { envelope, facts in
        guard let stored = envelope.reading(TimelineStored.self),
          stored.bundle == facts.cast.widgetExtension.bundleIdentifier
        else { return nil }
        return "\(stored.entries) entries: \(stored.text.joined(separator: " | "))"
      },
      // Source: "then call the stored completion", Making network requests in a widget extension.
      ScenarioStep("completion", "the extension called the completion handler", after: ["finish"]) {
        envelope, facts in
        guard let completion = envelope.reading(CompletionCalled.self), completion.session == facts.session,
          completion.outstanding == 0, facts.isNewInstance(envelope.header, of: facts.cast.widgetExtension)
        else { return nil }
        return completion.session
      },
      ScenarioStep("acknowledged", "the events were acknowledged", after: ["completion"]) { envelope, facts in
        guard envelope.header.kind == SessionEvents.kind.answered(.acknowledged),
          facts.isNewInstance(envelope.header, of: facts.cast.widgetExtension)
        else { return nil }
        return "by generation \(envelope.header.sourceGeneration)"
      },
      ScenarioStep("forgotten", "the host deleted them afterwards", after: ["acknowledged"]) { envelope, facts in
        guard let acknowledged = envelope.reading(SessionAcknowledged.self),
          acknowledged.owner == facts.cast.widgetExtension, acknowledged.session == facts.session
        else { return nil }
        return acknowledged.session
      },
    ]
  }

  private static func app(relaunched: Bool) -> [ScenarioStep] {
    let launched = ScenarioStep(
      "app-launched", "a new generation of the app was launched for its own session", after: ["exit"]
    ) {
      envelope, facts in
      guard let started = envelope.reading(ProcessStarted.self), started.address == facts.cast.app,
        facts.isNew(started.generation, of: started.address)
      else { return nil }
      return "generation \(started.generation), pid \(started.pid)"
    }
    let file = ScenarioStep(
      "app-file", "the app got its own file", after: relaunched ? ["app-launched"] : ["app-started"]
    ) {
      envelope, facts in
      guard let call = envelope.reading(DelegateCalled.self), call.method == "didFinishDownloadingTo",
        facts.isNewInstance(envelope.header, of: facts.cast.app), facts.sessionsOfApp.contains(call.session)
      else { return nil }
      return "\(call.bytes ?? 0) bytes, session \(call.session)"
    }
    let acknowledged = ScenarioStep(
      "app-acknowledged", "the app acknowledged its own session's events", after: ["app-file"]
    ) {
      envelope, facts in
      guard let acknowledged = envelope.reading(SessionAcknowledged.self), acknowledged.owner == facts.cast.app else {
        return nil
      }
      return acknowledged.session
    }
    return (relaunched ? [launched] : []) + [file, acknowledged]
  }

  /// Violations, whichever process is killed.
  package static let forbidden: [ForbiddenSight] = [
    ForbiddenSight(title: "an envelope of the extension's session was sent to or from the app") { envelope, facts, _ in
      let header = envelope.header
      guard header.source == facts.cast.app || header.destination == facts.cast.app else { return nil }
      guard let correlation = facts.correlation, header.correlation == correlation else { return nil }
      return "\(header.kind) from \(header.source) to \(header.destination)"
    },
    ForbiddenSight(title: "the app received events of a session that it does not own") { envelope, facts, _ in
      guard let events = envelope.reading(SessionEvents.self), envelope.header.destination == facts.cast.app,
        !facts.sessionsOfApp.contains(events.session)
          || envelope.header.correlation != MessageContext.correlation(ofSession: events.session, of: facts.cast.app)
      else { return nil }
      return events.session
    },
    ForbiddenSight(title: "events were redelivered after they were acknowledged") { envelope, _, forgotten in
      guard let events = envelope.reading(SessionEvents.self), forgotten.contains(envelope.header.id) else {
        return nil
      }
      return events.session
    },
  ]

  private static func progress(
    _ envelope: Envelope, owner: Address, steps: Set<TransferProgress.Step>
  ) -> TransferProgress? {
    guard let progress = envelope.reading(TransferProgress.self), progress.owner == owner, steps.contains(progress.step)
    else { return nil }
    return progress
  }

  private static func registration(
    _ envelope: Envelope, change: RegistrationChanged.Change, address: Address?, generation: (UInt32) -> Bool
  ) -> String? {
    guard let changed = envelope.reading(RegistrationChanged.self), changed.change == change,
      changed.registration.address == address, generation(changed.registration.generation)
    else { return nil }
    return
      "generation \(changed.registration.generation), pid \(changed.registration.pid.map(String.init) ?? "unknown")"
  }

  private static func delegate(_ envelope: Envelope, facts: ScenarioFacts, method: String) -> DelegateCalled? {
    guard let call = envelope.reading(DelegateCalled.self), call.method == method, call.session == facts.session,
      facts.isNewInstance(envelope.header, of: facts.cast.widgetExtension)
    else { return nil }
    return call
  }

  private static func pidIsNew(_ pid: Int32, _ facts: ScenarioFacts) -> Bool {
    guard let killed = facts.killed else { return true }
    return facts.pids[killed]?.pid != pid
  }
}
