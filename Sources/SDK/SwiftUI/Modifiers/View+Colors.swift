// SPDX-License-Identifier: Apache-2.0

import Archive
public import Foundation

// Source of all: `SwiftUI.View` of the iOS 18 SDK.
extension View {
  nonisolated public func foregroundColor(_ color: Color?) -> some View {
    modified(.style(.foregroundColor), ["color": color?.value])
  }
  nonisolated public func foregroundStyle<S: ShapeStyle>(_ style: S) -> some View {
    modified(.style(.foregroundStyle), ["style": style.archived(in: .current)])
  }
  nonisolated public func foregroundStyle<S1: ShapeStyle, S2: ShapeStyle>(_ primary: S1, _ secondary: S2) -> some View {
    modified(
      .style(.foregroundStyle),
      ["style": primary.archived(in: .current), "secondary": secondary.archived(in: .current)])
  }
  nonisolated public func foregroundStyle<S1: ShapeStyle, S2: ShapeStyle, S3: ShapeStyle>(
    _ primary: S1, _ secondary: S2, _ tertiary: S3
  ) -> some View {
    modified(
      .style(.foregroundStyle),
      [
        "style": primary.archived(in: .current), "secondary": secondary.archived(in: .current),
        "tertiary": tertiary.archived(in: .current),
      ])
  }
  nonisolated public func tint(_ tint: Color?) -> some View { modified(.style(.tint), ["style": tint?.value]) }
  nonisolated public func tint<S: ShapeStyle>(_ tint: S?) -> some View {
    modified(.style(.tint), ["style": tint?.archived(in: .current)])
  }
  nonisolated public func accentColor(_ accentColor: Color?) -> some View {
    modified(.style(.accentColor), ["color": accentColor?.value])
  }
  nonisolated public func backgroundStyle<S: ShapeStyle>(_ style: S) -> some View {
    modified(.style(.backgroundStyle), ["style": style.archived(in: .current)])
  }
  nonisolated public func preferredColorScheme(_ colorScheme: ColorScheme?) -> some View {
    modified(.silent(.preferredColorScheme), ["scheme": colorScheme?.archived])
  }
  nonisolated public func colorScheme(_ colorScheme: ColorScheme) -> some View {
    modified(.style(.colorScheme), ["scheme": colorScheme.archived]) { $0.colorScheme = colorScheme }
  }

  /// `opacity` is from 0 to 1.
  nonisolated public func opacity(_ opacity: Double) -> some View {
    modified(.effect(.opacity), ["opacity": opacity.archived])
  }
  nonisolated public func hidden() -> some View { modified(.effect(.hidden)) }
  nonisolated public func blur(radius: CGFloat, opaque: Bool = false) -> some View {
    modified(.effect(.blur), ["radius": radius.archived])
  }
  nonisolated public func brightness(_ amount: Double) -> some View {
    modified(.color(.brightness), ["amount": amount.archived])
  }
  nonisolated public func contrast(_ amount: Double) -> some View {
    modified(.color(.contrast), ["amount": amount.archived])
  }
  nonisolated public func saturation(_ amount: Double) -> some View {
    modified(.color(.saturation), ["amount": amount.archived])
  }
  nonisolated public func grayscale(_ amount: Double) -> some View {
    modified(.color(.grayscale), ["amount": amount.archived])
  }
  nonisolated public func hueRotation(_ angle: Angle) -> some View {
    modified(.color(.hueRotation), ["degrees": angle.archived])
  }
  nonisolated public func colorInvert() -> some View { modified(.color(.colorInvert)) }
  nonisolated public func colorMultiply(_ color: Color) -> some View {
    modified(.color(.colorMultiply), ["color": color.value])
  }
  nonisolated public func blendMode(_ blendMode: BlendMode) -> some View {
    modified(.color(.blendMode), ["mode": blendMode.archived])
  }
  nonisolated public func compositingGroup() -> some View { modified(.effect(.compositingGroup)) }
  nonisolated public func drawingGroup(opaque: Bool = false) -> some View { modified(.effect(.drawingGroup)) }
  nonisolated public func luminanceToAlpha() -> some View { modified(.color(.luminanceToAlpha)) }

  /// Lengths are in points.
  nonisolated public func shadow(
    color: Color = Color(.sRGBLinear, white: 0, opacity: 0.33), radius: CGFloat, x: CGFloat = 0, y: CGFloat = 0
  ) -> some View {
    modified(
      .effect(.shadow),
      [
        "color": color == Color(.sRGBLinear, white: 0, opacity: 0.33) ? nil : color.value,
        "radius": radius.archived, "x": x == 0 ? nil : x.archived, "y": y == 0 ? nil : y.archived,
      ])
  }
  nonisolated public func border<S: ShapeStyle>(_ content: S, width: CGFloat = 1) -> some View {
    modified(.effect(.border), ["style": content.archived(in: .current), "width": width.archived])
  }
}
