// SPDX-License-Identifier: Apache-2.0

import CookieFiles
import DefaultsLog
import Messages
import OwnedTasks

// `folders` has the folders of the instances that have not ended.

extension Agent {
  /// Compacts the logs of user defaults and cookies of a child that is suspended or has ended, and of its app groups, if
  /// no process has them open. Not before a launch, so that no launch waits for it.
  func compactDefaults(of instance: ChildInstance) {
    guard let folders = folders[instance]?.all else { return }
    tasks.start { await Self.compactDefaults(in: folders) }
  }

  @concurrent private static func compactDefaults(in folders: [String]) async {
    for folder in folders {
      DefaultsFile.compactAll(in: folder)
      CookieStorage.compact(in: folder)
    }
  }
}
