// SPDX-License-Identifier: Apache-2.0

public import Foundation
import Messages

/// Metrics of a task. Source: `Foundation.URLSessionTaskMetrics`.
@ConstantAfterInit public final class URLSessionTaskMetrics: NSObject {
  /// From `resume()` to the end.
  public nonisolated let taskInterval: DateInterval
  /// The number of redirections.
  public nonisolated let redirectCount: Int
  /// The last request and its response.
  public nonisolated let transactionMetrics: [URLSessionTaskTransactionMetrics]

  nonisolated init(_ metrics: TransferMetrics, _ request: URLRequest, _ response: URLResponse?) {
    taskInterval = DateInterval(start: metrics.began, end: max(metrics.began, metrics.ended))
    redirectCount = metrics.redirectCount
    transactionMetrics = [
      URLSessionTaskTransactionMetrics(request, response, began: metrics.began, ended: metrics.ended)
    ]
  }
}

/// Metrics of one request. Source: `Foundation.URLSessionTaskTransactionMetrics`.
@ConstantAfterInit public final class URLSessionTaskTransactionMetrics: NSObject {
  public nonisolated let request: URLRequest
  public nonisolated let response: URLResponse?
  /// The start of the task.
  public nonisolated let fetchStartDate: Date?
  /// The end of the task.
  public nonisolated let responseEndDate: Date?

  nonisolated init(_ request: URLRequest, _ response: URLResponse?, began: Date, ended: Date) {
    (self.request, self.response, fetchStartDate, responseEndDate) = (request, response, began, ended)
  }
}
