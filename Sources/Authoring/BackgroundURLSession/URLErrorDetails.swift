// swift-format-ignore-file: AlwaysUseLowerCamelCase
// The constants have Apple's names.

import Conversations
public import Foundation

/// In a failed download's `userInfo`: what `downloadTask(withResumeData:)` goes on from.
public let NSURLSessionDownloadTaskResumeData = "NSURLSessionDownloadTaskResumeData"
/// In a `userInfo`: which kind of network there was that the request may not use.
public let NSURLErrorNetworkUnavailableReasonKey = "NSURLErrorNetworkUnavailableReasonKey"
/// A number of bytes that is not known.
public let NSURLSessionTransferSizeUnknown: Int64 = -1

extension URLError {
  /// Why the system cancelled a background task. Source: `Foundation.URLError.BackgroundTaskCancelledReason`.
  public enum BackgroundTaskCancelledReason: Int, Sendable {
    /// The person ended the app.
    case userForceQuitApplication = 0
    /// The person does not let the app work in the background.
    case backgroundUpdatesDisabled = 1
    /// The system needed the room or the power.
    case insufficientSystemResources = 2
  }

  /// Why a network may not be used. Source: `Foundation.URLError.NetworkUnavailableReason`.
  public enum NetworkUnavailableReason: Int, Sendable {
    /// It is cellular.
    case cellular = 0
    /// It is expensive.
    case expensive = 1
    /// It is to be used sparingly.
    case constrained = 2
  }

  /// Why the system cancelled the task.
  public var backgroundTaskCancelledReason: BackgroundTaskCancelledReason? {
    (errorUserInfo[NSURLErrorBackgroundTaskCancelledReasonKey] as? Int).flatMap {
      BackgroundTaskCancelledReason(rawValue: $0)
    }
  }

  /// Which kind of network there was that the request may not use.
  public var networkUnavailableReason: NetworkUnavailableReason? {
    (errorUserInfo[NSURLErrorNetworkUnavailableReasonKey] as? Int).flatMap { NetworkUnavailableReason(rawValue: $0) }
  }

  /// What `downloadTask(withResumeData:)` goes on from.
  public var downloadTaskResumeData: Data? { errorUserInfo[NSURLSessionDownloadTaskResumeData] as? Data }
}

extension URLError.Code {
  /// What Apple's systems say of the line to the host (observed); `nil` of anything else.
  fileprivate var textOfHost: String? {
    switch self {
    case .backgroundSessionInUseByAnotherProcess: "Could not communicate with background transfer service"
    case .backgroundSessionWasDisconnected: "Lost connection to background transfer service"
    default: nil
    }
  }
}

extension URLError {
  /// What became of the line to the host.
  init(ofHost code: Code) {
    self.init(code, userInfo: code.textOfHost.map { [NSLocalizedDescriptionKey: $0] } ?? [:])
  }
}

extension TransferFailure {
  /// The error as an author sees it: a `URLError` where the domain is its own.
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
