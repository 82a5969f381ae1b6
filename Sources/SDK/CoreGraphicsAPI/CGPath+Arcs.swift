// SPDX-License-Identifier: Apache-2.0

public import Foundation

extension CGMutablePath {
  /// An arc, after a line to its begin if the path has a point. `clockwise` is meant for an axis that points upwards, so
  /// that on the screen the arc turns the other way.
  public func addArc(
    center: CGPoint, radius: CGFloat, startAngle: CGFloat, endAngle: CGFloat, clockwise: Bool,
    transform: CGAffineTransform = .identity
  ) {
    let turn = 2 * CGFloat.pi
    var delta = endAngle - startAngle
    if clockwise {
      if delta <= -turn { delta = -turn } else { while delta > 0 { delta -= turn } }
    } else {
      if delta >= turn { delta = turn } else { while delta < 0 { delta += turn } }
    }
    addRelativeArc(center: center, radius: radius, startAngle: startAngle, delta: delta, transform: transform)
  }

  /// - Parameter delta: in radians.
  public func addRelativeArc(
    center: CGPoint, radius: CGFloat, startAngle: CGFloat, delta: CGFloat, transform: CGAffineTransform = .identity
  ) {
    func point(_ angle: CGFloat, _ along: CGFloat = 0) -> CGPoint {
      CGPoint(
        x: center.x + radius * (cos(angle) - along * sin(angle)),
        y: center.y + radius * (sin(angle) + along * cos(angle)))
    }
    if isEmpty {
      move(to: point(startAngle), transform: transform)
    } else {
      addLine(to: point(startAngle), transform: transform)
    }
    // A cubic curve follows a quarter of a circle to 0.03 %.
    let count = Int(exactly: min(max(1, (abs(Double(delta)) / (.pi / 2)).rounded(.up)), 1000)) ?? 1
    let step = delta / CGFloat(count)
    let handle = 4 / 3 * tan(step / 4)
    for index in 0..<count {
      let begin = startAngle + CGFloat(index) * step
      addCurve(
        to: point(begin + step), control1: point(begin, handle), control2: point(begin + step, -handle),
        transform: transform)
    }
  }
}
