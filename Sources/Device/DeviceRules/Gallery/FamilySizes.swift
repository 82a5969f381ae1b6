// SPDX-License-Identifier: Apache-2.0

package import Archive

/// The size of each family on a screen. Source: the tables of the Human Interface Guidelines, "Widgets". On an iPad it
/// is the canvas in which a view is laid out.
package struct FamilySizes: Sendable, Hashable {
  /// A size in points.
  package struct Size: Sendable, Hashable {
    package let width: Double
    package let height: Double
  }

  private let system: [Size]
  private let accessory: [Size]

  /// Selects the sizes of the listed screen that is nearest, since Apple does not list every screen.
  package init(isPad: Bool, width: Double, height: Double) {
    func distance(_ other: (Double, Double)) -> Double { abs(other.0 - width) + abs(other.1 - height) }
    let screens = isPad ? FamilySizes.pads : FamilySizes.phones
    let nearest = screens.min { a, b in (a.screens.map(distance).min() ?? 0) < (b.screens.map(distance).min() ?? 0) }
    let row = nearest ?? screens[0]
    system = row.system.map { Size(width: $0.0, height: $0.1) }
    accessory = row.accessory.map { Size(width: $0.0, height: $0.1) }
  }

  package func size(of family: WidgetFamilyName) -> Size {
    switch family {
    case .systemSmall: system[0]
    case .systemMedium: system[1]
    case .systemLarge: system[2]
    case .systemExtraLarge: system.count > 3 ? system[3] : system[2]
    case .systemExtraLargePortrait: Size(width: 338, height: 450)
    case .accessoryCircular, .accessoryCorner: accessory[0]
    case .accessoryRectangular: accessory[1]
    case .accessoryInline: accessory[2]
    // Apple publishes no size of a control.
    case .control: Size(width: 72, height: 72)
    }
  }

  private struct Row {
    let screens: [(Double, Double)]
    /// Small, medium, large, extra large.
    let system: [(Double, Double)]
    /// Circular, rectangular, inline.
    let accessory: [(Double, Double)]
  }

  private static let phones = [
    Row(
      screens: [(430, 932), (428, 926)], system: [(170, 170), (364, 170), (364, 382)],
      accessory: [(76, 76), (172, 76), (257, 26)]),
    Row(
      screens: [(414, 896)], system: [(169, 169), (360, 169), (360, 379)], accessory: [(76, 76), (160, 72), (248, 26)]),
    Row(
      screens: [(414, 736)], system: [(159, 159), (348, 157), (348, 357)], accessory: [(76, 76), (170, 76), (248, 26)]),
    Row(
      screens: [(393, 852), (390, 844)], system: [(158, 158), (338, 158), (338, 354)],
      accessory: [(72, 72), (160, 72), (234, 26)]),
    Row(
      screens: [(375, 812), (360, 780)], system: [(155, 155), (329, 155), (329, 345)],
      accessory: [(72, 72), (157, 72), (225, 26)]),
    Row(
      screens: [(375, 667)], system: [(148, 148), (321, 148), (321, 324)], accessory: [(68, 68), (153, 68), (225, 26)]),
    // No system with accessory families runs on this screen: the sizes are those of the next larger one.
    Row(
      screens: [(320, 568)], system: [(141, 141), (292, 141), (292, 311)], accessory: [(68, 68), (153, 68), (225, 26)]),
  ]

  // Apple lists no sizes of the accessory families on an iPad: these are those of a 6.1-inch phone (ours).
  private static let pads = [
    pad([(768, 1024), (744, 1133)], (141, 141), (305.5, 141), (305.5, 305.5), (634.5, 305.5)),
    pad([(810, 1080)], (146, 146), (320.5, 146), (320.5, 320.5), (669, 320.5)),
    pad([(820, 1180), (834, 1194)], (155, 155), (342, 155), (342, 342), (715.5, 342)),
    pad([(834, 1112)], (150, 150), (327.5, 150), (327.5, 327.5), (682, 327.5)),
    pad([(954, 1373), (970, 1389)], (162, 162), (350, 162), (350, 350), (726, 350)),
    pad([(1024, 1366)], (170, 170), (378.5, 170), (378.5, 378.5), (795, 378.5)),
    pad([(1192, 1590)], (188, 188), (412, 188), (412, 412), (860, 412)),
  ]

  private static func pad(_ screens: [(Double, Double)], _ system: (Double, Double)...) -> Row {
    Row(screens: screens, system: system, accessory: [(72, 72), (160, 72), (234, 26)])
  }
}
