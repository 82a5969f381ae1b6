// SPDX-License-Identifier: Apache-2.0

import Foundation
import Hummingbird
import NIOCore

/// Accepts subscriptions from the app's push token handler, and drinks.
struct Routes: Sendable {
  let figures: Figures.Source
  /// `nil` when no pushes are sent.
  let sender: PushSender?

  private var storage: Storage { figures.storage }

  func add(to router: Router<BasicRequestContext>) {
    router.put("subscriptions/:installation") { request, context in
      let sent = try await request.decode(as: SentSubscription.self, context: context)
      return try await put(sent, installation: try context.parameters.require("installation"))
    }
    router.delete("subscriptions/:installation") { _, context in
      try await storage.remove(installation: try context.parameters.require("installation"))
      return Response(status: .noContent)
    }
    router.get("subscriptions") { _, _ in try Response(json: try await storage.subscriptions()) }
    router.get("pushes") { _, _ in try Response(json: try await storage.pushes()) }
    router.post("drinks") { request, context in
      let sent = try await request.decode(as: SentDrink.self, context: context)
      try await add(sent)
      let today = try await figures.figures(seed: nil, size: nil)
      return Response(
        status: .created, headers: [.contentType: "application/json"],
        body: ResponseBody(byteBuffer: ByteBuffer(bytes: today.bytes(0..<today.size))))
    }
  }

  private struct SentSubscription: Decodable {
    let token: String
    let widgets: [Subscription.Widget]
  }

  private struct SentDrink: Decodable {
    let name: String
    let milligrams: Int
  }

  /// Responds with 200 when the token is on disk. Without a widget there is nothing to push to.
  private func put(_ sentSubscription: SentSubscription, installation: String) async throws -> Response {
    guard !sentSubscription.widgets.isEmpty else {
      try await storage.remove(installation: installation)
      return Response(status: .noContent)
    }
    guard !sentSubscription.token.isEmpty, sentSubscription.token.count <= 1024,
      sentSubscription.token.utf8.allSatisfy(Self.isHexadecimal)
    else {
      throw HTTPError(.badRequest, message: "token must be the device token in hexadecimal")
    }
    let subscription = Subscription(
      installation: installation, token: sentSubscription.token.lowercased(), widgets: sentSubscription.widgets,
      registered: .now)
    try await storage.put(subscription)
    sender?.wake()
    return try Response(json: subscription)
  }

  private func add(_ drink: SentDrink) async throws {
    guard !drink.name.isEmpty, drink.name.count <= 100, (0...1000).contains(drink.milligrams) else {
      throw HTTPError(.badRequest, message: "a drink needs a name of 1 to 100 characters, and 0 to 1000 milligrams")
    }
    try await storage.add(PostedDrink(name: drink.name, milligrams: drink.milligrams, time: .now))
    sender?.wake()
  }

  private static func isHexadecimal(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
      UInt8(ascii: "A")...UInt8(ascii: "F"):
      true
    default: false
    }
  }
}
