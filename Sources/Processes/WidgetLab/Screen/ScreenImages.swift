// SPDX-License-Identifier: Apache-2.0

import Archive
import Foundation
import MessageBus
import Messages

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
