// SPDX-License-Identifier: Apache-2.0

import Archive
import Cluster
import Foundation
import Layout
import MessageBus
import Messages
import Pictures

extension ScreenCommand {
  /// Draws a screen into a file, and lists on standard error what is not drawn.
  ///
  /// - Parameter fonts: a folder of font files for characters that Inter does not have.
  func draw(
    _ screen: ScreenPrint, _ device: ClusterConfiguration.Device, to path: String, fonts: String?
  ) throws {
    let files = try PictureFiles(fonts: fonts)
    for notice in files.font.notices { Output.printError("widgetlab: \(notice)") }
    let picture = ScreenPicture(screen: screen, device: device).picture(with: files.font)
    let (data, notices) = try files.contents(
      of: picture, as: PictureFormat(path: path) ?? .svg, scale: device.screen.scale)
    do {
      try NamedFile.write(data, to: path)
    } catch {
      throw CommandError(Exit.no, "the picture cannot be written: \(error.localizedDescription)", at: path)
    }
    for notice in notices { Output.printError("widgetlab: \(notice)") }
    let count = screen.reply.tiles.count
    let activities = (screen.reply.activities ?? []).filter { $0.place != nil }.count
    let more = activities == 0 ? "" : ", \(activities) Live \(activities == 1 ? "Activity" : "Activities")"
    if !json { Output.print("\(path): \(count) \(count == 1 ? "widget" : "widgets")\(more)") }
  }
}

/// The widgets of a screen, drawn in rows.
struct ScreenPicture {
  let screen: ScreenPrint
  let device: ClusterConfiguration.Device

  /// Between the widgets, and around them, in points. Ours: a phone has other distances, and icons between the widgets.
  private static let gap = 16.0

  /// The radius of a widget's corners in points: PICTURE-05.
  private var cornerRadius: Double { device.isPad ? 24 : 22 }

  /// A widget and its place.
  struct Place {
    let tile: ShowScreen.Tile
    let origin: Point
    let size: ShowScreen.Tile.Size
  }

  /// The places of all widgets that have a size, and the size of the whole picture.
  var places: (all: [Place], size: Size) {
    let width = device.screen.width
    var all: [Place] = []
    var (x, y, rowHeight) = (Self.gap, Self.gap, 0.0)
    for tile in screen.reply.tiles {
      guard let size = tile.size else { continue }
      if x > Self.gap, x + size.width + Self.gap > width {
        (x, y, rowHeight) = (Self.gap, y + rowHeight + Self.gap, 0)
      }
      all.append(Place(tile: tile, origin: Point(x: x, y: y), size: size))
      x += size.width + Self.gap
      rowHeight = max(rowHeight, size.height)
    }
    return (all, Size(width: width, height: y + rowHeight + Self.gap))
  }

  func picture(with font: InterFont) -> Picture {
    let island = activities(isIsland: true, with: font, below: Self.gap)
    var (drawings, notices) = (island.drawings, island.notices)
    // How far the Dynamic Island moves the widgets down.
    let shift = island.size.height - Self.gap
    let (places, occupied) = places
    for place in places {
      let widget = picture(of: place.tile, place.size, with: font)
      var group = Drawing.Group()
      group.label = name(place.tile)
      group.offset = Point(x: place.origin.x, y: place.origin.y + shift)
      drawings.append(.group(group, widget.drawings))
      notices += widget.notices.map { "\(name(place.tile)): \($0)" }
    }
    let below = activities(isIsland: false, with: font, below: occupied.height + shift)
    drawings += below.drawings
    notices += below.notices
    let size = Size(width: occupied.width, height: below.size.height)
    let isDark = screen.reply.state.colorScheme == .dark
    let wall = Drawing.fill(
      Path(Rect(origin: Point(x: 0, y: 0), size: size)),
      .color(isDark ? RGBA(0.24, 0.26, 0.31) : RGBA(0.8, 0.84, 0.9)), isEvenOdd: false)
    return Picture(size: size, drawings: [wall] + drawings, notices: notices)
  }

  /// The Live Activities in the Dynamic Island, or those on the Lock Screen, one below the other.
  private func activities(isIsland: Bool, with font: InterFont, below top: Double) -> Picture {
    var whole = Picture(size: Size(width: 0, height: top), drawings: [], notices: [])
    for activity in screen.reply.activities ?? [] {
      guard let place = activity.place, isIsland != (place == .lockScreen), activity.views != nil else { continue }
      let maker = ActivityPicture(activity, screen: screen, device: device)
      let picture = maker.picture(of: ActivityPresentation(place), with: font)
      var group = Drawing.Group()
      group.label = "\(activity.activity.number) \(activity.activity.attributesType) \(place.rawValue)"
      group.offset = Point(x: (device.screen.width - picture.size.width) / 2, y: whole.size.height)
      whole.drawings.append(.group(group, picture.drawings))
      whole.notices += picture.notices.map { "Live Activity \(activity.activity.number): \($0)" }
      whole.size.height += picture.size.height + Self.gap
    }
    return whole
  }

