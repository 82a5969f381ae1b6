// SPDX-License-Identifier: Apache-2.0

import Archive
import FaultPoints
import Foundation

/// The folder of one running cluster: its keys, its journal, its devices. Clusters with different folders run side by
/// side.
///
/// ```text
/// keys/<holder>/   the standing key of one holder, mode 0600
/// known/           the public halves of the keys that the broker accepts
/// bus/bus.json     where the broker listens
/// bus/numbers      the numbers and generations that brokers may have given
/// journal/         the segments of the journal
/// device/<name>/   containers, bundles, app groups, keychain, transfers and clock of a device
/// host/            the host's database, inaccessible to the author's code
/// logs/            output of the standing processes
/// provider.json    where the provider server listens
/// ports.json       the ports that provider and push server had first, and keep
/// push-server/     the push server's database and credentials
/// push-server.json where the push server listens, and the credentials that a provider needs
/// fleet/<name>/    the database and the announcement of a fleet
/// database/        the password for PostgreSQL, if it was requested
/// metrics/         where each process exposes its metrics
/// fault-points     only during a campaign: the page by which faults are injected into the processes
/// ```
package struct InstanceFolder: Sendable, Hashable {
  /// Absolute, without a trailing slash.
  package let path: String

  /// - Parameter path: the folder, which need not exist yet; relative to the working directory unless absolute.
  package init(_ path: String) {
    self.path = URL(fileURLWithPath: path).standardizedFileURL.path
  }

  package var keys: String { path + "/keys" }
  package var knownFolder: String { path + "/known" }
  package var bus: String { path + "/bus" }
  package var busAnnouncement: String { bus + "/bus.json" }
  /// The numbers and generations that brokers may have given.
  package var busNumbers: String { bus + "/numbers" }
  package var journal: String { path + "/journal" }
  package var host: String { path + "/host" }
  package var logs: String { path + "/logs" }
  /// The folder of the password for PostgreSQL.
  package var database: String { path + "/database" }
  /// The folder of the files in which processes announce where they expose metrics.
  package var metrics: String { path + "/metrics" }
  package var providerAnnouncement: String { path + "/provider.json" }
  package var pushServer: String { path + "/push-server" }
  /// Certificates and provider keys. Its subfolder `provider` holds the files for a provider.
  package var pushCredentials: String { pushServer + "/credentials" }
  package var pushServerAnnouncement: String { path + "/push-server.json" }
  /// The announcement of one of several push servers.
  package func pushServerAnnouncement(of replica: String) -> String { path + "/push-server-\(replica).json" }
  /// The page by which a campaign injects faults. Processes that start without it have no fault points.
  package var faultPoints: String { path + "/" + FaultPointPage.fileName }

  /// The folders of the fleets.
  package var fleets: String { path + "/fleet" }
  package func fleet(_ name: String) -> String { fleets + "/" + name }

  /// The folders of one device.
  package func device(_ name: String) -> DeviceFolder { DeviceFolder(path: path + "/device/" + name) }

  /// Creates the missing folders, mode 0700.
  ///
  /// - Throws: `instance-folder`.
  package func create() throws(ClusterError) {
    for folder in [path, keys, knownFolder, bus, journal, path + "/device", host, logs] {
      try makeDurableFolder(folder)
    }
  }

  /// Creates the folder of the push server, mode 0700.
  ///
  /// - Throws: `instance-folder`.
  package func createPushServer() throws(ClusterError) { try makeDurableFolder(pushServer) }

  /// Creates the folder of a fleet, mode 0700.
  ///
  /// - Throws: `instance-folder`.
  package func createFleet(_ name: String) throws(ClusterError) {
    for folder in [fleets, fleet(name)] { try makeDurableFolder(folder) }
  }
}

extension InstanceFolder {
  /// Creates the folder of the announcements of metrics, mode 0700.
  ///
  /// - Throws: `instance-folder`.
  package func createMetrics() throws(ClusterError) { try makeDurableFolder(metrics) }

