// SPDX-License-Identifier: Apache-2.0

import CPlatform
import Cluster
import FaultPoints
import Foundation
import Glibc
import Messages
import Synchronization

/// The parameters of a spawn.
struct SpawnOrder: Sendable {
  let instance: ChildInstance
  /// An absolute path.
  let executable: String
  /// The complete environment of the child.
  let environment: [String: String]
  /// The working directory.
  let directory: String
  /// The complete standard input of the child.
  let input: [UInt8]
  /// The memory limit; `nil` without a limit.
  let memory: MemoryLimit?
}

/// An event of a child. Events are in order.
enum ChildEvent: Sendable {
  case spawned(ChildInstance, pid: Int32)
  /// The kernel refused to start it; `errno`.
  case notSpawned(ChildInstance, code: Int32)
  case wrote(ChildInstance, OutputStream, [UInt8])
  /// It exceeds its memory limit, bytes; once per process instance.
  case exceededMemory(ChildInstance, memory: Int)
  /// It was reaped, and its process group was killed.
  case ended(ChildInstance, Ending)
}

/// What an agent handles in the order in which it happened.
enum AgentEvent: Sendable {
  case child(ChildEvent)
  case presence(Presence)
}

/// The single thread that spawns, watches, signals and reaps the children of an agent.
///
/// It runs as long as the agent: a parent-death signal (`PR_SET_PDEATHSIG`) is sent when the *thread* that spawned the
/// child ends. swift-subprocess is not used, since it cannot guarantee which thread spawns: from a thread of the
/// concurrency pool the child was killed after 5 s. Each child is watched through a pidfd, and signalled through it by
/// this thread before it is reaped, so that a signal never reaches another process that got the same pid.
final class ChildThread: Sendable {
  private enum Work: Sendable {
    case spawn(SpawnOrder)
    case signal(ChildInstance, Int32, @Sendable (_ code: Int32) -> Void)
    case taken(ChildInstance, Int)
    case stop
  }

  private struct Inbox {
    var work: [Work] = []
    var isStopped = false
  }

  private let inbox = Mutex(Inbox())
  private let wakeReader: Int32
  private let wakeWriter: Int32
  private let events: AsyncStream<AgentEvent>.Continuation

  /// Starts the thread. Without a thread or a pipe the process traps with the reason.
  ///
  /// - Parameter events: gets all events; finished after `stop()`.
  init(events: AsyncStream<AgentEvent>.Continuation) {
    var ends: [Int32] = [-1, -1]
    precondition(process_pipe(&ends) == 0, "pipe for the thread of the children: \(String(cString: strerror(errno)))")
    wakeReader = ends[0]
    wakeWriter = ends[1]
    for descriptor in ends { makeNonblocking(descriptor) }
    self.events = events
    // The parent may have ignored SIGCHLD, and then the kernel would keep no exit status.
    Glibc.signal(SIGCHLD, SIG_DFL)
    let thread = Thread { self.run() }
    thread.name = "children"
    thread.start()
  }

  deinit {
    close(wakeReader)
    close(wakeWriter)
  }

  // MARK: Any thread

  /// Spawns a process; an event reports the result.
  func spawn(_ order: SpawnOrder) { post(.spawn(order)) }

  /// Sends a signal to a process instance.
  ///
  /// - Returns: 0, or an `errno`: `ESRCH` when it was reaped already.
  func signal(_ instance: ChildInstance, _ signal: Int32) async -> Int32 {
    await withCheckedContinuation { continuation in
      post(.signal(instance, signal) { continuation.resume(returning: $0) })
    }
  }

  /// The bus has taken the output of a process instance, so more may be read. Output that is not taken stays in the
  /// child's pipe.
  func taken(_ instance: ChildInstance, _ bytes: [UInt8]) { post(.taken(instance, WatchedChild.weight(bytes))) }

  /// Ends the thread. Running children are no longer watched, and get their parent-death signal if they set one.
  func stop() { post(.stop) }

  private func post(_ work: Work) {
    let isTaken = inbox.withLock { box in
      guard !box.isStopped else { return false }
      box.work.append(work)
      return true
    }
    guard isTaken else { return refuse(work) }
    // A full pipe wakes the poll as well.
    while write(wakeWriter, [1], 1) == -1, errno == EINTR {}
  }

  private func refuse(_ work: Work) {
    switch work {
    case .spawn(let order): events.yield(.child(.notSpawned(order.instance, code: ECANCELED)))
    case .signal(_, _, let answer): answer(ESRCH)
    case .taken, .stop: break
    }
  }

  // MARK: The thread

