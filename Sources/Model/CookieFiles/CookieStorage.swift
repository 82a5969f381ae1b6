// SPDX-License-Identifier: Apache-2.0

import DefaultsLog
package import Foundation
import HTTPRules
import Synchronization

/// A storage of cookies. Those with an expiry date are in a file that the product's processes and the host share, if
/// there is one; all others are in memory. Any thread.
///
/// The file is a log like that of user defaults, and open only during a call, so that the agent can compact it. A file
/// that cannot be read or written counts as empty: the request is sent without cookies.
package final class CookieStorage: Sendable {
  private let path: String?
  private let memory = Mutex<[String: Cookie]>([:])

  /// - Parameter container: the product's; `nil`: nothing is stored on disk.
  package init(in container: String? = nil) { path = container.map(Self.path) }

  private static func path(in container: String) -> String { container + "/Library/Cookies/Cookies.log" }

  /// The value of `Cookie` for a request; `nil` without cookies.
  package func header(for url: URL, at now: Date) -> String? {
    let stored = path.flatMap { try? DefaultsFile($0).values() } ?? [:]
    let persistent = stored.values.compactMap { try? JSONDecoder().decode(Cookie.self, from: Data($0)) }
    return Cookie.header(persistent + memory.withLock { Array($0.values) }, for: url, at: now)
  }

  /// Stores the cookies of a response.
  ///
  /// - Parameter fields: the values of its `Set-Cookie` fields.
  package func store(_ fields: [String], from url: URL, at now: Date) {
    for cookie in fields.compactMap({ Cookie($0, from: url, now: now) }) {
      let isKept = !cookie.isExpired(at: now)
      let isPersistent = path != nil && cookie.expires != nil
      // Of one key, a cookie is on disk or in memory.
      memory.withLock { $0[cookie.key] = isKept && !isPersistent ? cookie : nil }
      guard let file = path.map({ DefaultsFile($0) }) else { continue }
      if isKept, isPersistent, let data = try? JSONEncoder().encode(cookie) {
        try? file.append(.value(cookie.key, Array(data)))
      } else if (try? file.value(forKey: cookie.key)) != nil {
        try? file.append(.removal(cookie.key))
      }
    }
  }

  /// Removes all cookies.
  package func clear() {
    memory.withLock { $0 = [:] }
    if let path { try? DefaultsFile(path).append(.clear) }
  }

  /// Compacts the file of a container, as `DefaultsFile.compactAll` does.
  package static func compact(in container: String) { DefaultsFile.compact(path(in: container)) }
}
