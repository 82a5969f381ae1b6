// SPDX-License-Identifier: Apache-2.0

import AppIntents
import Archive
import FidelityRules
import Foundation
import Testing

@testable import SwiftUI

struct DrinkCups: AppIntent {
  static let title: LocalizedStringResource = "Drink"
  @Parameter(title: "Cups") var cups: Int
  init() {}
  init(cups: Int) { self.cups = cups }
  func perform() async throws -> some IntentResult { .result() }
}

private struct Loud: ButtonStyle {
  func makeBody(configuration: Configuration) -> some View { configuration.label.padding(2) }
}

private struct Check: ToggleStyle {
  func makeBody(configuration: Configuration) -> some View {
    Image(systemName: configuration.isOn ? "checkmark" : "circle")
    configuration.label
  }
}

private struct Triangle: Shape {
  func path(in rect: CGRect) -> Path {
    Path { path in
      path.move(to: CGPoint(x: rect.midX, y: 0))
      path.addLine(to: CGPoint(x: rect.maxX, y: rect.maxY))
      path.closeSubpath()
    }
  }
}

@Suite @MainActor struct `The view catalog` {
  @Test(.rule("VIEW-11")) func `Text is archived with its fonts, styles, interpolations, dates and formats`() throws {
    let view = VStack {
      Text("plain").font(.headline).foregroundStyle(.secondary)
      Text(verbatim: "big").font(.system(size: 40, weight: .bold, design: .rounded)).bold()
      Text("a").bold() + Text("b").foregroundColor(.red)
      Text("\(3) cups of \("tea"), \(1.5)")
      Text(Date(timeIntervalSince1970: 90), style: .timer)
      Text("in \(Date(timeIntervalSince1970: 7200), style: .relative)")
      Text(12.5, format: .number.precision(.fractionLength(2)))
    }
    #expect(
      try printed(view).dropFirst() == [
        "  Text \"plain\" .font(headline) .foregroundStyle(secondary)",
        "  Text \"big\" .font(rounded 40 bold) .bold",
        "  Text",
        "    Text \"a\" .bold",
        "    Text \"b\" .foregroundColor(red)",
        "  Text \"3 cups of tea, 1.500000\"",
        "  Text \"1:30\"",
        "  Text",
        "    Text \"in \"",
        "    Text \"2 hr\"",
        "  Text \"12.50\"",
      ])
    #expect(try view.archived(in: EnvironmentValues()).lines[2] == "ab")
  }

  @Test(.rule("VIEW-17")) func `a text of the current date is archived with its format`() throws {
    let english = Date.FormatStyle(locale: Locale(identifier: "en_US"), timeZone: .gmt)
    let view = VStack {
      Text(.currentDate, format: .offset(to: Date(timeIntervalSince1970: 5)))
      Text(.currentDate, format: .offset(to: Date(timeIntervalSince1970: 5), allowedFields: [.second], sign: .never))
      Text(.currentDate, format: .reference(to: Date(timeIntervalSince1970: 86_400)))
      Text(.currentDate, format: .reference(to: Date(timeIntervalSince1970: 3_456_000), maxFieldCount: 1))
      Text(.currentDate, format: .reference(to: Date(timeIntervalSince1970: 3_456_000), thresholdField: .year))
      Text(.currentDate, format: english.year().month(.wide))
    }
    #expect(
      try printed(view).dropFirst() == [
        "  Text \"−5 seconds\"", "  Text \"5 seconds\"", "  Text \"tomorrow\"", "  Text \"February\"",
        "  Text \"next month\"", "  Text \"January 1970\"",
      ])
  }

  @Test func `Image, Label, Link, Color and LinearGradient are archived with their arguments`() throws {
    let link = try #require(URL(string: "https://example.com/a"))
    let view = VStack {
      Image(systemName: "star").resizable().scaledToFit().symbolRenderingMode(.palette)
      Image("cup").renderingMode(.template)
      Label("Title", systemImage: "bolt")
      Link("more", destination: link)
      Color.blue.opacity(0.5)
      LinearGradient(colors: [.red, Color(red: 0, green: 1, blue: 0)], startPoint: .top, endPoint: .bottom)
    }
    #expect(
      try printed(view).dropFirst() == [
        "  Image(systemName: star) .resizable .scaledToFit .symbolRenderingMode(palette)",
        "  Image(cup, problem: no asset catalog of the bundle has it) .renderingMode(template)",
        "  Label",
        "    Image(systemName: bolt)",
        "    Text \"Title\"",
        "  Link(destination: https://example.com/a)",
        "    Text \"more\"",
        "  Color(blue 50 %)",
        "  LinearGradient(from: top to: bottom linearGradient: [red, #00FF00])",
      ])
  }

  @Test(.rule("VIEW-06"))
  func `Button is archived with its intent, and Toggle with its intent and both states`() throws {
    let view = VStack {
      Button("Drink", intent: DrinkCups(cups: 2)).buttonStyle(.plain)
      Button(intent: DrinkCups(cups: 3)) { Text("more") }.buttonStyle(Loud())
      Toggle("Light", isOn: true, intent: DrinkCups(cups: 1)).toggleStyle(Check())
      ProgressView(value: 0.5).progressViewStyle(LinearProgressViewStyle(tint: .green))
    }
    #expect(
      try printed(view).dropFirst() == [
        "  Button intent DrinkCups(cups: 2) .buttonStyle(plain)",
        "    Text \"Drink\"",
        "  Button intent DrinkCups(cups: 3) .buttonStyle(Loud)",
        "    Text \"more\" .padding(2)",
        "  Toggle(isOn: true) intent DrinkCups(cups: 1) .toggleStyle(Check)",
        "    Image(systemName: checkmark)",
        "    Text \"Light\"",
        "  ProgressView(value: 0.5) .progressViewStyle(linear) .tint(green)",
      ])
    let toggle = try view.archived(in: EnvironmentValues()).children[2]
    #expect(toggle.children.map { $0.children[0].arguments[.systemName] } == ["checkmark", "circle"])
  }

  @Test(.rule("VIEW-05"))
  func `shapes are archived with fill, stroke, trim and inset, and custom shapes with their path`() throws {
    var environment = EnvironmentValues()
    environment.proposedSize = CGSize(width: 20, height: 10)
    let view = ZStack {
      Circle().fill(.red)
      RoundedRectangle(cornerRadius: 8).stroke(.blue, lineWidth: 2)
      Circle().trim(from: 0, to: 0.5).stroke(style: StrokeStyle(lineWidth: 4, lineCap: .round)).rotationEffect(
        .degrees(-90))
      Capsule().inset(by: 1)
      Triangle()
    }
    #expect(
      try printed(view, environment).dropFirst() == [
        "  Circle .fill(red)",
        "  RoundedRectangle(cornerRadius: 8) .stroke(blue, lineWidth: 2)",
        "  Circle .trim(from: 0, to: 0.5) .stroke(lineWidth: 4, lineCap: round) .rotationEffect(-90)",
        "  Capsule(inset: 1)",
        "  Shape(in: width: 20 height: 10, path: [[move, 10, 0], [line, 20, 10], [close]], type: Triangle)",
      ])
  }

  @Test(.rule("VIEW-05"))
  func `ProgressView, Gauge, LazyVGrid and ViewThatFits are archived with their content`() throws {
    let view = VStack {
      ProgressView("Loading", value: 0.25)
      Gauge(value: 30, in: 0...120) {
        Text("km/h")
      } currentValueLabel: {
        Text("30")
      }.gaugeStyle(.accessoryCircular)
      LazyVGrid(columns: [GridItem(.fixed(20)), GridItem(.flexible(minimum: 5, maximum: 9))], spacing: 2) {
        ForEach(["a", "b"], id: \.self) { Text(verbatim: $0) }
      }
      ViewThatFits(in: .horizontal) {
        Text("long")
        Text("s")
      }
    }
    #expect(
      try printed(view).dropFirst() == [
        "  ProgressView(value: 0.25)",
        "    Text \"Loading\"",
        "  Gauge(value: 30, in: [0, 120]) .gaugeStyle(accessoryCircular)",
        "    Text \"km/h\"",
        "    Text \"30\"",
        "  LazyVGrid(spacing: 2, columns: [fixed: 20, flexible: [5, 9]])",
        "    Text \"a\"",
        "    Text \"b\"",
        "  ViewThatFits(axes: horizontal)",
        "    Text \"long\"",
        "    Text \"s\"",
      ])
    #expect(try view.archived(in: EnvironmentValues()).lines == ["Loading", "km/h", "30", "a", "b", "long"])
  }

  @Test func `the modifiers of grid cells are archived`() throws {
    let cell = Text("a").gridCellColumns(2).gridCellAnchor(.topLeading).gridCellUnsizedAxes(.horizontal)
      .gridColumnAlignment(.trailing)
    let archive = try Grid { GridRow { cell } }.archived(in: EnvironmentValues())
    let modifiers = try #require(archive.children.first?.children.first?.modifiers)
    #expect(
      modifiers.map(\.name.rawValue) == [
        "gridCellColumns", "gridCellAnchor", "gridCellUnsizedAxes", "gridColumnAlignment",
      ])
    #expect(
      modifiers.map(\.arguments) == [
        [.count: 2], [.anchor: "topLeading"], [.axes: "horizontal"], [.alignment: "trailing"],
      ])
  }

  @Test func `background, overlay, clipShape and containerBackground are archived with their content`() throws {
    let view = Text("a")
      .background { Color.red }
      .overlay(alignment: .topTrailing) {
        HStack { Text("b") }
      }
      .clipShape(RoundedRectangle(cornerRadius: 4))
      .containerBackground(for: ContainerBackgroundPlacement(name: "widget")) { Color.black }
    #expect(
      try printed(view) == [
        "Text \"a\" .background(Color(red)) .clipShape(RoundedRectangle(cornerRadius: 4)) .containerBackground(Color(black))",
        "  .overlay(alignment: topTrailing):",
        "    HStack",
        "      Text \"b\"",
      ])
  }

  @Test(.rule("VIEW-03")) func `an image over the area limit is refused with the limit's name`() throws {
    let header: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52]
    let size: [UInt8] = [0, 0, 6, 0, 0, 0, 7, 0xF7]
    let image = try #require(UIImage(data: Data(header + size)))
    #expect(image.size == CGSize(width: 1536, height: 2039))
    let refusal = #expect(throws: ArchiveRefusal.self) {
      try HStack { Image(uiImage: image) }.archived(in: EnvironmentValues())
    }
    #expect(refusal?.limit == .imageArea)
    #expect(refusal?.found == 3_131_904)
  }
}
