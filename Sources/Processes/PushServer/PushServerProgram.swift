import ArgumentParser
import Cluster
import Foundation

/// The command `push-server`.
package enum PushServerProgram {
  /// Runs until SIGTERM or SIGINT.
  package static func main() async {
    ParentDeathSignal.exitWithParentIfRequested(CommandLine.arguments)
    LineLogHandler.bootstrap()
    await PushServerCommand.main()
  }
}

struct PushServerCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "push-server",
    abstract: "Simulate APNs: receive notifications over HTTP/2 and deliver them to the devices on the bus.",
    discussion: """
      Listens on two ports: the development and the production environment. A notification is on disk before its 200 \
      is sent, and is delivered when the device can be reached, even after a restart. `widgetlab up` starts it; manually:

        push-server --instance DIR --config widgetlab.yaml
        widgetlab env --instance DIR       URL, key and CA for a provider
        widgetlab push log --follow        progress of each notification, and why one was refused

      DIR/push-server.json has the addresses. DIR/push-server has the database and, in \
      `credentials/provider`, the files for a provider.

      On SIGTERM or SIGINT it sends GOAWAY to providers, answers open requests, and exits with 0.
      """)

  @Option(help: "The cluster's folder.", completion: .directory)
  var instance: String

  @Option(help: "A widgetlab.yaml: the defaults of the other options are in `pushServer`.", completion: .file())
  var config: String

  @Option(help: "The address to listen on.")
  var listen: String?

  @Option(help: "The host name for providers and for the certificate; required with --listen 0.0.0.0.")
  var advertise: String?

  @Option(help: "The port of the development environment; 0 for a free one.")
  var developmentPort: Int?

  @Option(help: "The port of the production environment; 0 for a free one.")
  var productionPort: Int?

  @Option(name: .customLong("die-with-parent"), help: "Exit when the parent process with this id exits.")
  var parent: Int32?

  func run() async throws {
    do {
      let configuration = try ClusterConfiguration.load(config)
      var place = configuration.pushServer ?? ClusterConfiguration.PushServer()
      place.listen = listen ?? place.listen
      place.advertise = advertise ?? place.advertise
      place.developmentPort = developmentPort ?? place.developmentPort
      place.productionPort = productionPort ?? place.productionPort
      try await PushServerService(place, instance: InstanceFolder(instance)).run()
    } catch {
      FileHandle.standardError.write(Data("push-server: \(error)\n".utf8))
      throw ExitCode.failure
    }
  }
}
