// SPDX-License-Identifier: Apache-2.0

// A declaration of this module hides one of Foundation with the same name, because it exports Foundation. An author's
// file gets both with URLSession.
@_exported public import Foundation
// Foundation exports it on Apple's systems.
@_exported public import Observation
