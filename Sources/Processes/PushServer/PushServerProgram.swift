import ArgumentParser
import Cluster
import Foundation

/// The command `push-server`.
package enum PushServerProgram {
  /// Plays Apple's push servers until it is asked to end.
  package static func main() async {
    Birth.dieWithParentIfAsked(CommandLine.arguments)
    LineLogHandler.bootstrap()
    await PushServerCommand.main()
  }
}

struct PushServerCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "push-server",
    abstract: "Plays APNs: takes notifications from providers over HTTP/2, and brings them to the devices of the bus.",
    discussion: """
      Listens on two ports, as the development and the production environment. What it answers 200 is on disk first, and \
      is delivered when the device can be reached, also by the next life of this process. `widgetlab up` starts it; by hand:

        push-server --instance DIR --config widgetlab.yaml
        widgetlab env --instance DIR       what a provider needs: URL, key, CA
        widgetlab push log --follow        what becomes of each notification, and why one was refused

      DIR/push-server.json says where it listens. DIR/push-server holds its database, and in \
      `credentials/provider` what a provider is given.

      Ends with 0 on SIGTERM or SIGINT, after it has told providers so and has answered what is under way.
      """)

  @Option(help: "The cluster's folder.", completion: .directory)
  var instance: String

  @Option(help: "A widgetlab.yaml: its `pushServer` has what is not named here.", completion: .file())
  var config: String

  @Option(help: "The address to listen on.")
  var listen: String?

  @Option(help: "The host name to announce, and in the certificate, where --listen names every interface (0.0.0.0).")
  var advertise: String?

  @Option(help: "The port of the development environment; 0 for a free one.")
  var developmentPort: Int?

  @Option(help: "The port of the production environment; 0 for a free one.")
  var productionPort: Int?

  @Option(name: .customLong("die-with-parent"), help: "Ends when its parent does, whose process id this is.")
  var parent: Int32?

  func run() async throws {
    do {
      let configuration = try ClusterConfiguration.load(config)
      var place = configuration.pushServer ?? ClusterConfiguration.PushServer()
      place.listen = listen ?? place.listen
      place.advertise = advertise ?? place.advertise
      place.developmentPort = developmentPort ?? place.developmentPort
      place.productionPort = productionPort ?? place.productionPort
      try await PushService(place, instance: InstanceFolder(instance)).run()
    } catch {
      FileHandle.standardError.write(Data("push-server: \(error)\n".utf8))
      throw ExitCode.failure
    }
  }
}
