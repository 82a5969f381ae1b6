// SPDX-License-Identifier: Apache-2.0

import Foundation
import Messages

/// A block of a Swift source file that is compiled for a phone and not for Linux, because of its `#if`, `#elseif` or
/// `#else`.
///
/// Source: *The Swift Programming Language*, Conditional Compilation Block.
struct ConditionalBlock: Equatable {
  /// The line of the directive, from 1.
  let line: Int
  /// The directive as it is written, such as `#if os(iOS)`.
  let directive: String

  /// Finds the outermost blocks that are left out in `source`.
  ///
  /// Conditions other than the platform and `canImport` of Apple's frameworks may be true or false. A chain with a branch
  /// for Linux is not reported, because its author knows about the difference.
  ///
  /// - Parameter modules: the names of the modules that are imported here although Apple's system has them.
  static func leftOut(of source: String, modules: Set<String> = []) -> [ConditionalBlock] {
    var finder = LeftOutBlockFinder(modules: modules)
    for (index, line) in source.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
      finder.read(line, number: index + 1)
    }
    return finder.foundBlocks.sorted { $0.line < $1.line }
  }
}

/// Reads a source file line by line.
private struct LeftOutBlockFinder {
  /// An `#if` with the branches that were read.
  private struct Chain {
    var isForLinux = false
    /// Whether a former branch is compiled.
    var before = PlatformCondition.Values(here: false, phone: false)
    var isLeftOut = false
    var directive: ConditionalBlock
    var hasCode = false
    var foundBlocks: [ConditionalBlock] = []
  }

  let modules: Set<String>
  private(set) var foundBlocks: [ConditionalBlock] = []
  private var chains: [Chain] = []
  private var isInText = false
  private var commentDepth = 0

  init(modules: Set<String>) { self.modules = modules }

  mutating func read(_ line: Substring, number: Int) {
    let code = codeOf(line)
    let trimmed = code.drop { $0 == " " || $0 == "\t" }
    let word = trimmed.prefix { $0 == "#" || $0.isLetter }
    let condition = trimmed.dropFirst(word.count)
    var directive: ConditionalBlock {
      ConditionalBlock(line: number, directive: String(trimmed.trimmingSuffix { $0.isWhitespace }))
    }
    switch word {
    case "#if":
      chains.append(Chain(directive: directive))
      begin(condition, directive)
    case "#elseif":
      endBranch()
      begin(condition, directive)
    case "#else":
      endBranch()
      begin("true", directive)
    case "#endif":
      endBranch()
      guard let chain = chains.popLast(), !chain.isForLinux else { return }
      // An outer block that is left out contains these.
      if chains.isEmpty {
        foundBlocks += chain.foundBlocks
      } else {
        chains[chains.count - 1].foundBlocks += chain.foundBlocks
      }
    default:
      guard !trimmed.allSatisfy(\.isWhitespace) else { return }
      for index in chains.indices { chains[index].hasCode = true }
    }
  }

  private mutating func begin(_ condition: Substring, _ directive: ConditionalBlock) {
    guard let last = chains.indices.last else { return }
    let condition = PlatformCondition(condition, modules: modules)
    let values = condition.values
    let before = chains[last].before
    let here = Kleene.and(Kleene.not(before.here), values.here)
    let phone = Kleene.and(Kleene.not(before.phone), values.phone)
    chains[last].isForLinux = chains[last].isForLinux || condition.namesLinux
    chains[last].isLeftOut = here == false && phone != false
    chains[last].before = PlatformCondition.Values(
      here: Kleene.or(before.here, values.here), phone: Kleene.or(before.phone, values.phone))
    chains[last].directive = directive
    chains[last].hasCode = false
  }

  private mutating func endBranch() {
    guard let last = chains.indices.last, chains[last].isLeftOut, chains[last].hasCode else { return }
    let directive = chains[last].directive
    chains[last].foundBlocks.removeAll { $0.line > directive.line }
    chains[last].foundBlocks.append(directive)
  }

