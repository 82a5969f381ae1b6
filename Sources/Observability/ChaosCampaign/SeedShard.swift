// SPDX-License-Identifier: Apache-2.0

/// The seeds of `--seeds A-B`, and the part of them that one of several machines runs.
package struct SeedShard: Sendable, Equatable {
  /// Why an option cannot be used.
  package struct Problem: Error, Equatable, CustomStringConvertible {
    package let description: String
  }

  /// The seeds of this shard, ascending.
  package let seeds: [UInt64]
  /// `3/50`; `nil` for all.
  package let name: String?

  /// Reads the options.
  ///
  /// - Parameters:
  ///   - seeds: `A-B`.
  ///   - shard: `i/n` with i from 1, `auto/n` or `auto`: the number comes from the environment of Kubernetes, Slurm or
  ///     GitLab, without n also the count; `nil` for all seeds.
  /// - Throws: `Problem` with what is wrong.
  package init(seeds: String, shard: String?, environment: [String: String]) throws(Problem) {
    let ends = seeds.split(separator: "-").map { UInt64($0) }
    guard ends.count == 2, let first = ends[0], let last = ends[1], first <= last, last - first < 1_000_000 else {
      throw Problem(description: "'\(seeds)' is not a range of seeds; use A-B, such as 1-100")
    }
    guard let shard else {
      self.seeds = Array(first...last)
      name = nil
      return
    }
    let (number, count) = try Self.place(shard, environment)
    self.seeds = (first...last).filter { ($0 - first) % UInt64(count) == UInt64(number - 1) }
    name = "\(number)/\(count)"
  }

  private static func place(_ shard: String, _ environment: [String: String]) throws(Problem) -> (Int, Int) {
    let parts = shard.split(separator: "/", omittingEmptySubsequences: false)
    let value = { (name: String) in environment[name].flatMap { Int($0) } }
    var number = Int(parts[0])
    var count = parts.count == 2 ? Int(parts[1]) : nil
    if parts[0] == "auto" {
      // Kubernetes counts from 0 and states no count; Slurm from the array's first number; GitLab from 1.
      if let index = value("JOB_COMPLETION_INDEX") {
        number = index + 1
      } else if let task = value("SLURM_ARRAY_TASK_ID") {
        number = task - (value("SLURM_ARRAY_TASK_MIN") ?? 0) + 1
        count = count ?? value("SLURM_ARRAY_TASK_COUNT")
      } else if let node = value("CI_NODE_INDEX") {
        number = node
        count = count ?? value("CI_NODE_TOTAL")
      } else {
        throw Problem(
          description:
            "--shard auto needs JOB_COMPLETION_INDEX, SLURM_ARRAY_TASK_ID or CI_NODE_INDEX in the environment")
      }
    }
    guard parts.count <= 2, let number, let count, count > 0, (1...count).contains(number) else {
      throw Problem(
        description: "'\(shard)' is not a shard; use i/n with i from 1 to n, auto/n, or auto where the environment has "
          + "the count")
    }
    return (number, count)
  }
}
