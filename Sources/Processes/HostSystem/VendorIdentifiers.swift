// SPDX-License-Identifier: Apache-2.0

import Device
import Foundation

/// The UUIDs by which the apps of a vendor recognise this device. The device keeps them, so that an update of an app
/// changes none. A vendor without an app loses its identifier.
struct VendorIdentifiers {
  /// UUIDs as text, by vendor.
  private let identifiers: [String: String]

  /// Reads the identifiers of the former host, and makes missing ones.
  ///
  /// - Parameter apps: the bundle identifiers of all apps of the device.
  init(of apps: [String], in store: DeviceStore) throws {
    let stored = try store.setting([String: String].self, named: DeviceStore.vendors) ?? [:]
    var identifiers: [String: String] = [:]
    for vendor in apps.map(Self.vendor) where identifiers[vendor] == nil {
      identifiers[vendor] = stored[vendor] ?? UUID().uuidString
    }
    if identifiers != stored { try store.set(identifiers, named: DeviceStore.vendors) }
    self.identifiers = identifiers
  }

  /// The identifier for an app, and for the extensions that it contains.
  subscript(app bundle: String) -> String? { identifiers[Self.vendor(of: bundle)] }

  /// The vendor of an app that is not from the App Store: its bundle identifier without the last component, or all of
  /// one that has a single component. Source: `UIDevice.identifierForVendor`.
  private static func vendor(of bundle: String) -> String {
    let components = bundle.split(separator: ".")
    return components.count > 1 ? components.dropLast().joined(separator: ".") : bundle
  }
}
