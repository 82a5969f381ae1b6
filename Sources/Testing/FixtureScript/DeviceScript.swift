// SPDX-License-Identifier: Apache-2.0

import Foundation
import Network
import Security
import Synchronization

// The instructions for the keychain and the network.

extension Script {
  /// `add GROUP ACCOUNT TEXT`, `read ACCOUNT`, `delete ACCOUNT`. The group `default` is that of the process.
  static func keychain(_ words: [String]) {
    var query = [kSecClass as String: kSecClassGenericPassword, kSecAttrService as String: "trial"] as [String: Any]
    switch words[0] {
    case "add":
      query[kSecAttrAccount as String] = words[2]
      query[kSecValueData as String] = Data(words[3].utf8)
      if words[1] != "default" { query[kSecAttrAccessGroup as String] = words[1] }
      print("add \(words[2]): \(SecItemAdd(query as CFDictionary, nil))")
    case "read":
      query[kSecAttrAccount as String] = words[1]
      query[kSecReturnData as String] = kCFBooleanTrue as Any
      query[kSecReturnAttributes as String] = true
      query[kSecMatchLimit as String] = kSecMatchLimitOne
      var item: CFTypeRef?
      let status = SecItemCopyMatching(query as CFDictionary, &item)
      guard status == errSecSuccess, let found = item as? [String: Any] else {
        return print("read \(words[1]): \(status)")
      }
      let text = (found[kSecValueData as String] as? Data).map { String(decoding: $0, as: UTF8.self) }
      print(
        "read \(words[1]): \(text ?? "no data") in \(found[kSecAttrAccessGroup as String] as? String ?? "no group")")
    default:
      query[kSecAttrAccount as String] = words[1]
      print("delete \(words[1]): \(SecItemDelete(query as CFDictionary))")
    }
  }
}

/// Prints paths of the network.
enum NetworkPath {
  /// Kept, because a monitor ends with its last reference.
  private static let monitor = NWPathMonitor()

  static func text(_ path: NWPath) -> String {
    let names = path.availableInterfaces.map { "\($0.type)" }
    return (["\(path.status)"] + names + (path.isExpensive ? ["expensive"] : []) + (path.isConstrained ? ["low"] : []))
      .joined(separator: " ")
  }

  /// Prints the path now, and each other one while the process runs.
  static func follow() {
    monitor.pathUpdateHandler = { print("path changed: \(text($0))") }
    monitor.start(queue: .main)
  }
}
