// Translations come with URLSession: an author's flags import this module into every file.
@_exported public import Localization
