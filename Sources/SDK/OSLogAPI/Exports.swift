// SPDX-License-Identifier: Apache-2.0

@_exported public import Foundation
// The module that `import OSLog` makes visible: all of `os`. `OSLogStore`, which reads the log, does not exist.
@_exported public import OSAPI
