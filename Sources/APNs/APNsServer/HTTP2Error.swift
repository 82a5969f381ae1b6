// SPDX-License-Identifier: Apache-2.0

/// The error codes of HTTP/2: RFC 9113, section 7.
enum ErrorCode: UInt32 {
  case none = 0
  case protocolError = 1
  case internalError = 2
  case flowControl = 3
  case settingsTimeout = 4
  case streamClosed = 5
  case frameSize = 6
  case refusedStream = 7
  case cancel = 8
  case compression = 9
  case enhanceYourCalm = 11
}

/// Why a connection is closed, with the text for the log and for the GOAWAY's debug data.
struct HTTP2Error: Error, Equatable {
  let code: ErrorCode
  let text: String
  /// The debug data of the GOAWAY if it differs from `text`: the JSON that APNs sends.
  var debugData: String?

  init(_ code: ErrorCode, _ text: String, debugData: String? = nil) {
    self.code = code
    self.text = text
    self.debugData = debugData
  }
}
