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
  /// The text of Apple's systems for a lost connection to the host (observed); `nil` for other codes.
  fileprivate var textOfHost: String? {
    switch self {
    case .backgroundSessionInUseByAnotherProcess: "Could not communicate with background transfer service"
    case .backgroundSessionWasDisconnected: "Lost connection to background transfer service"
    default: nil
    }
  }
}

extension URLError {
  /// An error of the connection to the host.
  init(ofHost code: Code) {
    self.init(code, userInfo: code.textOfHost.map { [NSLocalizedDescriptionKey: $0] } ?? [:])
  }
}

extension TransferFailure {
  /// The error for the author: a `URLError` when the domain is `NSURLErrorDomain`.
  func error(for url: URL?) -> any Error {
    var information: [String: Any] = [:]
    if let text = message.isEmpty ? URLError.Code(rawValue: code)?.textOfHost : message {
      information[NSLocalizedDescriptionKey] = text
    }
    if let url {
      information[NSURLErrorFailingURLErrorKey] = url
    }
    if let cancelledReason { information[NSURLErrorBackgroundTaskCancelledReasonKey] = cancelledReason }
    if let networkUnavailableReason { information[NSURLErrorNetworkUnavailableReasonKey] = networkUnavailableReason }
    if let resumeData { information[NSURLSessionDownloadTaskResumeData] = resumeData }
    guard domain == NSURLErrorDomain, let code = URLError.Code(rawValue: code) else {
      return NSError(domain: domain, code: code, userInfo: information)
    }
    return URLError(code, userInfo: information)
  }
}
