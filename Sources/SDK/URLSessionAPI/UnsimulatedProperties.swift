// SPDX-License-Identifier: Apache-2.0

import AuthorRuntime
import Foundation

extension SessionValues {
  /// Reports the properties that an author has changed and that have no effect here: SESSION-17.
  func noticeUnsimulated(in process: HostedProcess) {
    let standard = SessionValues()
    let changed = [
      ("tlsMinimumSupportedProtocolVersion", tlsMinimum != standard.tlsMinimum),
      ("tlsMaximumSupportedProtocolVersion", tlsMaximum != standard.tlsMaximum),
      ("multipathServiceType", multipath != standard.multipath),
      ("networkServiceType", networkServiceType != standard.networkServiceType),
      ("httpShouldUsePipelining", httpShouldUsePipelining != standard.httpShouldUsePipelining),
      (
        "shouldUseExtendedBackgroundIdleMode",
        shouldUseExtendedBackgroundIdleMode != standard.shouldUseExtendedBackgroundIdleMode
      ),
    ]
    for (name, _) in changed.filter(\.1) {
      process.noticeUnsimulated(name, "the session keeps the value, which has no effect")
    }
  }
}

extension NSURLRequest.CachePolicy {
  /// Reports a policy that answers from a cache on a phone: responses are not cached here.
  func noticeUnsimulated(in process: HostedProcess) {
    switch self {
    case .returnCacheDataElseLoad:
      process.noticeUnsimulated("returnCacheDataElseLoad", "responses are not cached, so the server is asked each time")
    case .returnCacheDataDontLoad:
      process.noticeUnsimulated("returnCacheDataDontLoad", "responses are not cached, so the request fails with -1008")
    default: break
    }
  }
}
