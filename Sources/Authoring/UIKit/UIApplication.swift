public import Foundation

/// An object that can respond to events. Source: `UIKit.UIResponder`.
@MainActor open class UIResponder: NSObject {
  /// A responder.
  public required nonisolated override init() { super.init() }
}

/// The app. Source: `UIKit.UIApplication`.
@MainActor open class UIApplication: UIResponder {
  /// Where the app is. Source: `UIKit.UIApplication.State`.
  public enum State: Int, Sendable {
    /// In front.
    case active = 0
    /// In front, and without events.
    case inactive = 1
    /// Not in front.
    case background = 2
  }

  /// A key of the launch options. Source: `UIKit.UIApplication.LaunchOptionsKey`.
  public struct LaunchOptionsKey: Hashable, RawRepresentable, Sendable {
    /// The key's text.
    public let rawValue: String
    /// A key from its text.
    public init(rawValue: String) { self.rawValue = rawValue }
  }

  private static var instance: UIApplication?

  /// The app of this process.
  public class var shared: UIApplication {
    guard let instance else { fatalError("UIApplication.shared is there once the app's main() runs") }
    return instance
  }

  /// The author's delegate.
  open weak var delegate: (any UIApplicationDelegate)?
  /// Where the app is.
  public internal(set) var applicationState = State.background

  /// A SwiftUI app's; `nil` without views.
  var opensURL: OpensURL?
  // The app keeps its delegate, as UIApplicationMain does.
  private var keptDelegate: (any UIApplicationDelegate)?

  package func begin(with delegate: (any UIApplicationDelegate)?) {
    UIApplication.instance = self
    keptDelegate = delegate
    self.delegate = delegate
  }
}
