// SPDX-License-Identifier: Apache-2.0

import ChaosCampaign
import Foundation
import Glibc

/// A soft limit of a running process, by prlimit(2), which needs no root for a process of the same user.
struct ProcessLimit: Sendable {
  private typealias Call = @convention(c) (Int32, Int32, UnsafePointer<rlimit>?, UnsafeMutablePointer<rlimit>?) -> Int32

  let pid: Int32
  private let executable: String
  private let number: Int32
  private let before: rlimit

  /// Limits a process to what it uses now and a rest.
  ///
  /// - Returns: `nil` when it does not run any more, or the kernel refuses.
  init?(_ pid: Int32, _ resource: LimitedResource, spare: Int) {
    guard let executable = ProcessFacts(pid: pid).executable, let used = Self.used(resource, by: pid) else {
      return nil
    }
    self.pid = pid
    self.executable = executable
    number = Int32(resource == .memory ? RLIMIT_AS.rawValue : RLIMIT_NOFILE.rawValue)
    var before = rlimit()
    guard Self.call(pid, number, nil, &before) == 0 else { return nil }
    var limited = before
    limited.rlim_cur = min(before.rlim_max, rlim_t(used + (resource == .memory ? spare << 20 : spare)))
    self.before = before
    guard Self.call(pid, number, &limited, nil) == 0 else { return nil }
  }

  /// Ends the limit, also that of children which were started with it.
  func end() {
    var before = before
    for pid in [pid] + Self.children(of: pid) where pid != self.pid || ProcessFacts(pid: pid).runs(executable) {
      _ = Self.call(pid, number, &before, nil)
    }
  }

  /// One more than the highest open descriptor, or bytes of address space.
  private static func used(_ resource: LimitedResource, by pid: Int32) -> Int? {
    switch resource {
    case .descriptors:
      let open = try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/fd").compactMap { Int($0) }
      return open?.max().map { $0 + 1 }
    case .memory:
      let pages = try? String(contentsOfFile: "/proc/\(pid)/statm", encoding: .utf8).split(separator: " ").first
      return pages.flatMap { Int($0) }.map { $0 * Int(sysconf(Int32(_SC_PAGESIZE))) }
    }
  }

  private static func children(of pid: Int32) -> [Int32] {
    let tasks = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/task")) ?? []
    return tasks.flatMap { task in
      let list = (try? String(contentsOfFile: "/proc/\(pid)/task/\(task)/children", encoding: .utf8)) ?? ""
      return list.split(separator: " ").compactMap { Int32($0.trimmingCharacters(in: .whitespacesAndNewlines)) }
    }
  }

  /// Glibc's module does not have the function.
  private static func call(
    _ pid: Int32, _ number: Int32, _ new: UnsafePointer<rlimit>?, _ old: UnsafeMutablePointer<rlimit>?
  ) -> Int32 {
    guard let symbol = dlsym(nil, "prlimit") else { return -1 }
    return unsafeBitCast(symbol, to: Call.self)(pid, number, new, old)
  }
}
