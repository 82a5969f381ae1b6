// SPDX-License-Identifier: Apache-2.0

import Testing

/// The start of the test bundle. SwiftPM would write one that lists the tests of XCTest, for which it reads the index store:
/// there are none, and the store takes a tenth of a build. `--testing-library` is SwiftPM's; `swift test` also starts the
/// bundle once for XCTest.
@main struct Tests {
  static func main() async {
    guard CommandLine.arguments.contains("swift-testing") else { return }
    await Testing.__swiftPMEntryPoint() as Never
  }
}
