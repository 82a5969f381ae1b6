// SPDX-License-Identifier: Apache-2.0

// swift-format-ignore-file: AlwaysUseLowerCamelCase
// The constants have Apple's names.

public import Foundation
import Messages

/// The `userInfo` key of a failed download's resume data, for `downloadTask(withResumeData:)`.
public let NSURLSessionDownloadTaskResumeData = "NSURLSessionDownloadTaskResumeData"
/// The `userInfo` key of the reason why a network could not be used.
public let NSURLErrorNetworkUnavailableReasonKey = "NSURLErrorNetworkUnavailableReasonKey"
/// An unknown number of bytes.
public let NSURLSessionTransferSizeUnknown: Int64 = -1

extension URLError {
  /// Why the system cancelled a background task. Source: `Foundation.URLError.BackgroundTaskCancelledReason`.
  public enum BackgroundTaskCancelledReason: Int, Sendable {
    /// The user force quit the app.
    case userForceQuitApplication = 0
    /// The user disabled background updates for the app.
    case backgroundUpdatesDisabled = 1
    /// The system lacked memory, storage or power.
    case insufficientSystemResources = 2
  }

  /// Why a network could not be used. Source: `Foundation.URLError.NetworkUnavailableReason`.
  public enum NetworkUnavailableReason: Int, Sendable {
    /// The network is cellular.
    case cellular = 0
    /// The network is expensive.
    case expensive = 1
    /// The network is in Low Data Mode.
    case constrained = 2
  }

  public var backgroundTaskCancelledReason: BackgroundTaskCancelledReason? {
    (errorUserInfo[NSURLErrorBackgroundTaskCancelledReasonKey] as? Int).flatMap {
      BackgroundTaskCancelledReason(rawValue: $0)
    }
  }

  /// Why a network could not be used.
  public var networkUnavailableReason: NetworkUnavailableReason? {
    (errorUserInfo[NSURLErrorNetworkUnavailableReasonKey] as? Int).flatMap { NetworkUnavailableReason(rawValue: $0) }
  }

  /// The resume data for `downloadTask(withResumeData:)`.
  public var downloadTaskResumeData: Data? { errorUserInfo[NSURLSessionDownloadTaskResumeData] as? Data }
}

extension URLError.Code {
  /// The English text of Apple's systems (observed); `nil` for codes whose reason is more helpful here.
  ///
  /// - Parameter host: of the request.
  fileprivate func text(host: String?) -> String? {
    switch self {
    case .backgroundSessionInUseByAnotherProcess: "Could not communicate with background transfer service"
    case .backgroundSessionWasDisconnected: "Lost connection to background transfer service"
    case .cancelled: "cancelled"
    case .badURL: "bad URL"
    case .timedOut: "The request timed out."
    case .unsupportedURL: "unsupported URL"
    case .cannotFindHost: "A server with the specified hostname could not be found."
    case .cannotConnectToHost: "Could not connect to the server."
    case .networkConnectionLost: "The network connection was lost."
    case .httpTooManyRedirects: "too many HTTP redirects"
    case .notConnectedToInternet: "The Internet connection appears to be offline."
    case .badServerResponse: "There was a bad response from the server."
    case .cannotDecodeRawData: "cannot decode raw data"
    case .cannotParseResponse: "cannot parse response"
    case .dataNotAllowed: "A data connection is not currently allowed."
    case .requestBodyStreamExhausted: "request body stream exhausted"
    case .appTransportSecurityRequiresSecureConnection: TransportSecurity.message
    case .fileDoesNotExist: "The requested URL was not found on this server."
    case .noPermissionsToReadFile: "You do not have permission to access the requested resource."
    case .dataLengthExceedsMaximum: "resource exceeds maximum size"
    case .secureConnectionFailed: "An SSL error has occurred and a secure connection to the server cannot be made."
    case .serverCertificateUntrusted:
      "The certificate for this server is invalid. You might be connecting to a server that is pretending to be "
        + "“\(host ?? "")” which could put your confidential information at risk."
    default: nil
    }
  }
}

extension URLError {
  /// The error with the text of its code, as Apple's loading system gives it. A former text becomes the value of
  /// `NSDebugDescriptionErrorKey`.
  func described(host: String?) -> URLError {
    guard let text = code.text(host: host) else { return self }
    var information = errorUserInfo
    if let reason = information[NSLocalizedDescriptionKey] as? String, reason != text {
      information[NSDebugDescriptionErrorKey] = reason
    }
    information[NSLocalizedDescriptionKey] = text
    return URLError(code, userInfo: information)
  }

  /// An error of the connection to the host.
  init(ofHost code: Code) { self = URLError(code).described(host: nil) }
}

extension TransferFailure {
  /// The error for the author: a `URLError` with Apple's text when the domain is `NSURLErrorDomain`.
  func error(for url: URL?) -> any Error {
    var information: [String: Any] = [:]
    if !message.isEmpty { information[NSLocalizedDescriptionKey] = message }
    if let url {
      information[NSURLErrorFailingURLErrorKey] = url
    }
    if let cancelledReason { information[NSURLErrorBackgroundTaskCancelledReasonKey] = cancelledReason }
    if let networkUnavailableReason { information[NSURLErrorNetworkUnavailableReasonKey] = networkUnavailableReason }
    if let resumeData { information[NSURLSessionDownloadTaskResumeData] = resumeData }
    guard domain == NSURLErrorDomain, let code = URLError.Code(rawValue: code) else {
      return NSError(domain: domain, code: code, userInfo: information)
    }
    return URLError(code, userInfo: information).described(host: url?.host)
  }
}
