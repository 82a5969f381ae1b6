// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// An object that can respond to events. Source: `UIKit.UIResponder`.
@MainActor open class UIResponder: NSObject {
  public required nonisolated override init() { super.init() }
}

/// The app. Source: `UIKit.UIApplication`.
@MainActor open class UIApplication: UIResponder {
  /// The state of the app. Source: `UIKit.UIApplication.State`.
  public enum State: Int, Sendable {
    /// In the foreground.
    case active = 0
    /// In the foreground, without receiving events.
    case inactive = 1
    /// In the background.
    case background = 2
  }

  /// A key of the launch options. Source: `UIKit.UIApplication.LaunchOptionsKey`.
  public struct LaunchOptionsKey: Hashable, RawRepresentable, Sendable {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }
  }

  private static var instance: UIApplication?

  /// The app of this process.
  public class var shared: UIApplication {
    guard let instance else { fatalError("UIApplication.shared is available only while the app's main() runs") }
    return instance
  }

  /// Opens the settings of the app. Source: `UIKit.UIApplication.openSettingsURLString`.
  public nonisolated static let openSettingsURLString = "app-settings:"

  /// The author's delegate.
  open weak var delegate: (any UIApplicationDelegate)?
  public internal(set) var applicationState = State.background

  /// Set for a SwiftUI app; `nil` without views.
  var opensURL: OpensURL?
  /// Ends the process after SIGTERM.
  var leaving: Task<Void, Never>?
  // The app retains its delegate, as UIApplicationMain does.
  private var keptDelegate: (any UIApplicationDelegate)?

  package func begin(with delegate: (any UIApplicationDelegate)?) {
    UIApplication.instance = self
    keptDelegate = delegate
    self.delegate = delegate
  }
}
