// SPDX-License-Identifier: Apache-2.0

/// The type of `#colorLiteral` where the context demands none. Source: UIKit.
public typealias _ColorLiteralType = UIColor
/// The type of `#imageLiteral` where the context demands none. Source: UIKit.
public typealias _ImageLiteralType = UIImage
