// SPDX-License-Identifier: Apache-2.0

import AuthorRuntime
@_spi(SwiftCorelibsFoundation) import Foundation
import MessageBus
import Messages
import Synchronization

// `Data(contentsOf:)` and `String(contentsOf:)` of a URL of the network. Foundation on Linux leaves them to
// FoundationNetworking, which an author's process does not link: libcurl would be loaded at each launch.

extension Data {
  /// Loads a URL that is not a file's, and blocks the calling thread.
  ///
  /// - Throws: `CocoaError.fileReadUnsupportedScheme` for a scheme other than `http` and `https`, and outside of a
  ///   process of a device. `CocoaError.fileReadUnknown` for a failure, with the `URLError` as its cause, and for the statuses
  ///   that `_NSNonfileURLContentLoader` of swift-corelibs-foundation refuses.
  @_dynamicReplacement(for:init(_contentsOfRemote:options:))
  private init(contentsOfNetwork url: URL, options: Data.ReadingOptions) throws {
    guard let process = HostedProcess.current, ["http", "https"].contains(url.scheme?.lowercased()) else {
      throw CocoaError(.fileReadUnsupportedScheme, userInfo: [NSURLErrorKey: url])
    }
    self = try process.loadSynchronously(url)
  }
}

extension HostedProcess {
  fileprivate func loadSynchronously(_ url: URL) throws(CocoaError) -> Data {
    let place = HostedProcess.currentMethod ?? (Thread.isMainThread ? "the main thread" : "a thread")
    connection.record(
      FaultNoticed(
        .blockingLoad, subject: url.host ?? "",
        details: "\(url.absoluteString) is loaded with contentsOf, which blocks \(place)"))
    // A session without a delegate calls no method of the author, so the load ends although all threads of Swift
    // concurrency may be blocked in this function.
    let session = URLSession(configuration: .default)
    let result = Mutex<(data: Data?, response: URLResponse?, error: (any Error)?)?>(nil)
    let arrival = MonotonicSemaphore()
    session.dataTask(with: url) { data, response, error in
      result.withLock { $0 = (data, response, error) }
      arrival.signal()
    }.resume()
    session.finishTasksAndInvalidate()
    var end = result.withLock { $0 }
    while end == nil {
      arrival.wait(seconds: 3600)
      end = result.withLock { $0 }
    }
    var information: [String: Any] = [NSURLErrorKey: url]
    if let error = end?.error { information[NSUnderlyingErrorKey] = error }
    switch (end?.response as? HTTPURLResponse)?.statusCode ?? 0 {
    case 101, 200...399, 401, 407: if let data = end?.data { return data }
    default: break
    }
    throw CocoaError(.fileReadUnknown, userInfo: information)
  }
}

// Replacements of Foundation's initializers in an author's executable, which is linked with `--wrap`. Those of
// Foundation read a URL as the path of a file. Of the initializers of classes, such as `NSData`, optimised code calls
// the part behind the allocation, which cannot be replaced.

/// `String(contentsOf:usedEncoding:)`. Without a file: UTF-8, or UTF-16 that begins with a byte order mark.
@_silgen_name("__wrap_$sSS20FoundationEssentialsE10contentsOf12usedEncodingSSAA3URLVh_SSAAE0F0VztKcfC")
package func string(contentsOf url: URL, usedEncoding encoding: inout String.Encoding) throws -> String {
  if url.isFileURL { return try String(contentsOfFile: url.path, usedEncoding: &encoding) }
  let data = try Data(contentsOf: url)
  let hasMark = data.starts(with: [0xFE, 0xFF]) || data.starts(with: [0xFF, 0xFE])
  encoding = hasMark ? .utf16 : .utf8
  guard let text = String(data: data, encoding: encoding) else {
    throw CocoaError(.fileReadUnknownStringEncoding, userInfo: [NSURLErrorKey: url])
  }
  return text
}

/// `String(contentsOf:)`.
@_silgen_name("__wrap_$sSS10FoundationE10contentsOfSS0A10Essentials3URLVh_tKcfC")
package func string(contentsOf url: URL) throws -> String {
  var encoding = String.Encoding.utf8
  return try string(contentsOf: url, usedEncoding: &encoding)
}
