// SPDX-License-Identifier: Apache-2.0

import APNs
import Archive
import NIOCore

extension HTTP2Connection {
  /// Closes the connection if a deadline has passed. Returns the next deadline.
  mutating func look(at now: NIODeadline) -> NIODeadline? {
    self.now = now
    while phase != .over, let (deadline, fault) = next(), deadline <= now { end(fault) }
    return phase == .over ? nil : next()?.deadline
  }

  /// A lower bound of the next deadline. Fast: it does not inspect each stream, so it may be too early.
  var mayEndAt: NIODeadline? {
    guard phase == .open, unfinished == 0, partialSince == nil, waiting.isEmpty, blockedSince == nil,
      announcedSince == nil
    else {
      return now + min(limits.handshake, limits.acknowledgement, limits.request, limits.unwritable, limits.idle)
    }
    return lastUse + limits.idle
  }

  private func next() -> (deadline: NIODeadline, fault: HTTP2Error)? {
    var soonest: (deadline: NIODeadline, fault: HTTP2Error)?
    func consider(_ since: NIODeadline?, _ seconds: Double, _ fault: @autoclosure () -> HTTP2Error) {
      guard let since, since + seconds < soonest?.deadline ?? .distantFuture else { return }
      soonest = (since + seconds, fault())
    }
    if phase == .handshake || phase == .settings {
      consider(
        began, limits.handshake, HTTP2Error(.settingsTimeout, "no HTTP/2 connection within \(text(limits.handshake))"))
      return soonest
    }
    consider(
      announcedSince, limits.acknowledgement,
      HTTP2Error(.settingsTimeout, "our SETTINGS were not acknowledged within \(text(limits.acknowledgement))"))
    consider(
      partialSince, limits.request,
      HTTP2Error(.enhanceYourCalm, "incomplete frame or header block after \(text(limits.request))"))
    if unfinished > 0,
      let oldest = streams.filter({ $0.value.input == .open }).min(by: { $0.value.began < $1.value.began })
    {
      consider(
        oldest.value.began, limits.request,
        HTTP2Error(.enhanceYourCalm, "incomplete request on stream \(oldest.key) after \(text(limits.request))"))
    }
    consider(
      waiting.lazy.map(\.since).min(), limits.unwritable,
      HTTP2Error(.enhanceYourCalm, "no flow-control credit for \(text(limits.unwritable))"))
    consider(
      blockedSince, limits.unwritable,
      HTTP2Error(.enhanceYourCalm, "the client did not read for \(text(limits.unwritable))"))
    consider(
      leavingSince, limits.request, HTTP2Error(.none, "open requests did not end within \(text(limits.request))"))
    if streams.isEmpty { consider(lastUse, limits.idle, HTTP2Error(farewell: APNsReason.idleTimeout.rawValue)) }
    return soonest
  }

  private func text(_ seconds: Double) -> String { "\(seconds.formatted) s" }
}

extension Double {
  /// Formats a whole number without a fraction.
  fileprivate var formatted: String { self == rounded() && abs(self) < 1e15 ? "\(Int(saturating: self))" : "\(self)" }
}
