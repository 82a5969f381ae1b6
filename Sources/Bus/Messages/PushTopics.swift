// SPDX-License-Identifier: Apache-2.0

// Topics of push types and of device tokens.

extension PushType {
  /// The suffix that follows the bundle identifier in the topic of this type. Source: Apple's *Sending notification
  /// requests to APNs*.
  package var topicSuffix: String {
    switch self {
    case .alert, .background, .mdm: ""
    case .complication: ".complication"
    case .controls: ".push-type.controls"
    case .fileprovider: ".pushkit.fileprovider"
    case .liveactivity: ".push-type.liveactivity"
    case .location: ".location-query"
    case .pushtotalk: ".voip-ptt"
    case .voip: ".voip"
    case .widgets: ".push-type.widgets"
    }
  }
}

extension PushTokenUse {
  /// The push type that determines the topic of a token of this use.
  package var topicType: PushType {
    switch self {
    case .app: .alert
    case .widgets: .widgets
    case .control: .controls
    case .liveActivity, .liveActivityStarts, .fleet(.liveActivityStart): .liveactivity
    case .fleet(.complication): .complication
    case .fleet(.fileprovider): .fileprovider
    case .fleet(.location): .location
    case .fleet(.mdm): .mdm
    case .fleet(.pushtotalk): .pushtotalk
    case .fleet(.voip): .voip
    }
  }

  /// The topic of a token of this use.
  package func topic(ofBundle bundle: String) -> String { bundle + topicType.topicSuffix }
}