  /// The line without comments, and empty within a text of several lines.
  private mutating func codeOf(_ line: Substring) -> Substring {
    var code = ""
    var rest = line
    while !rest.isEmpty {
      if isInText {
        guard let end = rest.firstRange(of: #"""""#) else { return code[...] }
        isInText = false
        rest = rest[end.upperBound...]
      } else if commentDepth > 0 {
        commentDepth += rest.hasPrefix("/*") ? 1 : rest.hasPrefix("*/") ? -1 : 0
        rest = rest.dropFirst(rest.hasPrefix("/*") || rest.hasPrefix("*/") ? 2 : 1)
      } else if rest.hasPrefix("//") {
        return code[...]
      } else if rest.hasPrefix("/*") {
        commentDepth = 1
        rest = rest.dropFirst(2)
      } else if rest.hasPrefix(#"""""#) {
        isInText = true
        code.append("\"")
        rest = rest.dropFirst(3)
      } else {
        code.append(rest.removeFirst())
      }
    }
    return code[...]
  }
}

extension Substring {
  fileprivate func trimmingSuffix(while isLeftOut: (Character) -> Bool) -> Substring {
    var rest = self
    while let last = rest.last, isLeftOut(last) { rest.removeLast() }
    return rest
  }
}

/// Logic with a third value, `nil`, for what is not known.
enum Kleene {
  static func not(_ value: Bool?) -> Bool? { value.map { !$0 } }

  static func and(_ left: Bool?, _ right: Bool?) -> Bool? {
    left == false || right == false ? false : left == nil || right == nil ? nil : true
  }

  static func or(_ left: Bool?, _ right: Bool?) -> Bool? { not(and(not(left), not(right))) }
}

/// The condition of an `#if` or `#elseif`.
///
/// Source: *The Swift Programming Language*, grammar of a conditional compilation block.
struct PlatformCondition {
  /// A condition's value here, on Linux, and on a phone; `nil` if it depends on something else.
  struct Values: Equatable {
    var here: Bool?
    var phone: Bool?
  }

  /// Whether the author has written it for Linux.
  private(set) var namesLinux = false
  private(set) var values = Values()
  private let modules: Set<String>
  private var rest: Substring

  init(_ text: Substring, modules: Set<String>) {
    rest = text
    self.modules = modules
    values = alternatives()
  }

  private mutating func alternatives() -> Values {
    var values = conjunction()
    while skip("||") {
      let other = conjunction()
      values = Values(here: Kleene.or(values.here, other.here), phone: Kleene.or(values.phone, other.phone))
    }
    return values
  }

  private mutating func conjunction() -> Values {
    var values = term()
    while skip("&&") {
      let other = term()
      values = Values(here: Kleene.and(values.here, other.here), phone: Kleene.and(values.phone, other.phone))
    }
    return values
  }

  private mutating func term() -> Values {
    if skip("!") {
      let values = term()
      return Values(here: Kleene.not(values.here), phone: Kleene.not(values.phone))
    }
    if skip("(") {
      defer { _ = skip(")") }
      return alternatives()
    }
    skipSpace()
    let name = rest.prefix { $0.isLetter || $0.isNumber || $0 == "_" }
    rest = rest.dropFirst(name.count)
    guard !name.isEmpty else { return Values() }
    guard skip("(") else { return Values(here: Bool(String(name)), phone: Bool(String(name))) }
    let argument = rest.prefix { $0 != ")" }
    rest = rest.dropFirst(argument.count)
    _ = skip(")")
    return value(of: name, argument.filter { !$0.isWhitespace })
  }

  private mutating func value(of name: Substring, _ argument: String) -> Values {
    switch name {
    case "os":
      namesLinux = namesLinux || argument == "Linux"
      return Values(here: argument == "Linux", phone: argument == "iOS")
    case "targetEnvironment" where argument == "macCatalyst": return Values(here: false, phone: false)
    case "canImport":
      let module = argument.prefix { $0 != "," && $0 != "." }
      if ["Glibc", "Musl", "FoundationNetworking"].contains(module) {
        namesLinux = true
        return Values(here: true, phone: false)
      }
      let isMissing = Self.frameworks.contains(String(module)) && !modules.contains(String(module))
      return isMissing ? Values(here: false, phone: true) : Values()
    default: return Values()
    }
  }

  private mutating func skip(_ token: String) -> Bool {
    skipSpace()
    guard rest.hasPrefix(token) else { return false }
    rest = rest.dropFirst(token.count)
    return true
  }

