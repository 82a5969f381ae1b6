// SPDX-License-Identifier: Apache-2.0

package import Messages

/// What Gallery requests from the rest of the host, in order.
package enum GalleryOutput: Sendable, Equatable {
  /// Wait for the outcome of a launch. Call `launchFailed` if it fails within the time.
  case awaitLaunch(Address, within: Duration)
  /// A stack turned by itself: another widget is visible.
  case stackTurned
  /// The state of the screen changed from `before`.
  case screen(DeviceScreen, before: DeviceScreen)
  /// A system setting changed for which the system reloads all widgets.
  case systemChanged(String)
  /// The app left the foreground.
  case background(app: String)
  /// The device restarts: its processes must end.
  case restarted
  /// The database can no longer be written: the host must stop.
  case broken(String)
}
