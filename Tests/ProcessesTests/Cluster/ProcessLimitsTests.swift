// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing

@testable import Cluster

struct ProcessLimitsTests {
  @Test func `a process with enough descriptors and address space starts`() throws {
    try ProcessLimits.check(descriptors: 64, addressSpace: .max)
    try ProcessLimits.check(descriptors: .max, addressSpace: 1 << 30)
  }

  @Test(arguments: [
    (rlim_t(63), rlim_t.max, ["63", "64", "ulimit -n"]), (1024, 400_000 << 10, ["390 MiB", "1024", "ulimit -v"]),
  ])
  func `a limit that is too low is named, with what is needed and how to raise it`(
    descriptors: rlim_t, addressSpace: rlim_t, words: [String]
  ) throws {
    let error = #expect(throws: ClusterError.self) {
      try ProcessLimits.check(descriptors: descriptors, addressSpace: addressSpace)
    }
    #expect(error?.code == .limit)
    for word in words { #expect(error?.message.contains(word) == true, "\(word)") }
  }
}
