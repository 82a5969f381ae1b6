// SPDX-License-Identifier: Apache-2.0

/// Why an asset of a catalog cannot be used. Definite.
package enum AssetFault: Error, Hashable, CustomStringConvertible {
  /// No catalog has an asset of this kind and name.
  case missing
  /// The set is there, and its `Contents.json` cannot be used, for this reason.
  case contents(String)
  /// The set has no file or colour for this device.
  case noVariant
  /// The file of a variant cannot be used, for this reason.
  case file(String, reason: String)

  package var description: String {
    switch self {
    case .missing: "no asset catalog of the bundle has it"
    case .contents(let reason): "its Contents.json cannot be used: \(reason)"
    case .noVariant: "its set has nothing for this device"
    case .file(let name, let reason): "\(name) cannot be used: \(reason)"
    }
  }
}
