// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The metrics of every process, with the names that the clients of Prometheus use. They are read from `/proc/self`.
package enum ProcessFamilies {
  /// The families now. A value that cannot be read is left out.
  package static func read() -> [MetricFamily] {
    var families: [MetricFamily] = []
    if let fields = statFields(), fields.count > 21, let user = Double(fields[11]), let system = Double(fields[12]),
      let start = Double(fields[19]), let pages = Double(fields[21]), let virtual = Double(fields[20])
    {
      let ticks = Double(sysconf(Int32(_SC_CLK_TCK)))
      families.append(
        .counter(
          "process_cpu_seconds_total", "The processor time of the process, user and system.",
          [.init((user + system) / ticks)]))
      families.append(
        .gauge(
          "process_resident_memory_bytes", "The resident memory of the process.",
          pages * Double(sysconf(Int32(_SC_PAGESIZE)))))
      families.append(.gauge("process_virtual_memory_bytes", "The virtual memory of the process.", virtual))
      if let boot = bootTime() {
        families.append(
          .gauge("process_start_time_seconds", "When the process started, seconds since 1970.", boot + start / ticks))
      }
    }
    if let count = openDescriptors() {
      families.append(.gauge("process_open_fds", "The open file descriptors of the process.", Double(count)))
    }
    var limit = rlimit()
    if getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 {
      families.append(
        .gauge("process_max_fds", "The limit of file descriptors of the process.", Double(limit.rlim_cur)))
    }
    return families
  }

  /// The fields of `/proc/self/stat` after the name, which may contain spaces and parentheses.
  private static func statFields() -> [Substring]? {
    guard let text = read("/proc/self/stat"), let end = text.lastIndex(of: ")") else { return nil }
    return text[text.index(after: end)...].split(whereSeparator: \.isWhitespace)
  }

  /// When the machine started, seconds since 1970.
  private static func bootTime() -> Double? {
    guard let text = read("/proc/stat") else { return nil }
    return text.split(separator: "\n").first { $0.hasPrefix("btime ") }.flatMap { Double($0.dropFirst(6)) }
  }

  private static func openDescriptors() -> Int? {
    guard let folder = opendir("/proc/self/fd") else { return nil }
    defer { closedir(folder) }
    var count = 0
    while readdir(folder) != nil { count += 1 }
    // `.`, `..`, and the descriptor of this folder.
    return max(0, count - 3)
  }

  private static func read(_ path: String) -> String? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4_096)
    while true {
      let count = Glibc.read(descriptor, &buffer, buffer.count)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return count == 0 ? String(decoding: bytes, as: UTF8.self) : nil }
      bytes += buffer[..<count]
    }
  }
}