  /// Creates a password for PostgreSQL unless it exists: `database/password`, and `database/pgpass` in the format of
  /// libpq's password file, both with mode 0600.
  ///
  /// - Parameter user: of the database.
  /// - Throws: `instance-folder`.
  package func makeDatabasePassword(user: String) throws(ClusterError) {
    try makeDurableFolder(database)
    let path = database + "/password"
    let password: String
    if let present = try? String(contentsOfFile: path, encoding: .utf8) {
      password = present
    } else {
      password = (0..<32).map { _ in UInt8.random(in: .min ... .max) }.hexadecimal
      try JSONFile.writeText(password, to: path)
    }
    try JSONFile.writeText("*:*:*:\(user):\(password)\n", to: database + "/pgpass")
  }
}

/// The folders of one device. All are on one volume, so that moving a file is a rename.
package struct DeviceFolder: Sendable, Hashable {
  package let path: String

  /// The host's files of downloads.
  package var transfers: String { path + "/transfers" }

  /// The page with the device's time, which the device's processes read.
  package var clockPage: String { path + "/clock" }

  /// The environment variable with the path of the clock page.
  package static let clockPageVariable = "WIDGETLAB_CLOCK_PAGE"

  /// The folders of the containers, by bundle identifier.
  package var containers: String { path + "/containers" }
  /// The folder of an app's or an extension's containers. There is one, except while an update moves it.
  package func containers(of bundle: String) -> String { containers + "/" + bundle }

  /// The folder of the bundle of an app, which contains those of its extensions.
  package func bundle(of app: String) -> String { path + "/bundles/" + app }

  /// The folder that the members of an app group share.
  package func group(_ identifier: String) -> String { path + "/groups/" + identifier }

  /// The folder of the keychain. An author's process creates it with its first item. It is in no container, so that an
  /// update does not move it.
  package var keychain: String { path + "/keychain" }

  /// Creates the missing folders of a container, the home of an app or an extension: `Documents`, `Library/Caches`,
  /// `tmp`, mode 0700.
  ///
  /// - Throws: `instance-folder`.
  package static func makeContainer(at path: String) throws(ClusterError) {
    for folder in ["", "/Documents", "/Library/Caches", "/tmp"] { try makeFolder(path + folder) }
  }

  /// Creates the folders of app groups, mode 0700.
  ///
  /// - Returns: their paths by identifier.
  /// - Throws: `instance-folder`.
  @discardableResult
  package func makeGroups(_ identifiers: [String]) throws(ClusterError) -> [String: String] {
    var paths: [String: String] = [:]
    for identifier in identifiers {
      paths[identifier] = group(identifier)
      try makeFolder(group(identifier))
    }
    return paths
  }

  /// Creates the folder of the transfers, mode 0700. Its name is on the disk after `synchronizeTransfers()`.
  ///
  /// - Throws: `instance-folder`.
  package func makeTransfers() throws(ClusterError) { try makeFolder(transfers) }

  /// Waits until the names of the folder of the transfers and of the device's folder are on the disk: a file is lost with
  /// each folder above it.
  ///
  /// - Throws: `instance-folder`.
  package func synchronizeTransfers() throws(ClusterError) {
    for folder in [path, transfers] { try synchronizeName(of: folder) }
  }
}

