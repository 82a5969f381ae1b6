// SPDX-License-Identifier: Apache-2.0

import AuthorProjects
import Foundation
import Testing

/// A plan with a file of the author.
private func plan(_ text: String, widget: String = "") throws -> PackagePlan {
  var project = SmallProject()
  project.files.texts["/p/Shared/Model.swift"] = text
  project.files.texts["/p/App/Widget/Weather.swift"]? += widget
  return try project.plan(modules: ["Combine", "Security", "SwiftUI", "UIKit", "WidgetKit"])
}

@Suite struct `Unused imports` {
  private func view(_ plan: PackagePlan) -> String? {
    guard case .view(let data, _) = plan.items["Sources/Weather_Widget/Shared/Model.view.swift"] else { return nil }
    let text = String(decoding: data, as: UTF8.self)
    return text.firstIndex(of: "\n").map { String(text[text.index(after: $0)...]) }
  }

  @Test(arguments: [
    (
      "CoreData", "import SwiftUI\nimport CoreData // old\nlet a = 1\n",
      "import SwiftUI\nimport Foundation // old\nlet a = 1\n"
    ),
    ("WebKit", "import WebKit\nlet a = UIView()\n", "import UIKit\nlet a = UIView()\n"),
    ("HealthKit", "@preconcurrency import HealthKit\n// HKUnit\n", "@preconcurrency import Foundation\n// HKUnit\n"),
    ("StoreKit", "import StoreKit\nlet a = \"Product\"\n", "import UIKit\nlet a = \"Product\"\n"),
    (
      "ClockKit", "import ClockKit\nlet a = CLKit.a\n#if os(iOS)\n#endif\n",
      "import UIKit\nlet a = CLKit.a\n#if true\n#endif\n"
    ),
    (
      "HealthKit", "import HealthKit\nlet a = MyHKUnit.hkUnit + HKey.a\n",
      "import Foundation\nlet a = MyHKUnit.hkUnit + HKey.a\n"
    ),
  ])
  func `an import of which nothing is used is replaced in a view by what the framework exports`(
    module: String, text: String, expected: String
  ) throws {
    let plan = try plan(text)
    #expect(plan.missing.isEmpty)
    #expect(view(plan) == expected)
    #expect(plan.notes.contains(ProjectNote(module, "1 import of it is left out: nothing of it is used")))
  }

  @Test(arguments: [
    ("CoreData", "class A: NSManagedObject {}"), ("CoreData", "@FetchRequest var a: A"),
    ("CoreData", "let a = \\.managedObjectContext"), ("CoreData", "var a: NSFetchedResultsController<A>"),
    ("HealthKit", "let a = \"\\(HKUnit.count())\""), ("StoreKit", "for await a in Transaction.updates {}"),
    ("AVFoundation", "let a = kCMTimeZero"), ("CloudKit", "CKFetch(a, nil)"), ("Accelerate", "vDSP_vadd(a)"),
    ("SystemConfiguration", "#if canImport(A)\nlet a: SCNetworkReachability\n#endif"),
    // Nothing is known about its names.
    ("RealityKit", "let a = 1"),
  ])
  func `a file that uses a name of a framework is refused`(module: String, code: String) throws {
    let plan = try plan("import SwiftUI\nimport \(module)\n\(code)\n")
    let missing = PackagePlan.MissingModule(module: module, path: "/p/Shared/Model.swift", line: 2)
    #expect(plan.missing["Weather Widget"] == [missing])
    #expect(!plan.notes.contains { $0.subject == module })
  }

  @Test(arguments: ["import class CoreData.NSManagedObject", "import CoreData; import Nothing"])
  func `other forms of an import are refused`(line: String) throws {
    let missing = try plan("\(line)\n").missing["Weather Widget"]
    #expect(missing?.first?.module == "CoreData")
  }

  @Test func `a module is named once, with the number of its imports`() throws {
    let plan = try plan("import CoreData\n", widget: "import CoreData\n")
    let reasons = plan.notes.filter { $0.subject == "CoreData" }.map(\.reason)
    #expect(reasons == ["2 imports of it are left out: nothing of it is used"])
  }

