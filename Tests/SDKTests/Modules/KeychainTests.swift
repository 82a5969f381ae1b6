// SPDX-License-Identifier: Apache-2.0

import FidelityRules
import Foundation
import Messages
import Testing

@testable import AuthorRuntime
@testable import SecurityAPI

/// An app and its extension on a device with a keychain.
private struct KeychainModel {
  static let shared = "ABCDE12345.com.example.Shared"
  let app: SDKFixture
  let widget: SDKFixture
  let folder: String

  init() throws {
    app = try SDKFixture(SDKFixture.app)
    widget = try SDKFixture(SDKFixture.widget)
    folder = app.folder.path + "/keychain"
    for (fixture, named) in [(app, ["ABCDE12345.com.example.Mine", Self.shared]), (widget, [Self.shared])] {
      let environment = [
        KeychainVariables.folder: folder, KeychainVariables.groups: named.joined(separator: ","),
      ]
      _ = fixture.process.part(Keychain.self) { Keychain($0, environment) }
    }
  }
}

private func item(_ account: String, _ more: [String: Any] = [:]) -> CFDictionary {
  let query: [String: Any] = [
    kSecClass as String: kSecClassGenericPassword, kSecAttrService as String: "trial",
    kSecAttrAccount as String: account,
  ]
  return query.merging(more) { $1 } as CFDictionary
}

private func secret(_ text: String) -> [String: Any] { [kSecValueData as String: Data(text.utf8)] }

/// The data of an item; `nil` when there is no such item.
private func data(_ account: String, _ more: [String: Any] = [:]) -> String? {
  var found: CFTypeRef?
  let status = SecItemCopyMatching(item(account, more.merging([kSecReturnData: true]) { $1 }), &found)
  guard status == errSecSuccess else { return nil }
  return (found as? Data).map { String(decoding: $0, as: UTF8.self) }
}

