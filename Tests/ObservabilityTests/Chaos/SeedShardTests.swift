// SPDX-License-Identifier: Apache-2.0

import ChaosCampaign
import Testing

@Suite struct `Seeds and shards` {
  private func seeds(_ seeds: String, shard: String? = nil, environment: [String: String] = [:]) throws -> [UInt64] {
    try SeedShard(seeds: seeds, shard: shard, environment: environment).seeds
  }

  @Test func `the shards of a range contain each seed once`() throws {
    #expect(try seeds("5-9") == [5, 6, 7, 8, 9])
    let parts = try (1...3).map { try seeds("1-10", shard: "\($0)/3") }
    #expect(parts == [[1, 4, 7, 10], [2, 5, 8], [3, 6, 9]])
  }

  @Test func `the number comes from the environment of Kubernetes, Slurm and GitLab`() throws {
    #expect(try seeds("1-10", shard: "auto/5", environment: ["JOB_COMPLETION_INDEX": "0"]) == [1, 6])
    let slurm = ["SLURM_ARRAY_TASK_ID": "12", "SLURM_ARRAY_TASK_MIN": "10", "SLURM_ARRAY_TASK_COUNT": "5"]
    #expect(try seeds("1-10", shard: "auto", environment: slurm) == [3, 8])
    #expect(try seeds("1-10", shard: "auto", environment: ["CI_NODE_INDEX": "5", "CI_NODE_TOTAL": "5"]) == [5, 10])
  }

  @Test(
    arguments: [
      ("9-1", nil), ("a-b", nil), ("1", nil), ("1-10", "0/3"), ("1-10", "4/3"), ("1-10", "auto"), ("1-10", "x/3"),
      ("1-10", "1/2/3"),
    ] as [(String, String?)])
  func `wrong ranges and shards are refused`(range: String, shard: String?) {
    #expect(throws: SeedShard.Problem.self) { try seeds(range, shard: shard) }
  }

  @Test func `Kubernetes states no count, so it must be given`() {
    #expect(throws: SeedShard.Problem.self) {
      try seeds("1-10", shard: "auto", environment: ["JOB_COMPLETION_INDEX": "1"])
    }
  }
}
