// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
package import Logging
import Messages

/// Log lines on standard error: time (UTC), level, process, message, metadata as `key=value`, sorted. Control characters
/// are escaped: the texts of a line may come from outside.
///
/// `2026-11-21T03:20:15.123Z notice process-agent: spawned address=device/iphone/app/com.example.A pid=4711`
package struct LineLogHandler: LogHandler {
  private let label: String
  package var logLevel: Logger.Level = .info
  package var metadata: Logger.Metadata = [:]
  package var metadataProvider: Logger.MetadataProvider?

  package init(label: String) { self.label = label }

  /// Installs this log handler for all loggers of the process. Call it once, at launch. `WIDGETLAB_LOG_LEVEL` (`trace`,
  /// `debug`, `info`, `notice`, `warning`, `error`, `critical`) sets the level; the default is `notice`.
  package static func bootstrap() {
    // Not through Foundation, which makes a dictionary of all variables.
    let level = getenv("WIDGETLAB_LOG_LEVEL").flatMap { Logger.Level(rawValue: String(cString: $0)) } ?? .notice
    LoggingSystem.bootstrap { label in
      var handler = LineLogHandler(label: label)
      handler.logLevel = level
      return handler
    }
  }

  package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  package func log(event: LogEvent) {
    let bytes = Array(line(event, at: Date()).utf8)
    // One write per line, so that lines of several threads do not interleave. A line that cannot be written is lost.
    _ = write(STDERR_FILENO, bytes, bytes.count)
  }

  func line(_ event: LogEvent, at date: Date) -> String {
    let all = metadata.merging(metadataProvider?.get() ?? [:]) { $1 }.merging(event.metadata ?? [:]) { $1 }
    let details = all.sorted { $0.key < $1.key }.map { " \($0.key)=\(quoted($0.value.description))" }.joined()
    let time = date.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    return "\(time) \(event.level) \(label): \(event.message.description.escapingControls)\(details)\n"
  }

  private func quoted(_ value: String) -> String {
    let shown = value.escapingControls
    let isPlain = !shown.isEmpty && shown == value && !shown.contains { $0 == " " || $0 == "\"" }
    return isPlain ? shown : "\"\(shown.replacing("\"", with: "\\\""))\""
  }
}
