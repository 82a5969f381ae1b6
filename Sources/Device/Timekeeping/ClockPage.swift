import CClock
import Foundation
import Glibc

/// A file that tells the device's other processes how its clock goes. They map it, and read the time in it as quickly as
/// they read the machine's; it tells them the same when the host is dead.
package final class ClockPage: Sendable {
  /// The kernel would not have it.
  package struct Failure: Error, CustomStringConvertible {
    let path: String
    let code: Int32
    package var description: String {
      "\(path) cannot be made or mapped: \(String(cString: strerror(code))); the host's user must be able to write there"
    }
  }

  // One thread at a time writes (`show`), and all that is read is atomic.
  private nonisolated(unsafe) let page: UnsafeMutableRawPointer

  /// Makes the file when there is none, mode 0600; another life's goes on telling its time until `show`.
  package init(path: String) throws(Failure) {
    let file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw Failure(path: path, code: errno) }
    defer { close(file) }
    guard ftruncate(file, off_t(clock_page_size)) == 0,
      let page = mmap(nil, Int(clock_page_size), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0), page != MAP_FAILED
    else { throw Failure(path: path, code: errno) }
    self.page = page
  }

  deinit { munmap(page, Int(clock_page_size)) }

  /// From now on readers see this. One call at a time.
  package func show(_ setting: ClockSetting) {
    clock_page_set(
      page, setting.origin.nanoseconds, setting.since.nanoseconds, setting.isHeld ? 0 : setting.rate)
  }
}

extension Date {
  /// Since 1970. The date that a process reads from it is the same to the last bit: it is of the machine's nanoseconds, and
  /// a `Date` of our days has steps of a hundred of them.
  var nanoseconds: Int64 {
    let whole = timeIntervalSinceReferenceDate.rounded(.down)
    let rest = ((timeIntervalSinceReferenceDate - whole) * 1e9).rounded()
    return (Int64(whole) + Int64(Date.timeIntervalBetween1970AndReferenceDate)) * 1_000_000_000 + Int64(rest)
  }
}
