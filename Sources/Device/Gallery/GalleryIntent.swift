package import Conversations

/// What Gallery asks of the rest of the host, in order.
package enum GalleryIntent: Sendable, Equatable {
  /// What a person sees is another, and what it was.
  case screen(DeviceScreen, before: DeviceScreen)
  /// A setting of the system changed for which it asks all widgets anew.
  case systemChanged(String)
  /// The app is in front no longer.
  case background(app: String)
  /// The device is started anew: nothing runs on it.
  case restarted
  /// The database of the room cannot be written any longer: the host must not go on.
  case broken(String)
}
