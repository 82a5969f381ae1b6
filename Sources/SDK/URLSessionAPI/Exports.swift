// SPDX-License-Identifier: Apache-2.0

// Translations and user defaults come with URLSession: an author's compiler flags import this module into every file.
@_exported public import FoundationAdditions
@_exported public import Localization
@_exported public import UserDefaultsAPI
