// SPDX-License-Identifier: Apache-2.0

import CookieFiles
import DeviceRules
import Foundation
import HTTPRules
import Messages
import Timekeeping

/// The cookies of the requests of a background session: those of the product that created it.
struct AttemptCookies: Sendable {
  let storage: CookieStorage
  let use: CookieUse
  let now: @Sendable () -> Date

  /// The value of `Cookie`; `nil` without cookies.
  func header(for url: URL) -> String? { use.sends ? storage.header(for: url, at: now()) : nil }

  /// Stores the values of the `Set-Cookie` fields of a response.
  func store(_ fields: [String], from url: URL) {
    if use.stores { storage.store(fields, from: url, at: now()) }
  }
}

extension TransferScheduler {
  /// The cookies of a task; `nil` if it uses none.
  func cookies(of task: StoredTask, _ configuration: SessionConfiguration) -> AttemptCookies? {
    let request = task.newRequest ?? task.request
    let owner = task.key.session.owner
    guard let use = configuration.cookies, request.handlesCookies ?? true, delivery.container(owner) != nil else {
      return nil
    }
    let storage = cookieStorages[owner] ?? CookieStorage { [container = delivery.container] in container(owner) }
    cookieStorages[owner] = storage
    return AttemptCookies(storage: storage, use: use, now: { [context] in context.clock.now })
  }
}
