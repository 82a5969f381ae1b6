public import BackgroundURLSession
public import Foundation

/// How a value is shown to a person. Source: `AppIntents.DisplayRepresentation`.
public struct DisplayRepresentation: Hashable, Sendable, ExpressibleByStringInterpolation {
  /// A picture. Source: `AppIntents.DisplayRepresentation.Image`.
  public struct Image: Hashable, Sendable {
    private let name: String

    /// A symbol of the system.
    public init(systemName: String) { name = systemName }
    /// A picture of the author's.
    public init(named name: String) { self.name = name }
    /// A picture in a file.
    public init(url: URL) { name = url.absoluteString }
    /// A picture as bytes.
    public init(data: Data) { name = "\(data.count) bytes" }
  }

  /// The first line.
  public var title: LocalizedStringResource
  /// The second line.
  public var subtitle: LocalizedStringResource?
  /// Accepted: nothing draws it.
  public var image: Image?
  /// Other words for it.
  public var synonyms: [LocalizedStringResource] = []

  /// A representation.
  public init(title: LocalizedStringResource, subtitle: LocalizedStringResource? = nil, image: Image? = nil) {
    self.title = title
    self.subtitle = subtitle
    self.image = image
  }
  /// A representation with other words for it.
  public init(
    title: LocalizedStringResource, subtitle: LocalizedStringResource? = nil, image: Image? = nil,
    synonyms: [LocalizedStringResource]
  ) {
    self.init(title: title, subtitle: subtitle, image: image)
    self.synonyms = synonyms
  }
  /// A literal.
  public init(stringLiteral value: String) { self.init(title: LocalizedStringResource(stringLiteral: value)) }
  /// A literal with values in it.
  public init(stringInterpolation: String.LocalizationValue.StringInterpolation) {
    self.init(title: LocalizedStringResource(stringInterpolation: stringInterpolation))
  }
}

/// How a kind of values is shown to a person. Source: `AppIntents.TypeDisplayRepresentation`.
public struct TypeDisplayRepresentation: Hashable, Sendable, ExpressibleByStringInterpolation {
  /// Its name.
  public var name: LocalizedStringResource
  /// Its name with a number.
  public var numericFormat: LocalizedStringResource?

  /// A representation.
  public init(name: LocalizedStringResource, numericFormat: LocalizedStringResource? = nil) {
    self.name = name
    self.numericFormat = numericFormat
  }
  /// A literal.
  public init(stringLiteral value: String) { self.init(name: LocalizedStringResource(stringLiteral: value)) }
  /// A literal with values in it.
  public init(stringInterpolation: String.LocalizationValue.StringInterpolation) {
    self.init(name: LocalizedStringResource(stringInterpolation: stringInterpolation))
  }
}

/// A type that is shown to people. Source: `AppIntents.TypeDisplayRepresentable`.
public protocol TypeDisplayRepresentable {
  /// How the type is shown.
  static var typeDisplayRepresentation: TypeDisplayRepresentation { get }
}

/// A value that is shown to people. Source: `AppIntents.InstanceDisplayRepresentable`.
public protocol InstanceDisplayRepresentable: CustomLocalizedStringResourceConvertible {
  /// How the value is shown.
  var displayRepresentation: DisplayRepresentation { get }
}

extension InstanceDisplayRepresentable {
  /// Its first line.
  public var localizedStringResource: LocalizedStringResource { displayRepresentation.title }
}
