// SPDX-License-Identifier: Apache-2.0

import Archive
import Foundation
import Layout
import Logging
import Messages
import Timekeeping

/// Lays out archived entries, to find the sizes of the closures in their views. The fonts are read at the first use.
actor ClosureLayout {
  private lazy var font: InterFont? = {
    do {
      return try InterFont()
    } catch {
      logger.warning("GeometryReader and custom shapes have the sizes that the extension assumes: \(error)")
      return nil
    }
  }()
  private let logger = Logger(label: "host-system")
  private nonisolated let executor = ServiceExecutor("closure layout")

  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  /// The sizes of the closures that were called with another size. None without HarfBuzz: then the views stay as the
  /// extension assumed them.
  func sizes(in entry: ArchivedEntry, _ environment: WidgetEnvironment) -> [ClosureSizes] {
    guard let font else { return [] }
    return entry.closureSizes(in: environment, measuring: font)
  }
}

extension ArchivedEntry {
  /// The sizes of the closures in each form of the views that were called with another size.
  func closureSizes(in environment: WidgetEnvironment, measuring measure: any TextMeasure) -> [ClosureSizes] {
    var foundSizes: [ClosureSizes] = []
    func add(_ form: FormName, scheme: ColorSchemeName, view: ViewArchive?) {
      guard let view else { return }
      let sizes = view.closureSizes(
        in: environment, appearance: environment.appearance(at: date, isHidden: form == .hidden), scheme: scheme,
        measure: measure)
      if !sizes.isEmpty { foundSizes.append(ClosureSizes(form: form, scheme: scheme, sizes: sizes)) }
    }
    add(.shown, scheme: .light, view: view)
    add(.shown, scheme: .dark, view: darkView)
    for (name, form) in [(FormName.hidden, privateForm), (.invalidated, invalidatedForm)] {
      add(name, scheme: .light, view: form?.view)
      add(name, scheme: .dark, view: form?.darkView)
    }
    return foundSizes
  }
}

extension WidgetEnvironment {
  fileprivate func appearance(at date: Date, isHidden: Bool) -> ScreenAppearance {
    ScreenAppearance(
      now: date, locale: Locale(identifier: settings.locale), timeZone: TimeZone(identifier: settings.timeZone) ?? .gmt,
      hidesPrivate: isHidden, showsBackground: showsBackground)
  }
}

extension ViewArchive {
  fileprivate func closureSizes(
    in environment: WidgetEnvironment, appearance: ScreenAppearance, scheme: ColorSchemeName,
    measure: any TextMeasure
  ) -> [String: ClosureSizes.Size] {
    let settings = environment.settings
    let canvas = LayoutCanvas(
      size: Size(width: environment.width, height: environment.height), margins: environment.appliedMargins,
      scale: environment.displayScale, isRightToLeft: settings.isRightToLeft, family: environment.family)
    let style = ViewStyle(textSize: settings.textSize, colorScheme: scheme, isTextBold: settings.isTextBold)
    // Less than for a picture: the timelines of all extensions wait for this.
    let limits = LayoutLimits(depth: 200, measurements: 50_000)
    return shown(appearance).laidOut(in: canvas, style: style, measuring: measure, limits: limits).closures
      .mapValues { ClosureSizes.Size(width: $0.width, height: $0.height) }
  }
}
