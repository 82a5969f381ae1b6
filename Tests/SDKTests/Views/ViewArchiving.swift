// SPDX-License-Identifier: Apache-2.0

import Archive
import Foundation

@testable import SwiftUI

/// The lines that `widgetlab screen` prints for a view, at the start of 1970.
@MainActor func printed(_ view: some View, _ environment: EnvironmentValues = EnvironmentValues()) throws -> [String] {
  let archive = try view.archived(in: environment)
  let data = try JSONEncoder().encode(archive)
  return try JSONDecoder().decode(ViewArchive.self, from: data)
    .indented(ScreenAppearance(now: Date(timeIntervalSince1970: 0))).split(separator: "\n").map(String.init)
}
