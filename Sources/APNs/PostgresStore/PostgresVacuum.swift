// SPDX-License-Identifier: Apache-2.0

import PushDelivery
import Synchronization
import Timekeeping

/// Vacuums the table of what is kept. Its rows exist for milliseconds, and each page of arrivals steps over the index entries
/// of rows that are gone. PostgreSQL's autovacuum examines a table once a minute, and a crash takes its counts.
///
/// It has its own connection and executor, because a vacuum can take seconds.
actor PostgresVacuum {
  /// After so many rows that this replica has deleted or updated.
  private static let interval = 50_000

  private let url: String
  private let name: String
  private var connection: PostgresConnection?
  private nonisolated let removed = Mutex(0)
  /// The process of PostgreSQL that vacuums.
  private nonisolated let process = Mutex<Int64?>(nil)
  private nonisolated let wishes: AsyncStream<Void>
  private nonisolated let wish: AsyncStream<Void>.Continuation
  private nonisolated let executor = ServiceExecutor("push-vacuum")

  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  init(_ url: String, name: String) {
    self.url = url
    self.name = name
    (wishes, wish) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
  }

  /// Counts rows that were deleted or updated. Any thread.
  nonisolated func count(_ rows: Int) {
    let isDue = removed.withLock { removed in
      removed += rows
      guard removed >= Self.interval else { return false }
      removed = 0
      return true
    }
    if isDue { request() }
  }

  /// Requests a vacuum soon, unless the last one of any replica was in the last 10 s. Any thread.
  nonisolated func request() { wish.yield() }

  /// Runs until the task is cancelled, which also ends a vacuum.
  func run() async {
    await withTaskCancellationHandler {
      for await _ in wishes { perform() }
    } onCancel: {
      guard let process = process.withLock({ $0 }) else { return }
      try? PostgresConnection(url, name: name).execute("SELECT pg_cancel_backend(\(process))")
    }
  }

  private func perform() {
    do {
      let session = try connection ?? PostgresConnection(url, name: name)
      connection = session
      let own = try session.execute(.init("SELECT pg_backend_pid()::int8")).int(0, 0)
      process.withLock { $0 = own }
      defer { process.withLock { $0 = nil } }
      guard !Task.isCancelled else { return }
      let isRecent = try session.execute(
        .init(
          """
          SELECT COALESCE(last_vacuum > now() - interval '10 s', false) FROM pg_stat_user_tables
            WHERE relid = 'kept'::regclass
          """)
      ).bool(0, 0)
      guard !isRecent else { return }
      // Another replica may be doing it. `TRUNCATE` would lock the table, and `PARALLEL` take the CPU of the pushes.
      try session.execute("VACUUM (SKIP_LOCKED, TRUNCATE off, PARALLEL 0) kept")
    } catch {
      // The database is away, which the service reports, or the vacuum was cancelled.
      connection = nil
    }
  }
}
