// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The scenes that an app's `Info.plist` declares. Source: *UIApplicationSceneManifest*.
struct SceneManifest {
  /// One of `UISceneConfigurations`.
  private struct Configuration {
    let name: String?
    let delegateClass: String?
  }

  private let configurations: [String: [Configuration]]

  /// - Parameter object: the value of `UIApplicationSceneManifest`; `nil` for an app without scenes.
  init?(_ object: Any?) {
    guard let manifest = object as? [String: Any] else { return nil }
    let roles = manifest["UISceneConfigurations"] as? [String: Any] ?? [:]
    configurations = roles.mapValues { entries in
      (entries as? [Any] ?? []).compactMap { $0 as? [String: Any] }.map {
        Configuration(
          name: $0["UISceneConfigurationName"] as? String, delegateClass: $0["UISceneDelegateClassName"] as? String)
      }
    }
  }

  /// The name of the delegate's class: of the configuration with this name, or else of the first one.
  func delegateClass(_ role: String, named name: String?) -> String? {
    let ofRole = configurations[role] ?? []
    return (name == nil ? ofRole.first : ofRole.first { $0.name == name })?.delegateClass
  }
}

extension UIApplication {
  /// Connects the app's scene, as when the app comes to the foreground first.
  func connectScene(_ options: UIScene.ConnectionOptions, log: (String) -> Void) {
    let session = UISceneSession(role: .windowApplication, identifier: UUID().uuidString)
    let configuration =
      delegate?.application(self, configurationForConnecting: session, options: options)
      ?? UISceneConfiguration(name: nil, sessionRole: session.role)
    session.configuration = configuration
    let scene = UIWindowScene(session: session, connectionOptions: options)
    scene.activationState = .background
    self.scene = scene
    if configuration.delegateClass == nil {
      configuration.delegateClass = declaredClass(of: configuration, log: log)
    }
    if let type = configuration.delegateClass as? any UISceneDelegate.Type { scene.delegate = made(type) }
    guard let sceneDelegate = scene.delegate else { return }
    sceneDelegate.scene(scene, willConnectTo: session, options: options)
    guard !options.isEmpty, !options.isRead else { return }
    log("launched from a widget: scene(_:willConnectTo:options:) does not read its urlContexts or userActivities")
  }

  private func declaredClass(of configuration: UISceneConfiguration, log: (String) -> Void) -> AnyClass? {
    let role = configuration.role.rawValue
    guard let named = sceneManifest?.delegateClass(role, named: configuration.name) else { return nil }
    // A variable of the build that the author's Info.plist still has.
    let module = delegate.map { String(reflecting: type(of: $0)).prefix { $0 != "." } } ?? ""
    let name = named.replacingOccurrences(of: "$(PRODUCT_MODULE_NAME)", with: module)
    let found: AnyClass? = NSClassFromString(name)
    if !(found is any UISceneDelegate.Type) {
      log("Info.plist names the scene delegate \(name): there is no such class")
    }
    return found
  }

  private func made(_ type: any UISceneDelegate.Type) -> any UISceneDelegate {
    func open<Delegate: UISceneDelegate>(_ type: Delegate.Type) -> any UISceneDelegate { type.init() }
    return open(type)
  }
}
