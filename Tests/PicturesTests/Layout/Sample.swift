// SPDX-License-Identifier: Apache-2.0

import Archive
import Layout
import Pictures

/// A font in which each character is half as wide as the size, with the lines of Apple's font.
struct HalfWidthFont: TextMeasure {
  let rules: any TextRules

  init() {
    do {
      rules = try UnicodeRules()
    } catch {
      preconditionFailure("the tests need ICU: \(error)")
    }
  }

  func metrics(of font: FontDescription) -> LineMetrics { .system(size: font.size) }
  func width(of text: Substring, in font: FontDescription) -> Double {
    Double(text.count) * (font.size / 2 + font.tracking)
  }
}

/// The height of a line of body, rounded up to a third of a point: 20.287.
let line = 61.0 / 3

extension ViewArchive {
  /// A view that takes each proposal, with a name to find it again.
  static func color(_ name: String = "red") -> ViewArchive { ViewArchive(.fill(.color), [.color: .string(name)]) }

  static func stack(
    _ name: ContainerView, spacing: Double? = nil, alignment: String = "center", _ children: [ViewArchive]
  ) -> ViewArchive {
    var arguments: ArchivedArguments = [.alignment: .string(alignment)]
    if let spacing { arguments[.spacing] = .number(spacing) }
    return ViewArchive(.container(name), arguments, children: children)
  }

  func modified(
    _ name: ModifierName, _ arguments: ArchivedArguments = [:], views: [ViewArchive] = []
  ) -> ViewArchive {
    var view = self
    view.modifiers.append(Modifier(name, arguments, views: views))
    return view
  }

  func framed(_ width: Double, _ height: Double) -> ViewArchive {
    modified(.layout(.frame), [.width: .number(width), .height: .number(height)])
  }

  func layout(
    _ width: Double, _ height: Double, scale: Double = 3, isRightToLeft: Bool = false
  ) -> LayoutResult {
    laidOut(
      in: LayoutCanvas(size: Size(width: width, height: height), scale: scale, isRightToLeft: isRightToLeft),
      measuring: HalfWidthFont())
  }

  /// The frames of all views with this name, in drawing order.
  func frames(of name: String, in width: Double, _ height: Double, scale: Double = 3) -> [Rect] {
    layout(width, height, scale: scale).all(name).map(\.frame)
  }
}

extension LayoutResult {
  func all(_ name: String) -> [PlacedView] {
    var found: [PlacedView] = []
    for view in background + views { view.walk { if $0.name == name { found.append($0) } } }
    return found
  }

  /// The texts, line by line.
  var lines: [String] { all("Text").flatMap { $0.text?.lines.map(\.text) ?? [] } }
}

extension Rect {
  /// Rounded to a hundredth of a point: x, y, width, height.
  var numbers: [Double] {
    [minX, minY, size.width, size.height].map { ($0 * 100).rounded() / 100 }
  }

  var isFinite: Bool { numbers.allSatisfy { $0.isFinite } }
}
