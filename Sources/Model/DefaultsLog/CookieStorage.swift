// SPDX-License-Identifier: Apache-2.0

package import Foundation
import Messages
import Synchronization

/// A storage of cookies. Those with an expiry date are in a file that the product's processes and the host share, if
/// there is one; all others are in memory. Any thread.
///
/// The file is a log like that of user defaults, and open only during a call, so that the agent can compact it. A file
/// that cannot be read or written counts as empty: the request is sent without cookies.
package final class CookieStorage: Sendable {
  private let container: @Sendable () -> String?
  private let memory = Mutex<[String: Cookie]>([:])

  /// - Parameter container: the product's, which an update moves; `nil`: nothing is stored on disk.
  package init(in container: @escaping @Sendable () -> String?) { self.container = container }

  package convenience init(in container: String? = nil) { self.init { container } }

  private static func path(in container: String) -> String { container + "/Library/Cookies/Cookies.log" }

  /// The value of `Cookie` for a request; `nil` without cookies.
  package func header(for url: URL, at now: Date) -> String? {
    let persistent = container().map { Array(Self.cookies(in: DefaultsFile(Self.path(in: $0))).values) } ?? []
    return Cookie.header(persistent + memory.withLock { Array($0.values) }, for: url, at: now)
  }

  private static func cookies(in file: DefaultsFile) -> [String: Cookie] {
    ((try? file.values()) ?? [:]).compactMapValues { try? JSONDecoder().decode(Cookie.self, from: Data($0)) }
  }

  /// Stores the cookies of a response, and removes those that have expired.
  ///
  /// - Parameter fields: the values of its `Set-Cookie` fields.
  package func store(_ fields: [String], from url: URL, at now: Date) {
    let new = fields.compactMap { Cookie($0, from: url, now: now) }
    guard !new.isEmpty else { return }
    let container = container()
    let file = container.map { DefaultsFile(Self.path(in: $0)) }
    let storedCookies = file.map(Self.cookies) ?? [:]
    memory.withLock { $0 = $0.filter { !$1.isExpired(at: now) } }
    var expired = Set(storedCookies.filter { $0.value.isExpired(at: now) }.keys)
    for cookie in new {
      let isKept = !cookie.isExpired(at: now)
      let isPersistent = file != nil && cookie.expires != nil
      // Of one key, a cookie is on disk or in memory.
      memory.withLock { $0[cookie.key] = isKept && !isPersistent ? cookie : nil }
      if isKept, isPersistent, let container, Self.makeFolder(in: container),
        let data = try? JSONEncoder().encode(cookie)
      {
        expired.remove(cookie.key)
        try? file?.append(.value(cookie.key, Array(data)))
      } else if storedCookies[cookie.key] != nil {
        expired.insert(cookie.key)
      }
    }
    for key in expired.sorted() { try? file?.append(.removal(key)) }
  }

  /// Creates the folder of the file, but not the container: one that does not exist was moved by an update.
  private static func makeFolder(in container: String) -> Bool {
    ["/Library", "/Library/Cookies"].allSatisfy { mkdir(container + $0, 0o700) == 0 || errno == EEXIST }
  }

  /// Removes all cookies.
  package func clear() {
    memory.withLock { $0 = [:] }
    if let container = container() { try? DefaultsFile(Self.path(in: container)).append(.clear) }
  }

  /// Compacts the file of a container, as `DefaultsFile.compactAll` does.
  package static func compact(in container: String) { DefaultsFile.compact(path(in: container)) }
}