/// A small JSON file that is written atomically.
package enum JSONFile {
  /// Reads a file; `nil` when it does not exist.
  ///
  /// - Throws: `instance-folder` when it cannot be read or does not decode as `T`.
  package static func read<T: Decodable>(_ type: T.Type, at path: String) throws(ClusterError) -> T? {
    let data: Data
    do {
      data = try Data(contentsOf: URL(fileURLWithPath: path))
    } catch let error as CocoaError where error.code == .fileReadNoSuchFile {
      return nil
    } catch {
      throw ClusterError(.folder, "\(path) cannot be read: \(error.localizedDescription)")
    }
    do {
      return try JSONDecoder().decode(type, from: data)
    } catch {
      throw ClusterError(.folder, "\(path) is damaged (\(error)): remove it and restart the cluster")
    }
  }

  /// Writes a file atomically, mode 0600. Replaces an existing file.
  ///
  /// - Throws: `instance-folder`.
  package static func write<T: Encodable>(_ value: T, to path: String) throws(ClusterError) {
    try take(try writeTemporary(value, beside: path), as: path)
  }

  /// Writes a text atomically, mode 0600. Replaces an existing file.
  static func writeText(_ text: String, to path: String) throws(ClusterError) {
    try take(try writeTemporary(Data(text.utf8), beside: path), as: path)
  }

  private static func take(_ temporary: String, as path: String) throws(ClusterError) {
    guard rename(temporary, path) == 0 else {
      let reason = String(cString: strerror(errno))
      unlink(temporary)
      throw ClusterError(.folder, "\(path) cannot be written: \(reason)")
    }
  }

  /// Writes a file unless it exists, mode 0600.
  ///
  /// - Returns: whether it was written.
  /// - Throws: `instance-folder`.
  package static func writeIfMissing<T: Encodable>(_ value: T, to path: String) throws(ClusterError) -> Bool {
    let temporary = try writeTemporary(value, beside: path)
    defer { unlink(temporary) }
    if link(temporary, path) == 0 { return true }
    guard errno == EEXIST else {
      throw ClusterError(.folder, "\(path) cannot be written: \(String(cString: strerror(errno)))")
    }
    return false
  }

  private static func writeTemporary<T: Encodable>(_ value: T, beside path: String) throws(ClusterError) -> String {
    let data: Data
    do {
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
      data = try encoder.encode(value) + Data("\n".utf8)
    } catch {
      throw ClusterError(.folder, "\(path) cannot be written: \(error.localizedDescription)")
    }
    return try writeTemporary(data, beside: path)
  }

  private static func writeTemporary(_ data: Data, beside path: String) throws(ClusterError) -> String {
    let temporary = "\(path).\(UUID().uuidString)"
    do {
      let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
      guard descriptor >= 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
      let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
      try file.write(contentsOf: data)
      try file.synchronize()
      try file.close()
    } catch {
      unlink(temporary)
      throw ClusterError(.folder, "\(path) cannot be written: \(error.localizedDescription)")
    }
    return temporary
  }
}

/// Creates a folder if it is missing, and then waits until its name is on the disk: a file in it is lost with the folder.
private func makeDurableFolder(_ path: String) throws(ClusterError) {
  guard !FileManager.default.fileExists(atPath: path) else { return }
  try makeFolder(path)
  try synchronizeName(of: path)
}

private func synchronizeName(of path: String) throws(ClusterError) {
  let parent = URL(fileURLWithPath: path).deletingLastPathComponent().path
  let descriptor = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
  defer { close(descriptor) }
  guard descriptor >= 0, fsync(descriptor) == 0 else {
    throw ClusterError(.folder, "the folder \(parent) cannot be synchronised: \(String(cString: strerror(errno)))")
  }
}

func makeFolder(_ path: String) throws(ClusterError) {
  do {
    try FileManager.default.createDirectory(
      atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
  } catch {
    throw ClusterError(
      .folder, "the folder \(path) cannot be created: \(error.localizedDescription); choose another with --instance")
  }
}

/// Why a cluster cannot be started or reached. Definite: nothing was done.
package struct ClusterError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The open set of reasons.
  package struct Code: RawRepresentable, Hashable, Sendable {
    package let rawValue: String
    package init(rawValue: String) { self.rawValue = rawValue }
    package init(_ rawValue: String) { self.rawValue = rawValue }

    /// `widgetlab.yaml` cannot be read or is invalid.
    package static let configuration = Code("configuration")
    /// A file or folder of the instance could not be read or written.
    package static let folder = Code("instance-folder")
    /// A standing key is missing or damaged.
    package static let key = Code("key")
    /// A timeout while waiting for a process or a file.
    package static let notThere = Code("not-there")
    /// The limits of the process are too low.
    package static let limit = Code("limit")
    /// `${…}` has a name whose value is not known yet.
    package static let expansion = Code("expansion")
  }

  package let code: Code
  /// What happened, where, and what to do.
  package let message: String

  package init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }

  package var description: String { message }
}
