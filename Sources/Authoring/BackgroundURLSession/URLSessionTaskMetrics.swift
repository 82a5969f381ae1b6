import Conversations
public import Foundation

/// What was measured of a task. Source: `Foundation.URLSessionTaskMetrics`.
@ConstantAfterInit public final class URLSessionTaskMetrics: NSObject {
  /// From `resume()` to the end.
  public nonisolated let taskInterval: DateInterval
  /// How often the server sent elsewhere.
  public nonisolated let redirectCount: Int
  /// The last request that went out, and its answer.
  public nonisolated let transactionMetrics: [URLSessionTaskTransactionMetrics]

  nonisolated init(_ metrics: TransferMetrics, _ request: URLRequest, _ response: URLResponse?) {
    taskInterval = DateInterval(start: metrics.began, end: max(metrics.began, metrics.ended))
    redirectCount = metrics.redirectCount
    transactionMetrics = [
      URLSessionTaskTransactionMetrics(request, response, began: metrics.began, ended: metrics.ended)
    ]
  }
}

/// What was measured of one request. Source: `Foundation.URLSessionTaskTransactionMetrics`.
@ConstantAfterInit public final class URLSessionTaskTransactionMetrics: NSObject {
  /// What went out.
  public nonisolated let request: URLRequest
  /// What came back.
  public nonisolated let response: URLResponse?
  /// When the task was begun.
  public nonisolated let fetchStartDate: Date?
  /// When it had ended.
  public nonisolated let responseEndDate: Date?

  nonisolated init(_ request: URLRequest, _ response: URLResponse?, began: Date, ended: Date) {
    (self.request, self.response, fetchStartDate, responseEndDate) = (request, response, began, ended)
  }
}
