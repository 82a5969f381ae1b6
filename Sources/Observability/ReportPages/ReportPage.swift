// SPDX-License-Identifier: Apache-2.0

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
