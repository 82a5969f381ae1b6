// SPDX-License-Identifier: Apache-2.0

import Archive
import Foundation
import Localization
import MessageBus
import Messages

extension HostedProcess {
  /// Applies changes of the device's locale, time zone and place to this process. Call before the connection is started.
  func followSettings() {
    let place = DevicePlace.of(self)
    connection.onNotice(SettingChanged.self) { notice, _ in
      place.set(notice.settings)
      Locale.setDevice(notice.settings.locale)
      TimeZone.setDevice(notice.settings.timeZone)
    }
  }
}