  @Test func `a module that another file uses is reported as missing only`() throws {
    let plan = try plan("import CoreData\n", widget: "import CoreData\nclass A: NSManagedObject {}\n")
    #expect(plan.missing["Weather Widget"]?.map(\.path) == ["/p/App/Widget/Weather.swift"])
    #expect(!plan.notes.contains { $0.subject == "CoreData" })
  }
}

@Suite struct `The order of numbers` {
  private func view(_ text: String) throws -> String? {
    guard case .view(let data, _) = try plan(text).items["Sources/Weather_Widget/Shared/Model.view.swift"] else {
      return nil
    }
    return String(decoding: data.drop { $0 != UInt8(ascii: "\n") }.dropFirst(), as: UTF8.self)
  }

  @Test(arguments: [
    (
      "func < (lhs: NSNumber, rhs: NSNumber) -> Bool {\n  { true }()\n}\nlet a = 1\n",
      "extension NSNumber { static func < (lhs: NSNumber, rhs: NSNumber) -> Bool {\n  { true }()\n} }\nlet a = 1\n"
    ),
    (
      "@inlinable public func <(a:NSNumber,_ b:NSNumber)->Bool{a.x}\n",
      "extension NSNumber { @inlinable public static func <(a:NSNumber,_ b:NSNumber)->Bool{a.x} }\n"
    ),
    (
      "private func < (a: NSNumber, b: NSNumber) -> Bool { \"}\" == \"\" } // ä\n",
      "extension NSNumber { fileprivate static func < (a: NSNumber, b: NSNumber) -> Bool { \"}\" == \"\" } } // ä\n"
    ),
    (
      "fileprivate func < (a: NSNumber, b: NSNumber) -> Bool { true }\n",
      "extension NSNumber { fileprivate static func < (a: NSNumber, b: NSNumber) -> Bool { true } }\n"
    ),
  ])
  func `of a file becomes a member, because one is in Foundation here`(text: String, expected: String) throws {
    #expect(try view("import Foundation // ö\n" + text) == "import Foundation // ö\n" + expected)
  }

  @Test(arguments: [
    "extension NSNumber {\n  static func < (a: NSNumber, b: NSNumber) -> Bool { true }\n}\n",
    "func < (a: NSNumber, b: Int) -> Bool { true }\n", "func > (a: NSNumber, b: NSNumber) -> Bool { true }\n",
    "// func < (a: NSNumber, b: NSNumber) -> Bool { true }\n", "func < (a: NSNumber, b: NSNumber) -> Bool {\n",
  ])
  func `of another kind is left as it is`(text: String) throws {
    #expect(try view(text) == nil)
  }
}

@Suite struct `What is for Objective-C` {
  @Test(arguments: [
    ("@objc func a() {}\n@objc(b) private var b = 1\n", " func a() {}\n private var b = 1\n"),
    ("@objcMembers public class A: NSObject {}\n", " public class A: NSObject {}\n"),
    ("@objc(add:to:) dynamic func a() {} // @objc\n", " dynamic func a() {} // @objc\n"),
    ("let a = \"@objc\", b = \"\\(c)\" ; @objc func d() {}\n", "let a = \"@objc\", b = \"\\(c)\" ;  func d() {}\n"),
    ("@objc protocol A {\n}\n", " protocol A: AnyObject {\n}\n"),
    ("@objc public protocol A : B {}\n", " public protocol A : AnyObject, B {}\n"),
    (
      "class A: B {\n  override func observeValue(forKeyPath a: String?) {}\n  override func a() {}\n}\n",
      "class A: B {\n   func observeValue(forKeyPath a: String?) {}\n  override func a() {}\n}\n"
    ),
    (
      "public override func observeValue(\n  forKeyPath a: B) {}\n",
      "public  func observeValue(\n  forKeyPath a: B) {}\n"
    ),
  ])
  func `is left out in a view`(text: String, expected: String) throws {
    guard case .view(let data, _) = try plan(text).items["Sources/Weather_Widget/Shared/Model.view.swift"] else {
      return #expect(Bool(false), "no view")
    }
    #expect(String(decoding: data.drop { $0 != UInt8(ascii: "\n") }.dropFirst(), as: UTF8.self) == expected)
  }