  private mutating func skipSpace() { rest = rest.drop { $0.isWhitespace } }

  /// Frameworks of iOS that widgets import and that may be missing here.
  private static let frameworks: Set<String> = [
    "AVFoundation", "Accelerate", "ActivityKit", "AlarmKit", "AppTrackingTransparency", "BackgroundTasks", "CallKit",
    "Charts",
    "CloudKit", "Combine", "Contacts", "CoreData", "CoreGraphics", "CoreImage", "CoreLocation", "CoreML", "CoreMotion",
    "CoreSpotlight", "CoreText", "CryptoKit", "Darwin", "EventKit", "FamilyControls", "GameKit", "HealthKit", "HomeKit",
    "Intents", "IntentsUI", "LinkPresentation", "LocalAuthentication", "MapKit", "MediaPlayer", "Metal", "MetricKit",
    "MusicKit", "NaturalLanguage", "Network", "OSLog", "ObjectiveC", "Photos", "PhotosUI", "QuartzCore",
    "RelevanceKit", "SafariServices", "Security", "SpriteKit", "StoreKit", "SwiftData", "TipKit",
    "UniformTypeIdentifiers", "UserNotifications", "Vision", "WatchConnectivity", "WeatherKit", "WebKit", "os",
  ]
}

/// The author's sources of an executable that SwiftPM has built, found beside it.
///
/// SwiftPM writes `<product>.product/Objects.LinkFileList`, with the object files that are linked, and
/// `<target>.build/sources`, with the source files of a target. Both are observed with SwiftPM 6.3. An executable that
/// was copied elsewhere has neither, and is not examined.
struct BuiltSources {
  /// The folder of the build, such as `.build/x86_64-unknown-linux-gnu/debug`.
  private let folder: String
  private let product: String

  /// - Parameter executable: an absolute path.
  init(of executable: String) {
    let url = URL(fileURLWithPath: executable).resolvingSymlinksInPath()
    folder = url.deletingLastPathComponent().path
    product = url.lastPathComponent
  }

  /// The code that conditions leave out, without that of dependencies.
  func leftOut() -> [LeftOutCode.Block] {
    // `.build`, or another folder of `--scratch-path` such as `.build-thread`.
    guard let build = folder.firstRange(of: /\/\.build[^\/]*\//) else { return [] }
    let package = String(folder[..<build.lowerBound])
    let modules = Set(names(in: folder + "/Modules", ending: ".swiftmodule"))
    var blocks: [LeftOutCode.Block] = []
    for target in targets().sorted() {
      for file in lines(of: "\(folder)/\(target).build/sources").sorted()
      where file.hasPrefix(package + "/") && !file.hasPrefix(folder[..<build.upperBound]) && file.hasSuffix(".swift") {
        // Few files have a directive, and only those are read line by line.
        guard let data = FileManager.default.contents(atPath: file), data.range(of: Data("#if".utf8)) != nil else {
          continue
        }
        let source = String(decoding: data, as: UTF8.self)
        let name = String(file.dropFirst(package.count + 1))
        blocks += ConditionalBlock.leftOut(of: source, modules: modules).map {
          LeftOutCode.Block(file: name, line: $0.line, directive: $0.directive)
        }
      }
    }
    return blocks
  }

  /// The targets of which an object file is linked: `<folder>/<target>.build/<file>.o`.
  private func targets() -> Set<String> {
    let objects = lines(of: "\(folder)/\(product).product/Objects.LinkFileList")
    return Set(
      objects.filter { $0.hasPrefix(folder + "/") }.compactMap { object in
        let target = object.dropFirst(folder.count + 1).prefix { $0 != "/" }
        return target.hasSuffix(".build") ? String(target.dropLast(".build".count)) : nil
      })
  }

  /// The lines of a file, without the quotes of a response file. Empty when there is no such file.
  private func lines(of path: String) -> [String] {
    let text = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
    return text.split(separator: "\n").map { $0.trimmingCharacters(in: CharacterSet(charactersIn: "'\" ")) }
  }

  private func names(in folder: String, ending suffix: String) -> [String] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    return names.filter { $0.hasSuffix(suffix) }.map { String($0.dropLast(suffix.count)) }
  }
}
