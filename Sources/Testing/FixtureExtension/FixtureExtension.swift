// SPDX-License-Identifier: Apache-2.0

import Foundation
import SwiftUI
import WidgetKit

/// The extensions of this executable, which imports little, because its start is measured. `TRIAL_FIXTURE` selects one.
@main enum FixtureExtension {
  @MainActor static func main() {
    switch getenv("TRIAL_FIXTURE").map({ String(cString: $0) }) {
    case "timelines": FixtureTimelines.main()
    case "day": FixtureDay.main()
    case nil: FixtureWidget.main()
    case let name?: fatalError("TRIAL_FIXTURE: there is no extension '\(name)'")
    }
  }
}
