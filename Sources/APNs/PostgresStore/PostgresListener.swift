// SPDX-License-Identifier: Apache-2.0

import Archive
import CPlatform
import Foundation
import Messages
import PushDelivery
import Synchronization
import Timekeeping

/// The connection for notifications between replicas. It also reports each second that this replica runs. It has an
/// its own executor, because it waits there.
actor PostgresListener {
  /// The shortest time from one notification of an owner to the next, seconds. PostgreSQL commits notifications one by
  /// one, so each costs all replicas something.
  private static let gathering = 0.005
  /// Seconds from one poll to the next.
  private static let interval = 1.0

  private struct Outgoing {
    /// The contents by owner. The empty text represents new notifications.
    var texts: [String: Set<String>] = [:]
    var isEnding = false
  }

  private let url: String
  private let replica: String
  private let signals: AsyncStream<SharedPushSignal>.Continuation
  private var connection: PostgresConnection?
  /// Whether `replicas` exists.
  private var hasTables = false
  /// The number of replicas that was reported last.
  private var replicas = 1
  private nonisolated let outgoing = Mutex(Outgoing())
  /// Wakes the executor.
  private nonisolated let bell: Int32
  private nonisolated let executor = ServiceExecutor("push-listener")

  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  init(_ url: String, replica: String, signals: AsyncStream<SharedPushSignal>.Continuation) {
    self.url = url
    self.replica = replica
    self.signals = signals
    bell = eventfd(0, Int32(EFD_CLOEXEC) | Int32(EFD_NONBLOCK))
  }

  deinit { close(bell) }

  /// Sends notifications to owners, soon. Any thread. Those that cannot be sent are lost: the owner polls.
  nonisolated func announce(_ texts: [(owner: String, text: String)]) {
    guard !texts.isEmpty else { return }
    outgoing.withLock { outgoing in
      for (owner, text) in texts { outgoing.texts[owner, default: []].insert(text) }
    }
    ring()
  }

  private nonisolated func ring() { eventfd_write(bell, 1) }

  /// Runs until the task is cancelled.
  func run() async {
    await withTaskCancellationHandler {
      loop()
    } onCancel: {
      outgoing.withLock { $0.isEnding = true }
      ring()
    }
    signals.finish()
    connection = nil
  }

  private func loop() {
    var (polled, sentAt) = (-Double.infinity, -Double.infinity)
    while !outgoing.withLock({ $0.isEnding }) {
      let now = Self.now
      do {
        if now - polled >= Self.interval {
          polled = now
          signals.yield(.poll)
          try reportPresence()
        }
        if now - sentAt >= Self.gathering, try send() { sentAt = now }
        for text in try connection?.notifications() ?? [] { receive(text) }
      } catch {
        // The service reports that the database is away. The next poll connects again.
        connection = nil
      }
      let isFull = outgoing.withLock { !$0.texts.isEmpty } && connection != nil
      wait(min(polled + Self.interval, isFull ? sentAt + Self.gathering : .infinity) - Self.now)
    }
  }

  /// Seconds of a clock that no process sets.
  private static var now: Double {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }

  private func wait(_ seconds: Double) {
    var descriptors = [pollfd(fd: bell, events: Int16(POLLIN), revents: 0)]
    if let connection { descriptors.append(pollfd(fd: connection.descriptor, events: Int16(POLLIN), revents: 0)) }
    poll(&descriptors, nfds_t(descriptors.count), Int32(saturating: max(0, (seconds * 1_000).rounded(.up))))
    var rings: eventfd_t = 0
    eventfd_read(bell, &rings)
  }

  /// Also connects. The report need not survive a power failure, so it waits for no disk.
  private func reportPresence() throws {
    if connection == nil {
      let connection = try PostgresConnection(url, name: replica)
      try connection.execute("SET synchronous_commit = off; SET statement_timeout = '10s'; LISTEN \"\(replica)\"")
      self.connection = connection
      signals.yield(.arrived)
    }
    guard let connection else { return }
    if !hasTables {
      // The service creates them with its first transaction, which may be later.
      hasTables = try connection.execute(.init("SELECT to_regclass('replicas') IS NOT NULL")).bool(0, 0)
    }
    guard hasTables else { return }
    try connection.execute(PostgresPushStore.presence(replica))
    let present = Int(try connection.execute(.init("SELECT COUNT(*) FROM replicas")).int(0, 0))
    guard present != replicas else { return }
    replicas = present
    signals.yield(.replicas(present))
  }

  /// - Returns: whether something was sent.
  private func send() throws -> Bool {
    guard let connection else {
      outgoing.withLock { $0.texts = [:] }
      return false
    }
    let texts = outgoing.withLock { outgoing in
      defer { outgoing.texts = [:] }
      return outgoing.texts
    }
    guard !texts.isEmpty else { return false }
    let commands = texts.flatMap { owner, texts in
      texts.map { PostgresConnection.Command("SELECT pg_notify($1::text, $2::text)", [.text(owner), .text($0)]) }
    }
    try connection.execute(commands)
    return true
  }

  private func receive(_ text: String) {
    guard !text.isEmpty else {
      signals.yield(.arrived)
      return
    }
    let parts = text.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
    guard parts.count == 4, let use = PushTokenUse(rawValue: parts[3]) else { return }
    signals.yield(.tokenEnded(parts[0], of: PushSubject(device: parts[1], bundle: parts[2], use: use)))
  }
}