  @Test(arguments: ["// @objc\n", "let a = \"@objc\"\n", "@objcAttribute var a = 1\n", "func observeValue() {}\n"])
  func `in a text or in another name changes nothing`(text: String) throws {
    #expect(try plan(text).items["Sources/Weather_Widget/Shared/Model.swift"] == .link("/p/Shared/Model.swift"))
  }
}

@Suite struct `Names of Foundation's modules` {
  private static let flag = #".unsafeFlags(["-Xfrontend", "-import-module", "-Xfrontend", "CombineAPI"])"#
  private static let product = ".product(name: \"Combine\", package: \"widgetlab\")"

  private func manifest(_ code: String) throws -> String {
    guard case .text(let manifest) = try plan(code).items["Package.swift"] else { return "" }
    return manifest
  }

  @Test(arguments: [
    "import Foundation\nclass Model: ObservableObject {\n  @Published var a = 1\n}\n",
    "import SwiftUI\nvar a: Set<AnyCancellable> = []\n", "import WidgetKit\nlet a = PassthroughSubject<Int, Never>()\n",
    "import SwiftUI\nlet a = NotificationCenter.default\n  .publisher(for: name)\n",
    "import Foundation\nlet a = Timer.publish(every: 1, on: .main, in: .common)\n",
    "import Foundation\nlet a = URLSession.shared.dataTaskPublisher(for: url)\n",
  ])
  func `a target with a file that uses names of Combine without the import gets the module`(code: String) throws {
    let manifest = try manifest(code)
    #expect(manifest.contains(Self.flag), "\(manifest)")
    #expect(manifest.contains(Self.product))
  }

  @Test(arguments: [
    "import Foundation\n// AnyCancellable\nlet a = \"ObservableObject\"\n",
    "import SwiftUI\nclass Model: ObservableObject {\n  @Published var a = 1\n}\n",
    "import Foundation\nlet a = book.publisher(for: name)\n", "import WidgetKit\n",
  ])
  func `what does not need it does not link it`(code: String) throws {
    let manifest = try manifest(code)
    #expect(!manifest.contains(Self.flag))
    #expect(!manifest.contains(Self.product))
  }

  @Test func `a target whose files import Combine gets no flag`() throws {
    let manifest = try manifest("import Combine\nlet a = Just(1)\n")
    #expect(!manifest.contains(Self.flag))
    #expect(manifest.contains(Self.product))
  }

  @Test(arguments: [
    "SecItemDelete(query)", "let a = text as CFString", "let a: OSStatus = 0", "let a = kSecClass",
    "let a = CFStringConvertEncodingToNSStringEncoding(b)", "let a = CFStringEncodings.GB_18030_2000",
  ])
  func `names of the keychain bring Security, and not Combine`(code: String) throws {
    let manifest = try manifest("import Foundation\n\(code)\n")
    #expect(manifest.contains(".product(name: \"Security\", package: \"widgetlab\")"))
    #expect(manifest.contains(#""-import-module", "-Xfrontend", "SecurityAPI"])"#), "\(manifest)")
    #expect(!manifest.contains(Self.flag) && !manifest.contains(Self.product))
  }

  @Test func `the flag is that of the library which uses the names`() throws {
    var project = SmallProject()
    project.addCore("import Foundation\nvar a: AnyCancellable?\n")
    guard
      case .text(let manifest) = try project.plan(modules: ["Combine", "UIKit", "WidgetKit"]).items["Package.swift"]
    else { return #expect(Bool(false), "no manifest") }
    let targets = manifest.split(separator: "path: \"Sources/")
    #expect(targets.filter { $0.contains(Self.flag) }.map { $0.prefix { $0 != "\"" } } == ["Core"], "\(manifest)")
  }
}
