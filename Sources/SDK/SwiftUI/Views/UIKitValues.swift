// SPDX-License-Identifier: Apache-2.0

public import UIKit

extension Image {
  public init(uiImage image: UIImage) {
    self.init([:], .file(image))
  }
}

extension Color {
  public init(uiColor: UIColor) {
    let own: Color =
      switch uiColor.known {
      case .name(let name): Color(named: name)
      case .asset(let name): Color(name)
      case .parts(let red, let green, let blue): Color(red: red, green: green, blue: blue)
      }
    self = uiColor.alpha == 1 ? own : own.opacity(uiColor.alpha)
  }
  public init(_ color: UIColor) { self.init(uiColor: color) }
}
