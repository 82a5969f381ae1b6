// SPDX-License-Identifier: Apache-2.0

import Foundation
import WidgetKit

/// Sends each new push token, and the placed widgets, to the developer's server.
struct CaffeineTrackerPushHandler: WidgetPushHandler {
  func pushTokenDidChange(_ pushInfo: WidgetPushInfo, widgets: [WidgetInfo]) {
    let subscription = Subscription(
      token: pushInfo.token.map { String(format: "%02x", $0) }.joined(),
      widgets: widgets.map { Subscription.Widget(kind: $0.kind, family: "\($0.family)") })
    Task { await SubscriptionUpload.shared.send(subscription) }
  }
}
