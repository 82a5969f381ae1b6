// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import WidgetLab

@Suite struct `The address of a console in a container` {
  @Test func `an address and a port are read, with and without brackets`() throws {
    let place = try #require(try ConsolePlace("0.0.0.0:8099"))
    #expect(place.host == "0.0.0.0" && place.port == 8099)
    #expect(try ConsolePlace("[::]:80")?.host == "::")
    #expect(try ConsolePlace("") == nil)
    #expect(try ConsolePlace(nil) == nil)
  }

  @Test(arguments: ["8099", ":8099", "0.0.0.0", "0.0.0.0:", "0.0.0.0:99999", "0.0.0.0:x"])
  func `other texts are refused with the variable's name`(text: String) {
    #expect {
      try ConsolePlace(text)
    } throws: {
      "\($0)".contains(ConsolePlace.variable)
    }
  }
}
