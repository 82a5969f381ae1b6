// SPDX-License-Identifier: Apache-2.0

import AuthorRuntime
@_exported public import UIKit

/// A slider for the volume. Source: `MediaPlayer.MPVolumeView`. A device here has no speaker, so the view has no slider:
/// the diagnosis `not-simulated` names it.
@MainActor open class MPVolumeView: UIView {
  open var showsVolumeSlider = true
  open var showsRouteButton = false

  public required nonisolated init() {
    super.init()
    HostedProcess.current?.noticeUnsimulated(
      "MPVolumeView", "a device has no speaker: the view has no slider, and no volume is set")
  }
}
