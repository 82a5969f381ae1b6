// SPDX-License-Identifier: Apache-2.0

import Foundation
import Messages

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
