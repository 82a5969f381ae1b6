// SPDX-License-Identifier: Apache-2.0

package import Archive
import DeviceRules
package import Foundation
package import Messages
import Timekeeping

// Entries of widgets that are not placed: for the gallery, and for pictures. Nothing is stored.

/// What an extension provided for a widget that is not placed.
package struct UnplacedEntries: Sendable {
  /// Number 0, with the bundle of the extension.
  package let placement: Placement
  /// By date, at least one.
  package let entries: [ArchivedEntry]
  /// The bytes of their images by SHA-256.
  package let images: [String: Data]
  /// The texts of the first entry, line by line.
  let text: [String]
}

/// A caller that waits for the entries of a widget that is not placed.
struct UnplacedRequest {
  /// `snapshot` or `timeline`.
  let purpose: RequestTimeline.Purpose
  /// `nil`: that of the gallery.
  let environment: (@Sendable (Placement) -> WidgetEnvironment)?
  let continuation: CheckedContinuation<Result<UnplacedEntries, BusError>, Never>
}

extension TimelineService {
  /// `snapshot.take`. The snapshot is not stored.
  ///
  /// - Throws: `failed` with the reason if no extension provides it.
  package func snapshot(_ request: TakeSnapshot) async throws(BusError) -> TakeSnapshot.Reply {
    let found = try await entries(
      of: request.widgetKind, from: request.bundle, request.family, .snapshot, in: nil)
    return TakeSnapshot.Reply(text: found.text)
  }

  /// The entries of a widget in an environment. They are not stored, and no budget pays for them.
  ///
  /// - Parameters:
  ///   - bundle: the extension; `nil` where only one has the kind.
  ///   - purpose: the provider's method: `snapshot` or `timeline`.
  ///   - environment: of the placement number 0 of an extension.
  /// - Throws: `failed` with the reason if no extension provides them.
  package func entries(
    of kind: String, from bundle: String? = nil, _ family: WidgetFamilyName?, _ purpose: RequestTimeline.Purpose,
    in environment: (@Sendable (Placement) -> WidgetEnvironment)?
  ) async throws(BusError) -> UnplacedEntries {
    lastSnapshot += 1
    let serial = lastSnapshot
    let result = await withCheckedContinuation { continuation in
      waiting[serial] = UnplacedRequest(purpose: purpose, environment: environment, continuation: continuation)
      handle(.snapshot(kind: kind, bundle: bundle, family: family, serial: serial))
      if let failure = core.failure { finishSnapshot(serial, .failure(failure)) }
    }
    return try result.get()
  }

  func finishSnapshot(_ serial: Int, _ result: Result<UnplacedEntries, BusError>) {
    waiting.removeValue(forKey: serial)?.continuation.resume(returning: result)
  }
}
