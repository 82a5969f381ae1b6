// SPDX-License-Identifier: Apache-2.0

package import ArgumentParser
package import Cluster
package import FaultPoints
package import Messages

/// The options of every standing process.
package struct StandingProcessOptions: ParsableArguments {
  /// The path of the instance's folder.
  @Option(help: "The cluster's folder.", completion: .directory)
  package var instance: String

  /// The pid of the parent. `ParentDeathSignal` reads it before all other options.
  @Option(help: "Exit when the parent process with this id exits.")
  package var dieWithParent: Int32?

  package init() {}

  /// - Returns: `nil` when ArgumentParser must read the arguments.
  package init?(_ arguments: inout PlainArguments) {
    guard let instance = arguments.take("--instance") else { return nil }
    var parent: Int32?
    if let text = arguments.take("--die-with-parent") {
      guard let pid = Int32(text) else { return nil }
      parent = pid
    }
    self.init()
    self.instance = instance
    self.dieWithParent = parent
  }

  /// The instance's folder.
  package var folder: InstanceFolder { InstanceFolder(instance) }

  /// Maps the page of fault points, if the instance has one. Call it before anything is written.
  ///
  /// - Parameter address: of this process.
  /// - Returns: whether it has one.
  /// - Throws: when the page cannot be used.
  @discardableResult
  package func joinFaultPoints(as address: Address) throws(FaultPointError) -> Bool {
    try FaultPointPage.join(folder.faultPoints, as: address)
  }
}

/// The option of a standing process that needs a `widgetlab.yaml`.
package struct ConfigurationOption: ParsableArguments {
  /// The path of the file.
  @Option(name: .customLong("config"), help: "The cluster's widgetlab.yaml.", completion: .file())
  package var path: String

  package init() {}

  /// - Returns: `nil` when ArgumentParser must read the arguments.
  package init?(_ arguments: inout PlainArguments) {
    guard let path = arguments.take("--config") else { return nil }
    self.init()
    self.path = path
  }

  /// Reads the file.
  ///
  /// - Throws: `configuration`, with the line of the mistake.
  package func load() throws(ClusterError) -> ClusterConfiguration { try ClusterConfiguration.load(path) }
}
