import APNs
import NIOCore

extension HTTP2Connection {
  /// Ends what has lasted too long; says when to look again.
  mutating func look(at now: NIODeadline) -> NIODeadline? {
    self.now = now
    while phase != .over, let (deadline, fault) = next(), deadline <= now { end(fault) }
    return phase == .over ? nil : next()?.deadline
  }

  /// When the soonest of the deadlines is. Cheap: it may be somewhat too early, as it does not look at each stream.
  var mayEndAt: NIODeadline? {
    guard phase == .open, unfinished == 0, partialSince == nil, waiting.isEmpty, blockedSince == nil,
      announcedSince == nil
    else {
      return now + min(limits.handshake, limits.acknowledgement, limits.request, limits.unwritable, limits.idle)
    }
    return lastUse + limits.idle
  }

  private func next() -> (deadline: NIODeadline, fault: Fault)? {
    var soonest: (deadline: NIODeadline, fault: Fault)?
    func consider(_ since: NIODeadline?, _ seconds: Double, _ fault: @autoclosure () -> Fault) {
      guard let since, since + seconds < soonest?.deadline ?? .distantFuture else { return }
      soonest = (since + seconds, fault())
    }
    if phase == .handshake || phase == .settings {
      consider(
        began, limits.handshake, Fault(.settingsTimeout, "no HTTP/2 connection within \(words(limits.handshake))"))
      return soonest
    }
    consider(
      announcedSince, limits.acknowledgement,
      Fault(.settingsTimeout, "our SETTINGS were not acknowledged within \(words(limits.acknowledgement))"))
    consider(
      partialSince, limits.request,
      Fault(.enhanceYourCalm, "a frame or header block that was not whole within \(words(limits.request))"))
    if unfinished > 0,
      let oldest = streams.filter({ $0.value.input == .open }).min(by: { $0.value.began < $1.value.began })
    {
      consider(
        oldest.value.began, limits.request,
        Fault(.enhanceYourCalm, "the request on stream \(oldest.key) was not whole within \(words(limits.request))"))
    }
    consider(
      waiting.first?.since, limits.unwritable,
      Fault(.enhanceYourCalm, "no flow-control credit for \(words(limits.unwritable))"))
    consider(
      blockedSince, limits.unwritable,
      Fault(.enhanceYourCalm, "the client did not read for \(words(limits.unwritable))"))
    consider(leavingSince, limits.request, Fault(.none, "what was under way did not end in \(words(limits.request))"))
    if streams.isEmpty { consider(lastUse, limits.idle, Fault(farewell: APNsReason.idleTimeout.rawValue)) }
    return soonest
  }

  private func words(_ seconds: Double) -> String { "\(seconds.formatted) s" }
}

extension Double {
  /// Without a fraction where there is none.
  fileprivate var formatted: String { self == rounded() && abs(self) < 1e15 ? "\(Int(self))" : "\(self)" }
}
