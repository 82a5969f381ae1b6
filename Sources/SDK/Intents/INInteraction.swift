// SPDX-License-Identifier: Apache-2.0

import AuthorRuntime
public import Foundation

/// An intent with its result. Source: `Intents.INInteraction`.
open class INInteraction: NSObject {
  public let intent: INIntent
  public let intentResponse: INIntentResponse?
  open var identifier = UUID().uuidString
  open var groupIdentifier: String?
  open var dateInterval: DateInterval?

  public init(intent: INIntent, response: INIntentResponse?) {
    self.intent = intent
    intentResponse = response
  }

  /// Has no effect: the system does not suggest widgets. The diagnosis `not-simulated` names it.
  open func donate(completion: (((any Error)?) -> Void)? = nil) {
    HostedProcess.current?.noticeUnsimulated(
      "INInteraction.donate", "the system does not predict what the user will do; nothing is donated")
    completion?(nil)
  }
  /// Has no effect, as `donate`.
  open class func deleteAll(completion: (((any Error)?) -> Void)? = nil) { completion?(nil) }
  /// Has no effect, as `donate`.
  open class func delete(with identifiers: [String], completion: (((any Error)?) -> Void)? = nil) { completion?(nil) }
}
