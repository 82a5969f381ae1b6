// SPDX-License-Identifier: Apache-2.0

import Foundation

/// `NSLocalizedString` and `Bundle.localizedString(forKey:value:table:)`. `CBundle` calls it in the place of
/// CoreFoundation's function. Source of the rules: Foundation, `localizedString(forKey:value:table:)`.
///
/// - Returns: the text of the table in the device's language, else the value, or the key for an empty value.
@_cdecl("bundle_localized_string") func copyLocalizedString(
  _ folder: UnsafeRawPointer?, _ key: UnsafeRawPointer?, _ value: UnsafeRawPointer?, _ table: UnsafeRawPointer?
) -> UnsafeRawPointer {
  let url = folder.map { Unmanaged<NSURL>.fromOpaque($0).takeUnretainedValue() as URL }
  let bundle = url.flatMap { $0.standardizedFileURL == Bundle.main.bundleURL.standardizedFileURL ? nil : $0 }
  let (key, value, name) = (text(key) ?? "", text(value) ?? "", text(table) ?? "")
  let translation = StringTables.shared.translation(
    of: key, table: name.isEmpty ? "Localizable" : name, bundle: bundle.flatMap(Bundle.init(url:)), locale: .device,
    count: nil)
  let found = translation ?? (value.isEmpty ? key : value)
  return UnsafeRawPointer(Unmanaged.passRetained(NSString(string: found)).toOpaque())
}

private func text(_ pointer: UnsafeRawPointer?) -> String? {
  pointer.map {
    String._unconditionallyBridgeFromObjectiveC(Unmanaged<NSString>.fromOpaque($0).takeUnretainedValue())
  }
}
