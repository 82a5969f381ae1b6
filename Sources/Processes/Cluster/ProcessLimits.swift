// SPDX-License-Identifier: Apache-2.0

import Glibc

/// What each process of a cluster needs from the shell or container that starts it. With less, some part of a process
/// waits without end and without a word: a thread cannot be started, a file cannot be opened.
package enum ProcessLimits {
  /// File descriptors. The processes of the sample use 22 to 34 at rest.
  package static let descriptors = 64
  /// Bytes of address space. Most of it is reserved and never used.
  package static let addressSpace = 1024 << 20

  /// Raises the soft limit of descriptors to what is needed, where that is permitted.
  ///
  /// - Throws: `limit`, with the limit, what is needed, and how to raise it.
  package static func check() throws(ClusterError) {
    var files = read(RLIMIT_NOFILE)
    if files.rlim_cur < descriptors, files.rlim_max >= descriptors {
      files.rlim_cur = rlim_t(descriptors)
      setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &files)
    }
    try check(descriptors: files.rlim_cur, addressSpace: read(RLIMIT_AS).rlim_cur)
  }

  static func check(descriptors files: rlim_t, addressSpace bytes: rlim_t) throws(ClusterError) {
    guard files >= descriptors else {
      throw ClusterError(
        .limit,
        "this process may have only \(files) file descriptors, and it needs \(descriptors): raise the limit of the shell "
          + "(`ulimit -n 1024`) or of the container (`--ulimit nofile=1024`)")
    }
    guard bytes >= addressSpace else {
      throw ClusterError(
        .limit,
        "this process may have only \(bytes >> 20) MiB of address space, and it needs \(addressSpace >> 20): raise the "
          + "limit of the shell (`ulimit -v unlimited`); a limit of memory does not need this one")
    }
  }

  private static func read(_ resource: __rlimit_resource) -> rlimit {
    var limit = rlimit()
    let unknown = rlimit(rlim_cur: .max, rlim_max: .max)
    return getrlimit(__rlimit_resource_t(resource.rawValue), &limit) == 0 ? limit : unknown
  }
}
