import CProcess
import Conversations
import Foundation
import Glibc
import Synchronization

/// What is to be spawned.
struct SpawnOrder: Sendable {
  let life: Life
  /// An absolute path.
  let executable: String
  /// All of the child's environment.
  let environment: [String: String]
  /// The working directory.
  let directory: String
  /// All that the child can read from its standard input.
  let input: [UInt8]
  /// What it may have; `nil` when it has no limit.
  let memory: MemoryLimit?
}

/// What happened to a child, in the order in which it happened.
enum ChildEvent: Sendable {
  case spawned(Life, pid: Int32)
  /// The kernel refused; `errno`.
  case notSpawned(Life, code: Int32)
  case wrote(Life, OutputStream, [UInt8])
  /// It has more memory than it may have, bytes; once in a life.
  case exceededMemory(Life, memory: Int)
  /// It was reaped; nothing is left of it or of its process group.
  case ended(Life, Ending)
}

/// The one thread that spawns, watches, signals and reaps the children of an agent.
///
/// It lives as long as the agent: a child that asked to die with its parent (`PR_SET_PDEATHSIG`) dies with the *thread*
/// that spawned it. swift-subprocess is not used, since it cannot promise which thread that is: from a thread of the
/// concurrency pool the child was killed after 5 s. Each child is watched through a pidfd, and signalled through it by
/// this thread before it is reaped, so that a signal never reaches another process that got the same pid.
final class ChildThread: Sendable {
  private enum Work: Sendable {
    case spawn(SpawnOrder)
    case signal(Life, Int32, @Sendable (_ code: Int32) -> Void)
    case taken(Life, Int)
    case stop
  }

  private struct Inbox {
    var work: [Work] = []
    var isStopped = false
  }

  private let inbox = Mutex(Inbox())
  private let wakeReader: Int32
  private let wakeWriter: Int32
  private let events: AsyncStream<ChildEvent>.Continuation

  /// Starts the thread. A process that can have neither a thread nor a pipe for it is ended with the reason.
  ///
  /// - Parameter events: told all that happens; finished after `stop()`.
  init(events: AsyncStream<ChildEvent>.Continuation) {
    var ends: [Int32] = [-1, -1]
    precondition(process_pipe(&ends) == 0, "pipe for the thread of the children: \(String(cString: strerror(errno)))")
    wakeReader = ends[0]
    wakeWriter = ends[1]
    for descriptor in ends { makeNonblocking(descriptor) }
    self.events = events
    // Whoever started the agent may have ignored it, and then the kernel would keep no exit.
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

  /// Spawns; the event says what came of it.
  func spawn(_ order: SpawnOrder) { post(.spawn(order)) }

  /// Sends a signal to a life.
  ///
  /// - Returns: 0, or an `errno`: `ESRCH` when it was reaped already.
  func signal(_ life: Life, _ signal: Int32) async -> Int32 {
    await withCheckedContinuation { continuation in
      post(.signal(life, signal) { continuation.resume(returning: $0) })
    }
  }

  /// The bus has taken what a life wrote; more may be read. Output that nobody takes stays in the child's pipe.
  func taken(_ life: Life, _ bytes: [UInt8]) { post(.taken(life, WatchedChild.weight(bytes))) }

  /// Ends the thread. Children that still live are no longer watched, and die if they asked to die with it.
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
    case .spawn(let order): events.yield(.notSpawned(order.life, code: ECANCELED))
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
        if let memory = child.excessMemory() { events.yield(.exceededMemory(child.life, memory: memory)) }
      }
      let work = inbox.withLock { box in
        defer { box.work = [] }
        return box.work
      }
      for (index, item) in work.enumerated() {
        switch item {
        case .spawn(let order): if let child = spawnNow(order) { children.append(child) }
        case .signal(let life, let signal, let answer):
          answer(children.first { $0.life == life }?.signal(signal) ?? ESRCH)
        case .taken(let life, let weight): children.first { $0.life == life }?.wasTaken(weight)
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
    switch WatchedChild.spawn(order) {
    case .success(let child):
      events.yield(.spawned(order.life, pid: child.pid))
      return child
    case .failure(let error):
      events.yield(.notSpawned(order.life, code: error.code))
      return nil
    }
  }

  /// Reads what a child wrote and reaps it when it has ended.
  ///
  /// - Returns: whether it has ended.
  private func serve(_ child: WatchedChild, _ ready: Set<Int32>) -> Bool {
    let hasEnded = ready.contains(child.pidfd)
    for (stream, descriptor) in child.outputs where hasEnded || ready.contains(descriptor) {
      // A turn takes 16 KiB of a living child, so that a noisy one does not keep the others waiting.
      let chunk = readAvailable(descriptor, limit: hasEnded ? 1 << 20 : 1 << 14)
      if !chunk.bytes.isEmpty {
        child.wasRead(chunk.bytes)
        events.yield(.wrote(child.life, stream, chunk.bytes))
      }
      if chunk.isAtEnd { child.closeOutput(stream) }
    }
    guard hasEnded, let ending = child.reap() else { return false }
    child.close()
    events.yield(.ended(child.life, ending))
    return true
  }
}

/// Reads what is there, up to a limit.
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
