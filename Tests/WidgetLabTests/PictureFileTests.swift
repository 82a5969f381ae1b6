// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import FidelityRules
import Testing

@testable import WidgetLab

@Suite(.timeLimit(.minutes(1))) struct `Files of pictures` {
  @Test(.rule("PICTURE-20"), arguments: [("a.svg", PictureFormat.svg), ("b.c/d.png", .png)])
  func `the name chooses the format`(name: String, format: PictureFormat) throws {
    #expect(PictureFormat(path: name) == format)
    #expect(try ScreenCommand.parse(["--picture", name]).picture == name)
  }

  @Test(.rule("PICTURE-20"), arguments: ["a.jpg", "a", "svg", "a.PNG"])
  func `another name is refused with the two that exist`(name: String) {
    #expect(PictureFormat(path: name) == nil)
    let error = #expect(throws: (any Error).self) { try ScreenCommand.parse(["--picture", name]) }
    #expect(error.map { ScreenCommand.message(for: $0).contains("ends with .svg or .png, and not '\(name)'") } == true)
  }
}
