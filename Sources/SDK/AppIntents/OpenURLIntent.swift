// SPDX-License-Identifier: Apache-2.0

public import Foundation
public import URLSessionAPI

/// An intent that opens the app with a URL, as a link does. Source: `AppIntents.OpenURLIntent`.
public struct OpenURLIntent: SystemIntent {
  public static let title: LocalizedStringResource = "Open URL"
  public static var openAppWhenRun: Bool { true }

  @IntentParameter(title: "URL") public var url: URL

  public init() {}
  public init(_ url: URL) { self.url = url }

  @concurrent public func perform() async throws -> some IntentResult & OpensIntent { .result(opensIntent: self) }
}
