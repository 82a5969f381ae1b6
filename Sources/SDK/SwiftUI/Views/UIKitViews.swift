// SPDX-License-Identifier: Apache-2.0

import Archive
public import UIKit

/// Source: `SwiftUI.UIViewRepresentableContext`.
@MainActor public struct UIViewRepresentableContext<Representable: UIViewRepresentable> {
  public let coordinator: Representable.Coordinator
  public let environment: EnvironmentValues
}

/// A view of UIKit. Source: `SwiftUI.UIViewRepresentable`. A widget cannot show it, so its functions are never called.
@MainActor public protocol UIViewRepresentable: View where Body == Never {
  associatedtype UIViewType: UIView
  associatedtype Coordinator = Void
  typealias Context = UIViewRepresentableContext<Self>
  func makeUIView(context: Self.Context) -> Self.UIViewType
  func updateUIView(_ uiView: Self.UIViewType, context: Self.Context)
  func makeCoordinator() -> Self.Coordinator
}

extension UIViewRepresentable {
  public var body: Never { fatalError("\(Self.self) has no body") }
}

extension UIViewRepresentable where Coordinator == Void {
  public func makeCoordinator() {}
}

/// Source: `SwiftUI.UIViewControllerRepresentableContext`.
@MainActor public struct UIViewControllerRepresentableContext<Representable: UIViewControllerRepresentable> {
  public let coordinator: Representable.Coordinator
  public let environment: EnvironmentValues
}

/// A controller of UIKit. Source: `SwiftUI.UIViewControllerRepresentable`. A widget cannot show it, so its functions are
/// never called.
@MainActor public protocol UIViewControllerRepresentable: View where Body == Never {
  associatedtype UIViewControllerType: UIViewController
  associatedtype Coordinator = Void
  typealias Context = UIViewControllerRepresentableContext<Self>
  func makeUIViewController(context: Self.Context) -> Self.UIViewControllerType
  func updateUIViewController(_ uiViewController: Self.UIViewControllerType, context: Self.Context)
  func makeCoordinator() -> Self.Coordinator
}

extension UIViewControllerRepresentable {
  public var body: Never { fatalError("\(Self.self) has no body") }
}

extension UIViewControllerRepresentable where Coordinator == Void {
  public func makeCoordinator() {}
}

/// Shows a view of SwiftUI in UIKit. Source: `SwiftUI.UIHostingController`. Nothing of UIKit is shown here.
@MainActor open class UIHostingController<Content: View>: UIViewController {
  public var rootView: Content

  public init(rootView: Content) {
    self.rootView = rootView
    super.init()
  }

  public required nonisolated init() { fatalError("UIHostingController needs a rootView") }
}

/// What a widget shows in place of a view of UIKit.
nonisolated struct UnsupportedUIKitView: View, ArchivedView {
  typealias Body = Never
  let name: String

  @MainActor func archive(in context: ArchivingContext) throws(ArchiveRefusal) -> ViewArchive {
    ViewArchive(.leaf(.unsupportedView), [.view: .string(name)])
  }
}

extension Image {
  public init(uiImage image: UIImage) {
    self.init([:], .file(image))
  }
  /// - Parameter orientation: has no effect.
  public init(decorative cgImage: CGImage, scale: CGFloat, orientation: Image.Orientation = .up) {
    self.init([:], .file(UIImage(cgImage: cgImage, scale: scale)))
  }
  /// - Parameter orientation: has no effect.
  public init(_ cgImage: CGImage, scale: CGFloat, orientation: Image.Orientation = .up, label: Text) {
    self.init([.label: label.resolved(in: .current).archived], .file(UIImage(cgImage: cgImage, scale: scale)))
  }

  /// How the pixels of an image are turned. Source: `SwiftUI.Image.Orientation`.
  public enum Orientation: UInt8, CaseIterable, Hashable, Sendable {
    case up = 1
    case upMirrored, down, downMirrored, leftMirrored, right, rightMirrored, left
  }
}

extension Color {
  public init(uiColor: UIColor) {
    let ownColor: Color =
      switch uiColor.knownColor {
      case .name(let name): Color(named: ArchivedValue.systemName(name))
      case .asset(let name): Color(asset: name)
      case .parts(let red, let green, let blue): Color(red: red, green: green, blue: blue)
      // The appearance of the view that is being evaluated. Reading it makes the view depend on it.
      case .dynamic(let color): Color(uiColor: color.color(for: EnvironmentValues.current.traits))
      }
    self = uiColor.alpha == 1 ? ownColor : ownColor.opacity(uiColor.alpha)
  }
  // An asset catalog can give a `ColorResource` and a `UIColor` the same name. Apple's SDK deprecates this one.
  @_disfavoredOverload public init(_ color: UIColor) { self.init(uiColor: color) }
  public init(cgColor: CGColor) { self.init(uiColor: UIColor(cgColor: cgColor)) }
}

extension UIColor {
  /// Ends the process for a mixture of colours, whose values only the device computes.
  public convenience init(_ color: Color) {
    switch color.value {
    case .string(let name): self.init(systemName: name)
    case .record(let parts):
      if let red = parts[.red]?.number, let green = parts[.green]?.number, let blue = parts[.blue]?.number {
        self.init(red: red, green: green, blue: blue, alpha: parts[.opacity]?.number ?? 1)
      } else if let name = parts[.asset]?.string, let asset = UIColor(named: name) {
        self.init(asset)
      } else {
        fatalError("UIColor(Color): the device, and not this process, computes \(color)")
      }
    default: fatalError("UIColor(Color): the device, and not this process, computes \(color)")
    }
  }
}

extension EnvironmentValues {
  /// Makes `UITraitCollection.current` that of the view that is being evaluated.
  package static func provideTraits() { UITraitCollection.setCurrent { EnvironmentValues.current.traits } }

  /// As UIKit names them.
  package var traits: UITraitCollection {
    UITraitCollection(
      isDark: colorScheme == .dark, textSize: DynamicTypeSize.allCases.firstIndex(of: dynamicTypeSize) ?? 3)
  }
}

extension Font {
  public init(_ font: UIFont) {
    if let name = font.ownName {
      self = .custom(name, fixedSize: font.pointSize)
      return
    }
    let weights: [(UIFont.Weight, Font.Weight)] = [
      (.ultraLight, .ultraLight), (.thin, .thin), (.light, .light), (.regular, .regular), (.medium, .medium),
      (.semibold, .semibold), (.bold, .bold), (.heavy, .heavy), (.black, .black),
    ]
    let weight = weights.min {
      abs($0.0.rawValue - font.weight.rawValue) < abs($1.0.rawValue - font.weight.rawValue)
    }?.1
    let plain = Font.system(
      size: font.pointSize, weight: weight == .regular ? nil : weight,
      design: font.design == .monospaced ? .monospaced : nil)
    switch font.design {
    case .monospacedDigit: self = plain.monospacedDigit()
    case .italic: self = plain.italic()
    case .monospaced, .standard: self = plain
    }
  }
}

extension Path {
  public init(_ path: CGPath) {
    for element in path.elements {
      switch element {
      case .move(let point): move(to: point)
      case .line(let point): addLine(to: point)
      case .quad(let end, let control): addQuadCurve(to: end, control: control)
      case .curve(let end, let first, let second): addCurve(to: end, control1: first, control2: second)
      case .close: closeSubpath()
      }
    }
  }
}
