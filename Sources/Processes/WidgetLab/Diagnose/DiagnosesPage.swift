/// Documentation/diagnoses.md, made from the table of diagnoses.
enum DiagnosesPage {
  /// The whole page, ending in a newline.
  static var text: String { introduction + "\n\n" + table + "\n" }

  private static let introduction = """
    # Diagnoses

    Written by `widgetlab diagnose --list --markdown` from `DiagnosticTable`; do not edit it by hand.

    What authors get wrong is named while it runs: `widgetlab tail` prints a line when it becomes true, and `widgetlab
    diagnose` tells of each cause once, with the envelopes that show it, the rule, by whose word it holds, and what to do. A
    diagnosis is a function of the journal and of nothing else: a journal that was copied from elsewhere gives the same.

    In CI, after a run:

        widgetlab diagnose --since seq:1 --fail-on warning    # exit code 1 when there is a warning or an error
        widgetlab diagnose --json > diagnoses.json

    An object of the JSON list has `code`, `severity`, `title`, `process`, `bundle`, `device`, `subject`, `what`, `evidence`
    (a list of `sequence` and `text`), `rule`, `source`, `advice` and `times`. A code stays what it is; fields may be added,
    and none goes. From when on something is a mistake that is none by itself is ours, and a flag of the command:
    `--reloads-per-day`, `--loop` and `--loop-seconds`, `--equal`, `--past`. `tail` takes the usual values.

    Not seen, because nothing of it is on the bus: the body of a 404 that is taken for the file, and a second session object
    of one identifier in one process.
    """

  private static var table: String {
    let rows = DiagnosticTable.descriptions.map { description in
      "| `\(description.code)` | \(description.severity.rawValue) | \(description.title) | \(description.rule) | "
        + "\(description.source) | \(description.advice) |"
    }
    let heading = "| code | severity | what | rule | source | what to do |"
    return (["## Every diagnosis", "", heading, "| --- | --- | --- | --- | --- | --- |"] + rows).joined(separator: "\n")
  }
}
