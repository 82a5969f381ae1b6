// SPDX-License-Identifier: Apache-2.0

import Archive
import Foundation
import Testing

@testable import SwiftUI

@Suite(.timeLimit(.minutes(1))) @MainActor struct `Literals and formatters in views` {
  // swift-format-ignore: NoPlaygroundLiterals
  @Test func `a colour literal is a UIColor`() {
    let color = #colorLiteral(red: 0.5, green: 0.25, blue: 1, alpha: 1)
    #expect(color == UIColor(red: 0.5, green: 0.25, blue: 1, alpha: 1))
    #expect(Color(#colorLiteral(red: 1, green: 0, blue: 0, alpha: 1)) == Color(red: 1, green: 0, blue: 0))
  }

  // swift-format-ignore: NoPlaygroundLiterals
  @Test func `an image literal without an image ends the process with its name`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = #imageLiteral(resourceName: "NoSuchCup")
    }
    let errors = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(errors.contains("the bundle has no image named NoSuchCup"))
  }

  @Test func `a text formats a date, a number and an object`() {
    let dates = DateFormatter()
    dates.locale = Locale(identifier: "en_US_POSIX")
    dates.timeZone = TimeZone(identifier: "UTC")
    dates.dateFormat = "yyyy-MM-dd"
    let day = Date(timeIntervalSince1970: 86_400)
    #expect(Text(day, formatter: dates).resolved() == "1970-01-02")
    #expect(Text("on \(day, formatter: dates)").resolved() == "on 1970-01-02")
    let numbers = NumberFormatter()
    numbers.minimumFractionDigits = 2
    numbers.locale = Locale(identifier: "en_US_POSIX")
    #expect(Text(NSNumber(value: 1.5), formatter: numbers).resolved() == "1.50")
    #expect(Text("\(NSNumber(value: 1.5), formatter: numbers)").resolved() == "1.50")
  }

  @Test func `spring without arguments is the spring of a duration`() {
    let animation: Animation = .spring()
    #expect(animation == .spring(duration: 0.5))
    #expect(Animation.spring(response: 0.3) == .spring(response: 0.3, dampingFraction: 0.825))
  }
}
