// SPDX-License-Identifier: Apache-2.0

import Archive
import FidelityRules
import Layout
import Testing

@testable import Pictures

@Suite(.timeLimit(.minutes(1))) struct `Pictures of controls` {
  private let sample: PictureSample

  init() throws { sample = try PictureSample() }

  private let blue = RGBA(bytes: 0, 122, 255)

  @Test(
    .rule("PICTURE-40"),
    arguments: ["linearCapacity", "accessoryCircular", "accessoryCircularCapacity", "accessoryLinear"])
  func `a gauge has the tint of the author or of the system`(style: String) {
    let gauge = ViewArchive(.control(.gauge), [.value: 0.5]).with(.style(.gaugeStyle), [.style: .string(style)])
    #expect(sample.picture(gauge).paints.contains(.color(blue)))
    #expect(sample.picture(gauge).notices.isEmpty)
    let red = sample.picture(gauge.with(.style(.tint), [.style: "red"])).paints
    #expect(red.contains(.color(RGBA(bytes: 255, 59, 48))) && !red.contains(.color(blue)))
    let accessory = sample.picture(gauge, family: .accessoryCircular).paints
    #expect(accessory.contains(.color(RGBA(0, 0, 0))) && !accessory.contains(.color(blue)))
  }

  @Test(.rule("PICTURE-40")) func `a gradient has its colours along the gauge`() throws {
    let tint = ArchivedValue.record([.gradient: .list(["green", "yellow", "red"])])
    for value in [tint, .list(["green", "red"])] {
      let gauge = ViewArchive(.control(.gauge), [.value: 0.5]).with(.style(.tint), [.style: value])
      let ring = sample.picture(gauge.with(.style(.gaugeStyle), [.style: "accessoryCircular"])).paints
      guard case .angular(let stops, _, let start) = try #require(ring.last) else {
        Issue.record("a ring has an angular gradient")
        return
      }
      #expect(start == 135 && stops.first?.color == RGBA(bytes: 52, 199, 89))
      let bar = sample.picture(gauge.with(.style(.gaugeStyle), [.style: "linearCapacity"])).paints
      guard case .linear(_, let from, let to) = try #require(bar.last) else {
        Issue.record("a bar has a linear gradient")
        return
      }
      #expect(from.x == 16 && to.x == 142 && from.y == to.y)
    }
  }

  @Test(.rule("PICTURE-40")) func `buttons, toggles and progress are drawn without a notice`() {
    for view in [
      ViewArchive(.control(.button), children: [.text("Go")]).with(
        .style(.buttonStyle), [.style: "borderedProminent"]),
      ViewArchive(.control(.toggle), [.isOn: true], children: [.text("Go")]),
      ViewArchive(.control(.progressView)), ViewArchive(.control(.progressView), [.value: 0.5]),
    ] {
      #expect(sample.picture(view).notices.isEmpty && sample.picture(view).paints.count > 1)
    }
  }

  @Test(
    .rule("PICTURE-41"),
    arguments: [WidgetFamilyName.accessoryCircular, .accessoryRectangular])
  func `the background of an accessory widget is translucent`(family: WidgetFamilyName) throws {
    let picture = sample.picture(
      ViewArchive(.fill(.accessoryWidgetBackground)), PictureStyle(showsBackground: false), family: family)
    guard case .group(_, let drawings) = try #require(picture.drawings.first),
      case .fill(let path, let paint, _) = try #require(drawings.first)
    else {
      Issue.record("the background is filled")
      return
    }
    #expect(paint == .color(RGBA(0, 0, 0, opacity: 0.15)) && picture.notices.isEmpty)
    #expect((path.elements.count == 6) == (family == .accessoryCircular))
    if family == .accessoryRectangular, let bounds = path.bounds {
      #expect(path == Path(roundedRect: bounds, radii: Array(repeating: 12, count: 4), isContinuous: true))
    }
  }
}
