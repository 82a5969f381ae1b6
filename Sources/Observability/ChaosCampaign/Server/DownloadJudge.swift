// SPDX-License-Identifier: Apache-2.0

import Archive
package import Messages

/// Compares how downloads ended with what the misbehaving server did while they were loaded.
package struct DownloadJudge: Sendable {
  /// A task that ended, from the journal.
  package struct Ended: Sendable, Hashable {
    /// How it ended.
    package enum End: Sendable, Hashable {
      /// With a file of this SHA-256.
      case file(String)
      case failure(Int)
    }
    package let session: String
    package let task: Int
    /// When its owner asked for it: no request of it is older.
    package let created: Timestamp
    package let ended: Timestamp
    package let end: End

    package init(session: String, task: Int, created: Timestamp, ended: Timestamp, end: End) {
      self.session = session
      self.task = task
      self.created = created
      self.ended = ended
      self.end = end
    }
  }

  /// A request that was answered.
  package struct Served: Sendable, Hashable {
    package let session: String
    /// The name of the behaviour; `nil` for a good response.
    package let behaviour: String?
    package let time: Timestamp

    package init(session: String, behaviour: String?, time: Timestamp) {
      self.session = session
      self.behaviour = behaviour
      self.time = time
    }
  }

  /// How a download may end that met a behaviour.
  package struct Permitted: Sendable, Hashable {
    package var hashes: Set<String>
    package var codes: Set<Int>

    package init(hashes: Set<String>, codes: Set<Int>) {
      self.hashes = hashes
      self.codes = codes
    }
  }

  /// By session and behaviour.
  private let permitted: @Sendable (String, String?) -> Permitted
  /// When something else may have interrupted a download, ascending.
  private let disturbances: [Timestamp]

  /// The time around a disturbance in which a request may be repeated because of it.
  private static let margin = Duration.seconds(6)

  package init(
    disturbances: [Timestamp], permitted: @escaping @Sendable (String, String?) -> Permitted
  ) {
    self.disturbances = disturbances.sorted()
    self.permitted = permitted
  }

  /// What contradicts the rules, one sentence each.
  ///
  /// - Parameter served: in the order of time.
  package func findings(_ tasks: [Ended], _ served: [Served]) -> [String] {
    let bySession = Dictionary(grouping: served, by: \.session)
    return tasks.compactMap { task in
      let all = bySession[task.session] ?? []
      let first = all.partitioned { $0.time < task.created }
      let end = all.partitioned { $0.time <= task.ended }
      guard first < end else { return nil }
      return finding(task, Array(all[first..<end]))
    }
  }

  private func finding(_ task: Ended, _ served: [Served]) -> String? {
    let name = "task \(task.task) of \(task.session)"
    let seen = served.map { $0.behaviour ?? "a good response" }.reduce(into: [String]()) { names, name in
      if !names.contains(name) { names.append(name) }
    }
    let what = "\(name), which met \(seen.joined(separator: ", "))"
    let possible = served.map { permitted($0.session, $0.behaviour) }
    switch task.end {
    case .failure(let code):
      guard possible.contains(where: { $0.codes.contains(code) }) else { return "\(what), failed with \(code)" }
    case .file(let hash):
      guard possible.contains(where: { $0.hashes.contains(hash) }) else { return "\(what), ended with another file" }
    }
    for (index, end) in possible.enumerated().dropLast() where end.hashes.isEmpty {
      guard !isDisturbed(from: served[index].time, to: served[index + 1].time) else { continue }
      return "\(name) was repeated after \(served[index].behaviour ?? "a good response"), which is final"
    }
    return nil
  }

  private func isDisturbed(from first: Timestamp, to last: Timestamp) -> Bool {
    let margin = Int64(saturating: Self.margin / .microseconds(1))
    let index = disturbances.partitioned { $0.microseconds < first.microseconds - margin }
    return index < disturbances.count && disturbances[index].microseconds <= last.microseconds + margin
  }
}

extension Array {
  /// The index of the first element for which a condition is false, in an array that begins with those for which it holds.
  fileprivate func partitioned(_ isBefore: (Element) -> Bool) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if isBefore(self[middle]) { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
