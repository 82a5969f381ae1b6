// SPDX-License-Identifier: Apache-2.0

import Archive
import Foundation
import Testing

@testable import SwiftUI

@Suite @MainActor struct `Archived animations` {
  private func arguments(_ view: some View, _ name: String) throws -> ArchivedArguments {
    let archive = try view.archived(in: EnvironmentValues())
    return try #require(archive.modifiers.first { $0.name.rawValue == name }).arguments
  }

  @Test(arguments: [
    (Animation.easeInOut(duration: 0.7), "easeInOut 0.7", 0.7), (.linear, "linear", 0.35), (.default, "default", 0.5),
    (.interpolatingSpring(stiffness: 4, damping: 14), "interpolatingSpring 4.0 14.0", .pi),
    (.interpolatingSpring(duration: 2), "interpolatingSpring 2.0", 2),
    (.spring(response: 0.3), "spring 0.3", 0.3), (.easeIn(duration: 1).delay(0.5), "easeIn 1.0 delay 0.5", 1.5),
    (.linear(duration: 1).speed(2), "linear 1.0 speed 2.0", 0.5),
    (.bouncy.repeatCount(3), "bouncy repeatCount 3", 1.5), (.smooth.repeatForever(), "smooth repeatForever", .infinity),
    (.timingCurve(0, 0, 1, 1, duration: 2), "timingCurve 2.0", 2),
    (.interactiveSpring(), "interactiveSpring 0.15", 0.15),
  ])
  func `an animation is archived with its name, its seconds including the delay, and its value`(
    animation: Animation, name: String, seconds: Double
  ) throws {
    let found = try arguments(Text("1").animation(animation, value: 3), "animation")
    #expect(found == [.animation: .string(name), .seconds: .number(seconds), .value: "3"])
    #expect(try arguments(Text("1").animation(nil, value: 3), "animation") == [.value: "3"])
  }

  @Test func `a transition is archived with its own animation`() throws {
    let own = AnyTransition.push(from: .bottom).animation(.linear(duration: 1))
    #expect(
      try arguments(Text("1").transition(own), "transition")
        == [.transition: "push bottom", .animation: "linear 1.0", .seconds: 1])
    #expect(try arguments(Text("1").transition(.slide), "transition") == [.transition: "slide"])
  }
}
