// SPDX-License-Identifier: Apache-2.0

import Messages

/// Which replica gets what a sender sends to the address that replicas share.
struct ReplicaTable {
  private var replicas: [Address: Address] = [:]
  /// The connected replicas that have lost their database. They get senders only when all have.
  var waiting: Set<Address> = []

  /// The replica of a sender.
  subscript(sender: Address) -> Address? {
    get { replicas[sender] }
    set { replicas[sender] = newValue }
  }

  /// The senders of a replica, in order.
  func senders(of replica: Address) -> [Address] {
    replicas.filter { $0.value == replica }.keys.sorted { $0.text < $1.text }
  }

  func count(of replica: Address) -> Int { replicas.values.count { $0 == replica } }
}

// `push-server` is an address without a process when there are replicas. A sender stays with one replica as long as that
// is connected, so that its messages arrive in order, and so that the replica that knows a device gets its messages.

extension Routing {
  /// The connection for an envelope to an address to which no process is connected; `nil` if no replica serves it.
  mutating func replicaLine(for sender: Address, to destination: Address) -> Line? {
    guard destination == .pushServer else { return nil }
    if let line = replicas[sender].flatMap({ line(of: $0) }) { return line }
    replicas[sender] = freeReplica
    return replicas[sender].flatMap { line(of: $0) }
  }

  /// The connected replica with the fewest senders.
  private var freeReplica: Address? {
    let connected = lines.keys.filter(\.isReplica)
    let ready = connected.filter { !replicas.waiting.contains($0) }
    return (ready.isEmpty ? connected : ready).min { one, other in
      (replicas.count(of: one), one.text) < (replicas.count(of: other), other.text)
    }
  }

  /// Announces the shared address to the senders of a replica that has connected or disconnected.
  mutating func announceReplica(_ presence: Presence) {
    if presence.isPresent, presence.address.isReplica { actions.append(.watchReplicas) }
    guard presence.address.isReplica, line(of: .pushServer) == nil else { return }
    let replica = presence.address
    replicas.waiting.remove(replica)
    if presence.isPresent {
      for sender in interest.listeners(of: .pushServer) where lines[sender] != nil {
        guard replicas[sender].map({ $0 == replica || line(of: $0) == nil }) ?? true else { continue }
        replicas[sender] = replica
        record(Presence(address: .pushServer, isPresent: true, generation: presence.generation), to: sender)
      }
      return
    }
    moveSenders(of: replica)
  }

  /// The descriptors of the connected replicas.
  var replicaDescriptors: [Int32] {
    lines.filter(\.key.isReplica).values.compactMap { line in
      peers[line].map(\.descriptor).flatMap { descriptors[$0] == line ? $0 : nil }
    }
  }

  /// A replica has lost its database, or has it again. Its senders move when there is one that is ready.
  mutating func replicaChanged(_ replica: Address, isReady: Bool) {
    guard replica.isReplica, let line = line(of: replica), lines[replica] == line else { return }
    guard !isReady else {
      replicas.waiting.remove(replica)
      for other in replicas.waiting.sorted(by: { $0.text < $1.text }) { moveSenders(of: other) }
      return
    }
    // It repeats the notice. A sender that was mapped to it since then moves too.
    let isNew = replicas.waiting.insert(replica).inserted
    guard isNew || replicas.count(of: replica) > 0, freeReplica.map(replicas.waiting.contains) == false else { return }
    moveSenders(of: replica)
  }

  /// Announces to the senders of a replica that another one is responsible for them.
  private mutating func moveSenders(of replica: Address) {
    let former = registrations[replica]?.generation ?? 0
    // Those that have acknowledged something to it are its devices, even if an earlier broker had another table.
    for sender in Set(replicas.senders(of: replica) + interest.listeners(of: replica)).sorted(by: { $0.text < $1.text })
    {
      if replicas[sender] == replica { replicas[sender] = nil }
      guard lines[sender] != nil else { continue }
      record(Presence(address: .pushServer, isPresent: false, generation: former), to: sender)
      guard let next = replicas[sender] ?? freeReplica, let generation = registrations[next]?.generation else {
        continue
      }
      replicas[sender] = next
      record(Presence(address: .pushServer, isPresent: true, generation: generation), to: sender)
    }
  }
}