  private func run() {
    var children: [WatchedChild] = []
    while true {
      var descriptors = [pollfd(fd: wakeReader, events: Int16(POLLIN), revents: 0)]
      for child in children { descriptors += child.polled }
      let patience = children.compactMap(\.millisecondsToLook).min() ?? -1
      guard poll(&descriptors, nfds_t(descriptors.count), patience) >= 0 || errno == EINTR else {
        preconditionFailure("poll in the thread of the children: \(String(cString: strerror(errno)))")
      }
      let ready = Set(descriptors.filter { $0.revents != 0 }.map(\.fd))
      if ready.contains(wakeReader) { _ = readAvailable(wakeReader, limit: 4096) }
      children = children.filter { !serve($0, ready) }
      for child in children {
        if let memory = child.excessMemory() { events.yield(.child(.exceededMemory(child.instance, memory: memory))) }
      }
      let work = inbox.withLock { box in
        defer { box.work = [] }
        return box.work
      }
      for (index, item) in work.enumerated() {
        switch item {
        case .spawn(let order): if let child = spawnNow(order) { children.append(child) }
        case .signal(let instance, let signal, let answer):
          answer(children.first { $0.instance == instance }?.signal(signal) ?? ESRCH)
        case .taken(let instance, let weight): children.first { $0.instance == instance }?.wasTaken(weight)
        case .stop:
          finish(children, work[(index + 1)...])
          return
        }
      }
    }
  }

  private func finish(_ children: [WatchedChild], _ rest: ArraySlice<Work>) {
    let late = inbox.withLock { box in
      box.isStopped = true
      defer { box.work = [] }
      return box.work
    }
    for item in Array(rest) + late { refuse(item) }
    for child in children { child.close() }
    events.finish()
  }

  private func spawnNow(_ order: SpawnOrder) -> WatchedChild? {
    do throws(SpawnFailure) {
      if let code = FaultPoint.agentBeforeSpawn.failure() { throw SpawnFailure(code: code) }
      let child = try WatchedChild.spawn(order)
      FaultPoint.agentAfterSpawn.reached()
      events.yield(.child(.spawned(order.instance, pid: child.pid)))
      return child
    } catch {
      events.yield(.child(.notSpawned(order.instance, code: error.code)))
      return nil
    }
  }

  /// Reads a child's output, and reaps the child when it has ended.
  ///
  /// - Returns: whether it has ended.
  private func serve(_ child: WatchedChild, _ ready: Set<Int32>) -> Bool {
    let hasEnded = ready.contains(child.pidfd)
    for (stream, descriptor) in child.outputs where hasEnded || ready.contains(descriptor) {
      // One turn reads at most 16 KiB from a running child, so that a noisy child does not delay the others.
      let chunk = readAvailable(descriptor, limit: hasEnded ? 1 << 20 : 1 << 14)
      if !chunk.bytes.isEmpty {
        child.wasRead(chunk.bytes)
        events.yield(.child(.wrote(child.instance, stream, chunk.bytes)))
      }
      if chunk.isAtEnd { child.closeOutput(stream) }
    }
    guard hasEnded, let ending = child.reap() else { return false }
    child.close()
    FaultPoint.agentBeforeExitReported.reached()
    events.yield(.child(.ended(child.instance, ending)))
    return true
  }
}

/// Reads the available bytes, up to a limit.
private func readAvailable(_ descriptor: Int32, limit: Int) -> (bytes: [UInt8], isAtEnd: Bool) {
  var bytes: [UInt8] = []
  var buffer = [UInt8](repeating: 0, count: min(limit, 1 << 16))
  while bytes.count < limit {
    let count = read(descriptor, &buffer, buffer.count)
    if count > 0 {
      bytes += buffer.prefix(count)
    } else if count == -1, errno == EINTR {
      continue
    } else {
      return (bytes, count == 0)
    }
  }
  return (bytes, false)
}

func makeNonblocking(_ descriptor: Int32) {
  _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
}

/// Splits the bytes of a stream into lines of valid UTF-8.
///
/// A line longer than the limit is cut into pieces, at character boundaries where it is UTF-8, so that a child that
/// never ends its line uses bounded memory. Invalid UTF-8 becomes U+FFFD.
struct LineSplitter: Sendable {
  /// The maximum length of a line in bytes.
  static let limit = 8192
  private var rest: [UInt8] = []

  /// Appends bytes and returns the lines that they complete.
  mutating func append(_ bytes: [UInt8]) -> [String] {
    var lines: [String] = []
    for byte in bytes {
      if byte == UInt8(ascii: "\n") {
        lines.append(take(rest.count))
      } else {
        rest.append(byte)
        if rest.count > LineSplitter.limit { lines.append(take(cut)) }
      }
    }
    return lines
  }

  /// Returns the rest at the end of the stream; `nil` when the last line was complete.
  mutating func finish() -> String? { rest.isEmpty ? nil : take(rest.count) }

  /// Where a line over the limit is cut: before the first character that does not fit.
  private var cut: Int {
    let start = (LineSplitter.limit - 3...LineSplitter.limit).last { rest[$0] & 0xc0 != 0x80 }
    return start ?? LineSplitter.limit
  }

  private mutating func take(_ count: Int) -> String {
    let line = String(decoding: rest.prefix(count), as: UTF8.self)
    rest.removeFirst(count)
    return line
  }
}
