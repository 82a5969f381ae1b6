import Archive
public import Foundation

// Source of all: `SwiftUI.View` of the iOS 18 SDK.
extension View {
  /// The colour of what is in the view.
  nonisolated public func foregroundColor(_ color: Color?) -> some View {
    modified("foregroundColor", ["color": color?.value])
  }
  /// What the things in the view are drawn with.
  nonisolated public func foregroundStyle<S: ShapeStyle>(_ style: S) -> some View {
    modified("foregroundStyle", ["style": style.archived(in: .current)])
  }
  /// What the things in the view are drawn with, by their rank.
  nonisolated public func foregroundStyle<S1: ShapeStyle, S2: ShapeStyle>(_ primary: S1, _ secondary: S2) -> some View {
    modified(
      "foregroundStyle", ["style": primary.archived(in: .current), "secondary": secondary.archived(in: .current)])
  }
  /// What the things in the view are drawn with, by their rank.
  nonisolated public func foregroundStyle<S1: ShapeStyle, S2: ShapeStyle, S3: ShapeStyle>(
    _ primary: S1, _ secondary: S2, _ tertiary: S3
  ) -> some View {
    modified(
      "foregroundStyle",
      [
        "style": primary.archived(in: .current), "secondary": secondary.archived(in: .current),
        "tertiary": tertiary.archived(in: .current),
      ])
  }
  /// The colour of controls.
  nonisolated public func tint(_ tint: Color?) -> some View { modified("tint", ["style": tint?.value]) }
  /// The style of controls.
  nonisolated public func tint<S: ShapeStyle>(_ tint: S?) -> some View {
    modified("tint", ["style": tint?.archived(in: .current)])
  }
  /// The colour of controls.
  nonisolated public func accentColor(_ accentColor: Color?) -> some View {
    modified("accentColor", ["color": accentColor?.value])
  }
  /// What `background` means within.
  nonisolated public func backgroundStyle<S: ShapeStyle>(_ style: S) -> some View {
    modified("backgroundStyle", ["style": style.archived(in: .current)])
  }
  /// Light or dark.
  nonisolated public func preferredColorScheme(_ colorScheme: ColorScheme?) -> some View {
    modified("preferredColorScheme", ["scheme": colorScheme?.archived])
  }
  /// Light or dark, for the views within.
  nonisolated public func colorScheme(_ colorScheme: ColorScheme) -> some View {
    modified("colorScheme", ["scheme": colorScheme.archived]) { $0.colorScheme = colorScheme }
  }

  /// How much of the view there is to see, from 0 to 1.
  nonisolated public func opacity(_ opacity: Double) -> some View { modified("opacity", ["opacity": opacity.archived]) }
  /// The view, not seen.
  nonisolated public func hidden() -> some View { modified("hidden") }
  /// The view, blurred.
  nonisolated public func blur(radius: CGFloat, opaque: Bool = false) -> some View {
    modified("blur", ["radius": radius.archived])
  }
  /// The view, brighter.
  nonisolated public func brightness(_ amount: Double) -> some View {
    modified("brightness", ["amount": amount.archived])
  }
  /// The view, its colours further apart.
  nonisolated public func contrast(_ amount: Double) -> some View { modified("contrast", ["amount": amount.archived]) }
  /// The view, more or less coloured.
  nonisolated public func saturation(_ amount: Double) -> some View {
    modified("saturation", ["amount": amount.archived])
  }
  /// The view, greyer.
  nonisolated public func grayscale(_ amount: Double) -> some View {
    modified("grayscale", ["amount": amount.archived])
  }
  /// The view in other colours.
  nonisolated public func hueRotation(_ angle: Angle) -> some View {
    modified("hueRotation", ["degrees": angle.archived])
  }
  /// The view in opposite colours.
  nonisolated public func colorInvert() -> some View { modified("colorInvert") }
  /// The view, its colours multiplied.
  nonisolated public func colorMultiply(_ color: Color) -> some View {
    modified("colorMultiply", ["color": color.value])
  }
  /// How the view's colours meet those below.
  nonisolated public func blendMode(_ blendMode: BlendMode) -> some View {
    modified("blendMode", ["mode": blendMode.archived])
  }
  /// The view as one picture, to which what follows is done.
  nonisolated public func compositingGroup() -> some View { modified("compositingGroup") }
  /// The view as one picture, to which what follows is done.
  nonisolated public func drawingGroup(opaque: Bool = false) -> some View { modified("drawingGroup") }
  /// What was drawn in the dark of the view.
  nonisolated public func luminanceToAlpha() -> some View { modified("luminanceToAlpha") }

  /// A shadow of the view; lengths in points.
  nonisolated public func shadow(
    color: Color = Color(.sRGBLinear, white: 0, opacity: 0.33), radius: CGFloat, x: CGFloat = 0, y: CGFloat = 0
  ) -> some View {
    modified(
      "shadow",
      [
        "color": color == Color(.sRGBLinear, white: 0, opacity: 0.33) ? nil : color.value,
        "radius": radius.archived, "x": x == 0 ? nil : x.archived, "y": y == 0 ? nil : y.archived,
      ])
  }
  /// A line around the view.
  nonisolated public func border<S: ShapeStyle>(_ content: S, width: CGFloat = 1) -> some View {
    modified("border", ["style": content.archived(in: .current), "width": width.archived])
  }
}
