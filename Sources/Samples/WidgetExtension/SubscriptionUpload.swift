// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization
import WidgetKit

/// The push token and widgets of this installation.
struct Subscription: Codable, Sendable {
  struct Widget: Codable, Sendable {
    let kind: String
    let family: String
  }

  /// Hexadecimal.
  let token: String
  let widgets: [Widget]
}

/// Sends the subscription to the developer's server in a background session: it waits for a network, and outlives the
/// extension's process.
final class SubscriptionUpload: NSObject, URLSessionDataDelegate, Sendable {
  static let shared = SubscriptionUpload()
  static let sessionIdentifier = "com.example.CaffeineTracker.Widget.subscription"

  private let made = Mutex<URLSession?>(nil)
  @MainActor private var completions: [() -> Void] = []

  private var session: URLSession {
    made.withLock { made in
      if let made { return made }
      let configuration = URLSessionConfiguration.background(withIdentifier: Self.sessionIdentifier)
      configuration.sharedContainerIdentifier = FiguresFile.group
      let session = URLSession(configuration: configuration, delegate: self, delegateQueue: nil)
      made = session
      return session
    }
  }

  /// Starts to send a subscription, and cancels one that has not been sent yet.
  func send(_ subscription: Subscription) async {
    let folder = FileManager.default.containerURL(forSecurityApplicationGroupIdentifier: FiguresFile.group)
    guard let folder, let server = CaffeineServer.shared else { return }
    let session = session
    for task in await session.allTasks { task.cancel() }
    do {
      let address = server.url.appendingPathComponent("subscriptions/\(try installation(in: folder))")
      var request = URLRequest(url: address)
      request.httpMethod = "PUT"
      request.setValue("application/json", forHTTPHeaderField: "Content-Type")
      let file = folder.appendingPathComponent("subscription.json")
      try JSONEncoder().encode(subscription).write(to: file, options: .atomic)
      session.uploadTask(with: request, fromFile: file).resume()
    } catch {
      print("the push token could not be sent: \(error)")
    }
  }

  /// The identifier of this installation at the server, whatever its token.
  private func installation(in folder: URL) throws -> String {
    let file = folder.appendingPathComponent("installation")
    if let name = try? String(contentsOf: file, encoding: .utf8) { return name }
    let name = UUID().uuidString
    try name.write(to: file, atomically: true, encoding: .utf8)
    return name
  }

  /// Called when the system has events of the session. `completion` is called after all of them are delivered.
  @MainActor func handleEvents(completion: @escaping () -> Void) {
    completions.append(completion)
    _ = session
  }

  func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
    let status = (task.response as? HTTPURLResponse)?.statusCode
    if let error, (error as? URLError)?.code != .cancelled {
      print("the push token was not delivered: \(error)")
    } else if let status {
      print("the server received the push token: \(status)")
    }
  }

  func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession) {
    Task { @MainActor in
      let waiting = completions
      completions = []
      for completion in waiting { completion() }
    }
  }
}
