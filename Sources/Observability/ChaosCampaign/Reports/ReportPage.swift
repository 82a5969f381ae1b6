// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The elements of an HTML page that loads nothing.
package enum ReportPage {
  /// The whole page.
  ///
  /// - Parameter content: HTML.
  package static func page(_ title: String, _ content: [String]) -> String {
    """
    <!DOCTYPE html>
    <html lang="en">
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
    <title>\(escaped(title))</title>
    <style>\(style)</style>
    <main>
    <h1>\(escaped(title))</h1>
    \(content.filter { !$0.isEmpty }.joined(separator: "\n"))
    </main>
    </html>

    """
  }

  private static let style = """
    :root { color-scheme: light dark; --ink: light-dark(#1d1d1f, #f0f0f2); --soft: light-dark(#6b6b70, #9a9aa0);
      --line: light-dark(#e0e0e4, #3a3a3e); --page: light-dark(#fff, #161618); --mark: light-dark(#0a60c2, #64a8ff);
      --bad: light-dark(#c02020, #ff7b72); --good: light-dark(#12752c, #5cd17a); --warn: light-dark(#8a5a00, #e5b350); }
    body { background: var(--page); color: var(--ink); font: 15px/1.5 system-ui, sans-serif; margin: 0; }
    main { max-width: 900px; margin: 0 auto; padding: 24px 20px 60px; }
    h1 { font-size: 24px; } h2 { font-size: 18px; margin-top: 36px; }
    code { font: 13px ui-monospace, monospace; }
    table { border-collapse: collapse; width: 100%; }
    th, td { text-align: left; padding: 4px 12px 4px 0; border-bottom: 1px solid var(--line); vertical-align: top; }
    th { color: var(--soft); font-weight: 500; }
    td.number { font-variant-numeric: tabular-nums; }
    .holds { color: var(--good); } .broken { color: var(--bad); } .unknown { color: var(--warn); }
    .scroll { overflow-x: auto; }
    svg { width: 100%; min-width: 640px; height: auto; display: block; }
    svg text { font-size: 11px; fill: var(--soft); } svg text.name { fill: var(--ink); font-weight: 600; }
    svg circle { fill: var(--mark); fill-opacity: .3; } svg rect { fill: var(--mark); fill-opacity: .75; }
    svg line { stroke-width: 1.5; } svg line.grid { stroke: var(--line); stroke-width: 1; }
    svg line.mark { stroke: var(--ink); stroke-width: 2; } svg line.kill { stroke: var(--bad); }
    svg line.other { stroke: var(--warn); } svg line.back { stroke: var(--mark); stroke-opacity: .5; stroke-width: 4; }
    """

  package static func section(_ title: String, _ content: String) -> String {
    "<section>\n<h2>\(title)</h2>\n<div class=\"scroll\">\(content)</div>\n</section>"
  }

  package static func list(_ items: [String]) -> String {
    "<ul>\(items.map { "<li>\($0)</li>" }.joined())</ul>"
  }

  package static func table(_ headings: [String], _ rows: [[String]]) -> String {
    let head = headings.map { "<th scope=\"col\">\($0)</th>" }.joined()
    let body = rows.map { row in
      "<tr>\(row.map { "<td\($0.allSatisfy(\.isNumber) ? " class=\"number\"" : "")>\($0)</td>" }.joined())</tr>"
    }
    return "<table><thead><tr>\(head)</tr></thead><tbody>\(body.joined(separator: "\n"))</tbody></table>"
  }

  /// A verdict: `holds`, `broken` or `unknown`.
  package static func answer(_ word: String) -> String { "<b class=\"\(word)\">\(word)</b>" }

  package static func escaped(_ text: String) -> String {
    text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing("'", with: "&#39;")
      .replacing("\"", with: "&quot;")
  }
}

/// The elements of a Markdown page.
package enum ReportMarkdown {
  package static func table(_ headings: [String], _ rows: [[String]]) -> [String] {
    ([headings, headings.map { _ in "---" }] + rows).map { "| \($0.joined(separator: " | ")) |" }
  }

  package static func escaped(_ text: String) -> String {
    text.replacing("|", with: "\\|").replacing("<", with: "&lt;")
  }
}

/// The elements of a plot, as SVG.
package enum ReportPlots {
  package static let width = 860.0
  /// The width of the names at the left.
  package static let left = 120.0
  /// The height of a row.
  package static let row = 26.0

  package static func svg(_ height: Double, title: String, parts: [String]) -> String {
    "<svg viewBox='0 0 \(Int(exactly: width.rounded()) ?? 0) \(Int(exactly: height.rounded(.up)) ?? 0)' role='img' aria-label='\(title)'>\n"
      + parts.joined(separator: "\n") + "\n</svg>"
  }

  package static func line(x1: Double, y1: Double, x2: Double, y2: Double, name: String) -> String {
    "<line class='\(name)' x1='\(short(x1))' y1='\(short(y1))' x2='\(short(x2))' y2='\(short(y2))'/>"
  }

  /// - Parameter anchor: `start`, `middle` or `end`.
  package static func text(x: Double, y: Double, _ text: String, anchor: String) -> String {
    "<text x='\(short(x))' y='\(short(y))' text-anchor='\(anchor)'>\(text)</text>"
  }

  /// A number with one decimal place.
  package static func short(_ value: Double) -> String { "\((value * 10).rounded() / 10)" }
}

/// Maps values to places by their logarithm.
package struct LogarithmicScale {
  private let first: Double
  private let last: Double
  private let left: Double
  private let right: Double

  /// - Parameters:
  ///   - first: the value at `left`.
  ///   - last: the value at `right`.
  package init(from first: Double, to last: Double, left: Double, right: Double) {
    self.first = first
    self.last = last
    self.left = left
    self.right = right
  }

  /// The place of a value; that of the nearest end for one beyond the scale.
  package func x(_ value: Double) -> Double {
    let share = log(min(max(value, first), last) / first) / log(last / first)
    return left + share * (right - left)
  }

  /// 10, 30, 100, 300 …
  package var ticks: [Double] {
    var ticks: [Double] = []
    var value = first
    while value <= last {
      ticks.append(value)
      if value * 3 <= last { ticks.append(value * 3) }
      value *= 10
    }
    return ticks
  }
}

/// The machine of a campaign or of a measurement.
package struct MachineFacts: Sendable, Codable, Hashable {
  package let system: String
  package let processor: String
  package let cores: Int
  /// MiB.
  package let memory: Int
  /// Processes that wanted to run, over the last minute, before and after it.
  package let loadBefore: Double
  package var loadAfter: Double

  package init(system: String, processor: String, cores: Int, memory: Int, load: Double) {
    self.system = system
    self.processor = processor
    self.cores = cores
    self.memory = memory
    loadBefore = load
    loadAfter = load
  }
}
