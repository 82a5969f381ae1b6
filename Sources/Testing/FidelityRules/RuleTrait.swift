// SPDX-License-Identifier: Apache-2.0

package import Testing

/// Links a test to the rules of `Documentation/fidelity` that it checks.
///
/// The ids are comments of the test: when it fails, its output names them. `Tests/RepositoryTests` reads them from the text of
/// the test files and compares them with the pages.
package struct RuleTrait: TestTrait, SuiteTrait {
  /// The ids of the rules, such as `CLOCK-04`.
  package let ids: [String]

  /// One comment for each id.
  package var comments: [Comment] { ids.map { "checks rule \($0)" } }
}

extension Trait where Self == RuleTrait {
  /// The test checks these rules of `Documentation/fidelity`.
  package static func rule(_ ids: String...) -> Self { Self(ids: ids) }
}
