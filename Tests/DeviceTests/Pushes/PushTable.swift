// SPDX-License-Identifier: Apache-2.0

import Archive
import Foundation
import Messages

@testable import Device
@testable import DeviceRules

/// The processes of the tests of pushes.
enum PushSamples {
  static let app = Address.app(device, "com.example.Coffee")
  static let widget = Address.widgetExtension(device, "com.example.Coffee.Widget")
  static let other = Address.widgetExtension(device, "com.example.Coffee.Other")
}

private let app = PushSamples.app
private let widget = PushSamples.widget
private let other = PushSamples.other
let device = "phone"
let coffee = "com.example.Coffee"
let widgetsKey = TokenKey(coffee, .widgets)
let appKey = TokenKey(coffee, .app)

func controlKey(_ placement: Int) -> TokenKey { TokenKey(coffee, .control(placement)) }

func products(_ environment: PushEnvironment? = .development) -> [PushProduct] {
  [app, widget, other].map { PushProduct(address: $0, app: coffee, environment: environment) }
}

func placement(_ id: Int, _ kind: String = "Cups", in address: Address = PushSamples.widget) -> Placement {
  Placement(
    id: id, bundle: address.bundleIdentifier ?? "", kind: kind, family: .systemSmall, location: .homeScreen)
}

/// Returns the widgets of the first extension and of the other one.
func widgets(_ ids: [Int], others: [Int] = []) -> [String: PushWidgets] {
  var all = ["com.example.Coffee.Widget": PushWidgets(handlers: ["Handler"], placements: ids.map { placement($0) })]
  if !others.isEmpty {
    all["com.example.Coffee.Other"] = PushWidgets(
      handlers: ["OtherHandler"], placements: others.map { placement($0, "Tea", in: other) })
  }
  return all
}

/// Returns these controls of the first extension.
func controls(_ ids: [Int]) -> [String: PushWidgets] {
  let placed = ids.map {
    Placement(id: $0, bundle: "com.example.Coffee.Widget", kind: "Door", family: .control, location: .controlCenter)
  }
  return ["com.example.Coffee.Widget": PushWidgets(controlHandlers: ["Doors"], controls: placed)]
}

func notification(
  _ number: Int, type: PushType = .widgets, payload: String = #"{"aps":{"content-changed":true}}"#,
  use: PushTokenUse? = nil, acceptedAt: Date = Date(timeIntervalSince1970: 1_000_000_000), expiration: Date? = nil
) -> PushedNotification {
  PushedNotification(
    uniqueID: .push(number), apnsID: UUID.push(number).uuidString,
    subject: PushSubject(device: device, bundle: coffee, use: use ?? (type == .widgets ? .widgets : .app)),
    type: type, priority: 10, collapseID: nil, payload: payload, acceptedAt: acceptedAt,
    expiration: expiration, isFromStorage: false)
}

extension DeviceRequest {
  var words: String {
    switch self {
    case .process(let action): action.words
    case .reload(let push, _): "reload \(push.short)"
    case .offer(let push, _, let wakes): "offer \(push.short)\(wakes ? ", waking" : "")"
    case .activity(let notification): "activity \(notification.uniqueID.short)"
    case .activityToken(let key, let token): "token of \(key.use.rawValue): \(token ?? "none")"
    // No concern of pushes asks for them.
    default: "\(self)"
    }
  }
}

extension ProcessAction {
  var words: String {
    switch self {
    case .want(let address, _, _): "want \(address.short)"
    case .release(let address, _): "release \(address.short)"
    case .halt(let address, _): "halt \(address.short)"
    case .evict(let address, _, _): "evict \(address.short)"
    }
  }
}

extension TokenStateMachine.Action {
  var words: String {
    switch self {
    case .asks(let request): request.words
    case .tokensChanged: "tokens"
    case .notify(let address, .widgets(let call)): "tell \(address.short) \(call.token) \(call.widgets.map(\.id))"
    case .notify(let address, .controls(let call)):
      "tell \(address.short) \(call.controls.map { "\($0.placement.id) \($0.token)" })"
    case .notifyApp(_, _, let token): "tell app \(token)"
    case .registered: "registered"
    case .notRegistered: "not registered"
    case .withheld(let notice): "withheld \(notice.address.short) \(notice.reason.rawValue)"
    }
  }
}

extension NotificationStateMachine.Action {
  var words: String {
    switch self {
    case .asks(let request): request.words
    case .step(let id, let name, let detail): "\(id.short) \(name.rawValue)\(detail.map { ": \($0)" } ?? "")"
    case .ask(let address, let notification): "ask \(address.short) \(notification.uniqueID.short)"
    }
  }
}