@Suite(.timeLimit(.minutes(1))) struct `The keychain of a device` {
  private let model: KeychainModel
  private var app: HostedProcess { model.app.process }
  private var widget: HostedProcess { model.widget.process }

  init() throws { model = try KeychainModel() }

  // MARK: Access groups

  @Test(.rule("KEYCHAIN-01")) func `an item is shared in the access groups that both processes have, and in no other`()
  {
    app.asCurrent {
      #expect(
        SecItemAdd(item("shared", secret("a").merging([kSecAttrAccessGroup: KeychainModel.shared]) { $1 }), nil) == 0)
      #expect(SecItemAdd(item("group", secret("b").merging([kSecAttrAccessGroup: SDKFixture.group]) { $1 }), nil) == 0)
      #expect(SecItemAdd(item("default", secret("c")), nil) == 0)
      #expect(SecItemAdd(item("own", secret("d").merging([kSecAttrAccessGroup: "com.example.App"]) { $1 }), nil) == 0)
    }
    widget.asCurrent {
      #expect(data("shared") == "a" && data("group") == "b")
      #expect(data("default") == nil && data("own") == nil)
    }
    app.asCurrent { #expect(data("default") == "c" && data("own") == "d") }
  }

  @Test(
    .rule("KEYCHAIN-01"),
    arguments: [
      ([], ["WIDGETLAB0.com.a", "group.a"]),
      (["com.shared"], ["com.shared", "WIDGETLAB0.com.a", "group.a"]),
      (["ABCDE12345.com.shared"], ["ABCDE12345.com.shared", "ABCDE12345.com.a", "group.a"]),
      (["ABCDE12345.com.a", "X.b"], ["ABCDE12345.com.a", "X.b", "group.a"]),
    ] as [([String], [String])])
  func `the groups are those of the entitlement, that of the bundle, and the app groups`(
    named: [String], expected: [String]
  ) {
    let keychain = Keychain(in: "/nowhere", bundle: "com.a", named: named, appGroups: ["group.a"])
    #expect(keychain.groups.map(\.name) == expected)
  }

  @Test(.rule("KEYCHAIN-01")) func `a process that is no member of an access group gets -34018 for each operation`() {
    widget.asCurrent {
      let foreign = item("a", [kSecAttrAccessGroup: "ABCDE12345.com.example.Mine"])
      #expect(SecItemAdd(foreign, nil) == errSecMissingEntitlement)
      #expect(SecItemCopyMatching(foreign, nil) == errSecMissingEntitlement)
      #expect(SecItemUpdate(foreign, [kSecAttrLabel: "x"]) == errSecMissingEntitlement)
      #expect(SecItemDelete(foreign) == errSecMissingEntitlement)
    }
  }

  // MARK: Items

  @Test(.rule("KEYCHAIN-02")) func `an item is identified by class, account, service, group and synchronisation`() {
    app.asCurrent {
      #expect(SecItemAdd(item("a", secret("1")), nil) == errSecSuccess)
      #expect(SecItemAdd(item("a", secret("2").merging([kSecAttrLabel: "other"]) { $1 }), nil) == errSecDuplicateItem)
      #expect(SecItemAdd(item("a", [kSecAttrService: "other"]), nil) == errSecSuccess)
      #expect(SecItemAdd(item("a", [kSecAttrSynchronizable: true]), nil) == errSecSuccess)
      #expect(SecItemAdd(item("a", [kSecAttrAccessGroup: KeychainModel.shared]), nil) == errSecSuccess)
      #expect(data("a") == "1")
      // Without an account and a service they are empty.
      #expect(SecItemAdd([kSecClass: kSecClassGenericPassword], nil) == errSecSuccess)
      #expect(SecItemAdd(item("", [kSecAttrService: ""]), nil) == errSecDuplicateItem)
      let page: [String: Any] = [kSecClass: kSecClassInternetPassword, kSecAttrServer: "a.example", kSecAttrPort: 443]
      #expect(SecItemAdd(page as CFDictionary, nil) == errSecSuccess)
      #expect(SecItemAdd(page as CFDictionary, nil) == errSecDuplicateItem)
      #expect(SecItemAdd(page.merging([kSecAttrPort: 80]) { $1 } as CFDictionary, nil) == errSecSuccess)
    }
  }

  @Test(.rule("KEYCHAIN-02")) func `a search finds items that are synchronised only if it asks for them`() {
    app.asCurrent {
      SecItemAdd(item("a", secret("here").merging([kSecAttrSynchronizable: false]) { $1 }), nil)
      SecItemAdd(item("b", secret("there").merging([kSecAttrSynchronizable: kCFBooleanTrue!]) { $1 }), nil)
      #expect(data("a") == "here" && data("b") == nil)
      #expect(data("b", [kSecAttrSynchronizable: true]) == "there")
      #expect(data("b", [kSecAttrSynchronizable: kSecAttrSynchronizableAny]) == "there")
      #expect(SecItemDelete(item("b")) == errSecItemNotFound)
      #expect(SecItemDelete(item("b", [kSecAttrSynchronizable: kSecAttrSynchronizableAny])) == errSecSuccess)
    }
  }

  @Test(.rule("KEYCHAIN-03")) func `another process instance finds an item, with its attributes`() throws {
    app.asCurrent { _ = SecItemAdd(item("a", secret("1").merging([kSecAttrGeneric: Data([9])]) { $1 }), nil) }
    let next = try SDKFixture(SDKFixture.app)
    let environment = [KeychainVariables.folder: model.folder, KeychainVariables.groups: "com.example.Mine"]
    _ = next.process.part(Keychain.self) { Keychain($0, environment) }
    try next.process.asCurrent {
      var foundItem: CFTypeRef?
      #expect(SecItemCopyMatching(item("a", [kSecReturnAttributes: true, kSecReturnData: true]), &foundItem) == 0)
      let attributes = try #require(foundItem as? [String: Any])
      #expect(attributes[kSecClass] as? String == kSecClassGenericPassword)
      #expect(attributes[kSecAttrAccount] as? String == "a" && attributes[kSecAttrService] as? String == "trial")
      #expect(attributes[kSecAttrGeneric] as? Data == Data([9]))
      #expect(attributes[kSecValueData] as? Data == Data("1".utf8))
      #expect(attributes[kSecAttrAccessible] as? String == kSecAttrAccessibleWhenUnlocked)
      #expect(attributes[kSecAttrSynchronizable] as? Bool == false)
      #expect(attributes[kSecAttrAccessGroup] as? String == "com.example.Mine")
      #expect(attributes[kSecAttrCreationDate] is Date && attributes[kSecAttrModificationDate] is Date)
      // Apple's objects are those of Foundation, and some authors convert to them.
      #expect((foundItem as? NSDictionary)?[kSecValueData] as? Data == Data("1".utf8))
    }
  }

  @Test(.rule("KEYCHAIN-03"))
  func `processes that add at once lose no item, and one of several that add the same item succeeds`() async {
    let (app, widget) = (app, widget)
    let successes = await withTaskGroup(of: Bool.self) { group in
      for number in 0..<40 {
        let process = number % 2 == 0 ? app : widget
        group.addTask {
          process.asCurrent {
            let shared = [kSecAttrAccessGroup as String: KeychainModel.shared]
            #expect(SecItemAdd(item("own \(number)", shared), nil) == errSecSuccess)
            return SecItemAdd(item("same", shared), nil) == errSecSuccess
          }
        }
      }
      return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
    }
    widget.asCurrent {
      var found: CFTypeRef?
      let all: [String: Any] = [
        kSecClass: kSecClassGenericPassword, kSecMatchLimit: kSecMatchLimitAll, kSecReturnAttributes: true,
      ]
      #expect(SecItemCopyMatching(all as CFDictionary, &found) == errSecSuccess)
      #expect((found as? [[String: Any]])?.count == 41)
    }
    #expect(successes == 1)
  }

  @Test(.rule("KEYCHAIN-03")) func `a file that cannot be read is an error, and remains`() throws {
    try app.asCurrent {
      SecItemAdd(item("a"), nil)
      let file = URL(filePath: "\(model.folder)/com.example.Mine/items")
      try Data("damaged".utf8).write(to: file)
      #expect(SecItemCopyMatching(item("a"), nil) == errSecDecode)
      #expect(SecItemAdd(item("b"), nil) == errSecDecode)
      #expect(try Data(contentsOf: file) == Data("damaged".utf8))
    }
  }

  @Test(.rule("KEYCHAIN-03")) func `a suspended writer stops other writers of its group for a time, and no reader`()
    throws
  {
    let folder = "\(model.folder)/com.example.Mine"
    #expect(errSecNotAvailable == -25_291 && KeychainFile(folder: folder).patience == .seconds(5))
    let file = KeychainFile(folder: folder, patience: .zero)
    app.asCurrent { _ = SecItemAdd(item("a", secret("1")), nil) }
    let descriptor = try FolderLock.take(folder, patience: .zero)
    let failure = #expect(throws: KeychainFailure.self) { try file.change { $0 = [] } }
    #expect(failure?.status == errSecNotAvailable)
    app.asCurrent { #expect(data("a") == "1") }
    // The end of a process does so too.
    close(descriptor)
    try file.change { $0 = [] }
    app.asCurrent { #expect(data("a") == nil) }
  }

  // MARK: Searches

  @Test(.rule("KEYCHAIN-04")) func `a query returns data, a reference, a dictionary, or an array of them`() throws {
    try app.asCurrent {
      for account in ["a", "b", "c"] { SecItemAdd(item(account, secret(account)), nil) }
      func found(_ more: [String: Any]) -> AnyObject? {
        var result: AnyObject?
        let all: [String: Any] = [kSecClass as String: kSecClassGenericPassword]
        return SecItemCopyMatching(all.merging(more) { $1 } as CFDictionary, &result) == 0 ? result : nil
      }
      #expect(found([:]) == nil)
      #expect(found([kSecReturnData: true]) as? Data == Data("a".utf8))
      #expect(
        found([kSecReturnData: true, kSecMatchLimit: kSecMatchLimitAll]) as? [Data]
          == ["a", "b", "c"].map { Data($0.utf8) })
      #expect((found([kSecReturnAttributes: true, kSecMatchLimit: 2]) as? [[String: Any]])?.count == 2)
      #expect(found([kSecReturnData: false, kSecReturnAttributes: true]) is NSDictionary)
      let pair = try #require(found([kSecReturnData: true, kSecReturnPersistentRef: true]) as? [String: Any])
      #expect(Set(pair.keys) == [kSecValueData, kSecValuePersistentRef])
      #expect(found([kSecAttrService: "other", kSecReturnData: true]) == nil)
      let missing = [kSecClass: kSecClassInternetPassword] as CFDictionary
      #expect(SecItemCopyMatching(missing, nil) == errSecItemNotFound)
    }
  }

  @Test(.rule("KEYCHAIN-04")) func `a persistent reference finds and deletes its item, alone or in a list`() throws {
    try app.asCurrent {
      var references: [Data] = []
      for account in ["a", "b", "c"] {
        var result: CFTypeRef?
        #expect(
          SecItemAdd(item(account, secret(account).merging([kSecReturnPersistentRef: true]) { $1 }), &result) == 0)
        references.append(try #require(result as? Data))
      }
      var result: CFTypeRef?
      let one: [String: Any] = [kSecValuePersistentRef: references[1], kSecReturnData: true]
      #expect(SecItemCopyMatching(one as CFDictionary, &result) == errSecSuccess)
      #expect(result as? Data == Data("b".utf8))
      #expect(SecItemCopyMatching(one.merging([kSecAttrAccount: "b"]) { $1 } as CFDictionary, &result) == errSecParam)
      let list: [String: Any] = [
        kSecClass as String: kSecClassGenericPassword, kSecMatchItemList as String: [references[0], references[2]],
      ]
      #expect(SecItemDelete(list as CFDictionary) == errSecSuccess)
      #expect(data("a") == nil && data("b") == "b" && data("c") == nil)
      #expect(SecItemCopyMatching([kSecValuePersistentRef: references[0]], nil) == errSecItemNotFound)
      #expect(SecItemCopyMatching([kSecValuePersistentRef: Data([1])], nil) == errSecParam)
    }
  }

  // MARK: Changes

  @Test(.rule("KEYCHAIN-05")) func `an update changes all items that the query means, and keeps each one distinct`() {
    app.asCurrent {
      for account in ["a", "b"] { SecItemAdd(item(account, secret(account)), nil) }
      let both: [String: Any] = [kSecClass: kSecClassGenericPassword, kSecAttrService: "trial"]
      #expect(SecItemUpdate(both as CFDictionary, [kSecAttrComment: "new", kSecValueData: Data("x".utf8)]) == 0)
      #expect(data("a", [kSecAttrComment: "new"]) == "x" && data("b", [kSecAttrComment: "new"]) == "x")
      #expect(SecItemUpdate(item("a"), [kSecAttrAccount: "b"]) == errSecDuplicateItem)
      #expect(SecItemUpdate(item("a"), [kSecAttrAccount: "c"]) == errSecSuccess)
      #expect(data("a") == nil && data("b") == "x" && data("c") == "x")
      #expect(SecItemUpdate(item("a"), [kSecAttrComment: "new"]) == errSecItemNotFound)
      #expect(SecItemUpdate(item("b"), [kSecAttrAccessGroup: KeychainModel.shared]) == errSecUnimplemented)
      #expect(SecItemUpdate(item("b"), [kSecAttrAccessGroup: "ABCDE12345.com.example.Mine"]) == errSecSuccess)
      #expect(SecItemDelete(both as CFDictionary) == errSecSuccess)
      #expect(SecItemDelete(both as CFDictionary) == errSecItemNotFound)
    }
  }

  @Test(.rule("KEYCHAIN-05")) func `an update that would make two items the same changes none of them`() {
    app.asCurrent {
      for account in ["a", "b"] { SecItemAdd(item(account, secret(account)), nil) }
      let both: [String: Any] = [kSecClass: kSecClassGenericPassword, kSecAttrService: "trial"]
      let same: [CFString: Any] = [kSecAttrAccount: "c", kSecValueData: Data("x".utf8)]
      #expect(SecItemUpdate(both as CFDictionary, same as CFDictionary) == errSecDuplicateItem)
      #expect(data("a") == "a" && data("b") == "b" && data("c") == nil)
    }
  }

  @Test(.rule("KEYCHAIN-05")) func `a key is stored by its tag`() {
    app.asCurrent {
      let key: [CFString: Any] = [kSecClass: kSecClassKey, kSecAttrApplicationTag: "token", kSecValueData: Data([4])]
      #expect(SecItemAdd(key as CFDictionary, nil) == errSecSuccess)
      #expect(SecItemAdd(key as CFDictionary, nil) == errSecDuplicateItem)
      var found: CFTypeRef?
      let query = [kSecClass: kSecClassKey, kSecAttrApplicationTag: "token", kSecReturnData: true] as CFDictionary
      #expect(SecItemCopyMatching(query, &found) == errSecSuccess)
      #expect(found as? Data == Data([4]))
    }
  }

  // MARK: Errors

  @Test(
    .rule("KEYCHAIN-06"),
    arguments: [
      ("no class", [kSecAttrAccount: "a"], errSecParam), ("an unknown class", [kSecClass: "nope"], errSecNoSuchClass),
      ("another type", [kSecClass: 1], errSecParam), ("an unknown key", ["colour": "red"], errSecParam),
      ("an attribute of another class", [kSecAttrServer: "a.example"], errSecNoSuchAttr),
      ("a value of another type", [kSecAttrLabel: ["a"]], errSecParam),
      ("an unknown accessibility", [kSecAttrAccessible: "always"], errSecParam),
      ("a flag that is none", [kSecReturnData: "yes"], errSecParam),
      ("no number of items", [kSecMatchLimit: 0], errSecParam),
      ("data that are none", [kSecValueData: "text"], errSecParam),
      ("a reference to an item", [kSecReturnRef: true], errSecUnimplemented),
      ("a certificate", [kSecClass: kSecClassCertificate], errSecItemNotFound),
      ("Data without a place for it", [kSecReturnData: true], errSecParam),
    ] as [(String, [String: any Sendable], OSStatus)])
  func `a query that is not valid has a code`(_ name: String, keys: [String: any Sendable], code: OSStatus) {
    app.asCurrent {
      let base: [String: Any] = name == "no class" ? [:] : [kSecClass as String: kSecClassGenericPassword]
      #expect(SecItemCopyMatching(base.merging(keys) { $1 } as CFDictionary, nil) == code)
    }
  }

  @Test(.rule("KEYCHAIN-06")) func `what an operation cannot use is refused`() {
    #expect(errSecParam == -50 && errSecNoSuchAttr == -25_303 && errSecUnimplemented == -4)
    app.asCurrent {
      SecItemAdd(item("a"), nil)
      #expect(SecItemDelete(item("a", [kSecMatchLimit: kSecMatchLimitOne])) == errSecParam)
      #expect(SecItemUpdate(item("a", [kSecReturnData: true]), [kSecAttrLabel: "x"]) == errSecParam)
      #expect(SecItemUpdate(item("a"), [kSecClass: kSecClassKey]) == errSecParam)
      #expect(SecItemAdd([kSecClass: kSecClassCertificate], nil) == errSecUnimplemented)
      #expect(SecItemDelete([kSecClass: kSecClassIdentity]) == errSecItemNotFound)
    }
  }

  @Test(.rule("KEYCHAIN-06", "DIAGNOSIS-11")) func `what is not simulated is reported once`() async throws {
    try await model.app.begin()
    app.asCurrent {
      for account in ["a", "b"] { SecItemAdd(item(account, [kSecAttrSynchronizable: true]), nil) }
      SecItemCopyMatching(item("a", [kSecReturnRef: true]), nil)
    }
    let reported = await model.app.sent(FaultNoticed.self).filter { $0.fault == .notSimulated }.map(\.subject)
    #expect(reported == ["kSecAttrSynchronizable", "kSecReturnRef"])
  }

  @Test func `a code has a text, and random bytes differ`() {
    #expect(SecCopyErrorMessageString(errSecItemNotFound, nil) as String? != nil)
    #expect(SecCopyErrorMessageString(1, nil) == nil)
    var (one, other) = ([UInt8](repeating: 0, count: 32), [UInt8](repeating: 0, count: 32))
    #expect(SecRandomCopyBytes(kSecRandomDefault, one.count, &one) == errSecSuccess)
    #expect(SecRandomCopyBytes(kSecRandomDefault, other.count, &other) == errSecSuccess)
    #expect(one != other)
    #expect(SecRandomCopyBytes(kSecRandomDefault, -1, &one) == errSecParam)
  }

  @Test func `the functions have the types that authors store`() {
    let copy: @Sendable (CFDictionary, UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus = SecItemCopyMatching
    var result: AnyObject?
    app.asCurrent {
      SecItemAdd(item("a", secret("x")), nil)
      #expect(copy(item("a", [kSecReturnData: true]), &result) == errSecSuccess)
    }
    #expect(result as? Data == Data("x".utf8))
    let own: @Sendable (CFDictionary, UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus = { _, result in
      result?.pointee = Data([1]) as CFTypeRef
      return errSecSuccess
    }
    #expect(own([:], &result) == errSecSuccess)
    #expect(result as? Data == Data([1]))
  }
}
