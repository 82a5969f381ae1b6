// SPDX-License-Identifier: Apache-2.0

import Foundation

// Swift for Linux has no Objective-C: it refuses `@objc`, and a method of NSObject that Foundation declares only for
// Objective-C cannot be overridden.

extension ConditionalSource {
  /// What a view has instead of the attributes for Objective-C, by place: nothing. Only Objective-C sees their names. A
  /// protocol with the attribute is one of classes.
  var withoutObjectiveC: [Range<Int>: String] {
    let code = String(decoding: text.code, as: UTF8.self)
    var result: [Range<Int>: String] = [:]
    func offset(_ index: String.Index) -> Int { code.utf8.distance(from: code.startIndex, to: index) }
    if code.contains("@objc") {
      for match in code.matches(of: /@objc(?:Members\b|\b(?:\([^)\n]*\))?)/) {
        result[offset(match.range.lowerBound)..<offset(match.range.upperBound)] = ""
        let declared =
          /\s+(?:@\w+\s+)*(?:(?:public|package|internal|fileprivate|private)\s+)?protocol\s+\w+(?<inherits>\s*:)?/
        if let name = code[match.range.upperBound...].prefixMatch(of: declared) {
          let end = offset(name.range.upperBound)
          result[end..<end] = name.output.inherits == nil ? ": AnyObject" : " AnyObject,"
        }
      }
    }
    if code.contains("observeValue") {
      let observer = /\b(override)\s+(?:(?:public|open|internal)\s+)?func\s+observeValue\s*\(\s*forKeyPath\b/
      for match in code.matches(of: observer) {
        result[offset(match.output.1.startIndex)..<offset(match.output.1.endIndex)] = ""
      }
    }
    return result
  }
}
