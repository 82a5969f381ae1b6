// SPDX-License-Identifier: Apache-2.0

import Archive
import Foundation
import Localization
import MessageBus
import Messages

extension HostedProcess {
  /// Applies changes of the device's locale and time zone to this process. Call before the connection is started.
  func followSettings() {
    connection.onNotice(SettingChanged.self) { notice, _ in
      Locale.setDevice(notice.settings.locale)
      TimeZone.setDevice(notice.settings.timeZone)
    }
  }
}