  private func name(_ tile: ShowScreen.Tile) -> String {
    "\(tile.placement.id) \(tile.placement.kind) \(tile.placement.family.rawValue)"
  }

  /// The picture of one widget.
  func picture(of tile: ShowScreen.Tile, _ size: ShowScreen.Tile.Size, with font: InterFont) -> Picture {
    let settings = screen.reply.settings
    let canvas = LayoutCanvas(
      size: Size(width: size.width, height: size.height), scale: device.screen.scale,
      isRightToLeft: settings.isRightToLeft, family: tile.placement.family)
    let isAccessory = tile.placement.family.isAccessory
    let style = PictureStyle(
      colorScheme: screen.reply.state.colorScheme, settings: settings, usesIOS26Colors: device.majorVersion >= 26,
      cornerRadius: isAccessory ? 0 : cornerRadius, showsBackground: !isAccessory, mode: tile.renderingMode,
      tint: screen.reply.tint.map { RGBA($0) })
    // The picture needs the opacity of the author's colours, which the accented text leaves out.
    var appearance = screen.appearance(of: tile)
    appearance.isAccented = false
    var picture = tile.view.shown(appearance).picture(in: canvas, style, with: font, images: screen.images)
    if tile.content == .skeleton { picture.notices.append("its extension has provided nothing yet") }
    if let note = tile.note { picture.notices.append(note) }
    return picture
  }
}

/// The format of a picture's file.
enum PictureFormat: String, CaseIterable {
  case svg
  case png

  /// The format of a file name; `nil`: of another file.
  init?(path: String) {
    guard let format = Self.allCases.first(where: { path.hasSuffix(".\($0.rawValue)") }) else { return nil }
    self = format
  }
}

/// Makes the files of pictures with the font of the tool. For one thread.
struct PictureFiles {
  let font: InterFont

  /// - Parameter fonts: a folder of font files for characters that Inter does not have.
  init(fonts: String? = nil) throws(CommandError) {
    do {
      font = try InterFont(fallback: fonts.map { URL(filePath: $0, directoryHint: .isDirectory) })
    } catch {
      throw CommandError(
        Exit.configuration, "\(error)", advice: error.code == .library ? "apt-get install libharfbuzz0b" : nil)
    }
  }

  /// The contents of the file of a picture, and what is not drawn.
  ///
  /// - Parameter scale: pixels for each point, in a PNG file.
  func contents(
    of picture: Picture, as format: PictureFormat, scale: Double
  ) throws(CommandError) -> (data: Data, notices: [String]) {
    switch format {
    case .svg: return (Data(picture.svg(outlines: font).utf8), picture.notices)
    case .png:
      do {
        let (pixels, notices) = try picture.pixels(outlines: font, scale: scale)
        return (Data(try pixels.png()), picture.notices + notices)
      } catch {
        throw CommandError(
          Exit.configuration, "\(error)", advice: error.code == .library ? "apt-get install libcairo2" : nil)
      }
    }
  }
}

extension OperatorSession {
  /// The bytes of the images that the views of a screen show, by their SHA-256. An image that a newer timeline has
  /// replaced in the meantime is left out.
  func images(of screen: ShowScreen.Reply) async throws -> [String: Data] {
    var images: [String: Data] = [:]
    let activities = (screen.activities ?? []).flatMap { $0.views?.items ?? [] }.flatMap(\.form.imageDigests)
    for digest in screen.tiles.flatMap(\.view.imageDigests) + activities where images[digest] == nil {
      images[digest] = try await image(digest)
    }
    return images
  }

  private func image(_ digest: String) async throws -> Data? {
    var data = Data()
    while true {
      let reply: ReadImage.Reply
      do {
        reply = try await ask(ReadImage(digest: digest, offset: data.count))
      } catch let error as BusError where error.code == .noSuchImage {
        return nil
      }
      data.append(reply.piece)
      if reply.piece.isEmpty || data.count >= reply.count { return data }
    }
  }
}

extension ArchivedEntry.Form {
  /// The images of the views, by their SHA-256.
  var imageDigests: [String] { view.imageDigests + (darkView?.imageDigests ?? []) }
}
