// SPDX-License-Identifier: Apache-2.0

public import CoreGraphicsAPI
public import Foundation

// The classes of UIKit that sources of widgets name. A widget cannot show them, and neither can the app here: they keep
// their properties and draw nothing.

/// Source: `UIKit.UIView`.
@MainActor open class UIView: UIResponder {
  /// Source: `UIKit.UIView.ContentMode`.
  public enum ContentMode: Int, Sendable {
    case scaleToFill, scaleAspectFit, scaleAspectFill, redraw, center, top, bottom, left, right
  }

  open var frame = CGRect.zero
  open var bounds: CGRect {
    get { CGRect(origin: .zero, size: frame.size) }
    set { frame.size = newValue.size }
  }
  open var center: CGPoint {
    get { CGPoint(x: frame.midX, y: frame.midY) }
    set { frame.origin = CGPoint(x: newValue.x - frame.width / 2, y: newValue.y - frame.height / 2) }
  }
  open var backgroundColor: UIColor?
  open var tintColor: UIColor! = .tintColor
  open var alpha: CGFloat = 1
  open var isHidden = false
  open var isOpaque = true
  open var clipsToBounds = false
  open var isUserInteractionEnabled = true
  open var tag = 0
  open var contentMode = ContentMode.scaleToFill
  open var transform = CGAffineTransform.identity
  open var translatesAutoresizingMaskIntoConstraints = true
  open private(set) var subviews: [UIView] = []
  open private(set) weak var superview: UIView?

  public required nonisolated init() { super.init() }
  public convenience init(frame: CGRect) {
    self.init()
    self.frame = frame
  }

  open func addSubview(_ view: UIView) {
    view.removeFromSuperview()
    subviews.append(view)
    view.superview = self
  }
  open func removeFromSuperview() {
    superview?.subviews.removeAll { $0 === self }
    superview = nil
  }
  open func setNeedsLayout() {}
  open func setNeedsDisplay() {}
  open func layoutIfNeeded() {}
  open func layoutSubviews() {}
  open func sizeToFit() {}
}

/// Source: `UIKit.UILabel`.
@MainActor open class UILabel: UIView {
  open var text: String?
  open var font: UIFont! = .systemFont(ofSize: UIFont.labelFontSize)
  open var textColor: UIColor! = .label
  open var textAlignment = NSTextAlignment.natural
  open var numberOfLines = 1
  open var adjustsFontSizeToFitWidth = false
  open var minimumScaleFactor: CGFloat = 0
}

/// Source: `UIKit.NSTextAlignment`.
public enum NSTextAlignment: Int, Sendable {
  case left, center, right, justified, natural
}

/// Source: `UIKit.UIControl`.
@MainActor open class UIControl: UIView {
  open var isEnabled = true
  open var isSelected = false
  open var isHighlighted = false
}

/// Source: `UIKit.UISlider`.
@MainActor open class UISlider: UIControl {
  open var value: Float = 0
  open var minimumValue: Float = 0
  open var maximumValue: Float = 1
  open var isContinuous = true
  open func setValue(_ value: Float, animated: Bool) { self.value = min(max(value, minimumValue), maximumValue) }
}

/// Source: `UIKit.UIImageView`.
@MainActor open class UIImageView: UIView {
  open var image: UIImage?
  public convenience init(image: UIImage?) {
    self.init()
    self.image = image
    frame.size = image?.size ?? .zero
  }
}

/// Source: `UIKit.UIViewController`.
@MainActor open class UIViewController: UIResponder {
  open var view: UIView! = UIView()
  open var title: String?
  open private(set) var children: [UIViewController] = []
  open var traitCollection: UITraitCollection { .current }

  public required nonisolated init() { super.init() }
  public convenience init(nibName nibNameOrNil: String?, bundle nibBundleOrNil: Bundle?) { self.init() }

  open func loadView() {}
  open func viewDidLoad() {}
  open func viewWillAppear(_ animated: Bool) {}
  open func viewDidAppear(_ animated: Bool) {}
  open func viewWillDisappear(_ animated: Bool) {}
  open func viewDidDisappear(_ animated: Bool) {}
  open func addChild(_ childController: UIViewController) { children.append(childController) }
  open func didMove(toParent parent: UIViewController?) {}
  /// Ends the process: there are no screens of UIKit.
  open func present(_ viewControllerToPresent: UIViewController, animated flag: Bool, completion: (() -> Void)? = nil) {
    fatalError("UIViewController.present: no screens of UIKit are shown on WidgetLab")
  }
  open func dismiss(animated flag: Bool, completion: (() -> Void)? = nil) { completion?() }
}

/// Source: `UIKit.UIImpactFeedbackGenerator`. Nothing is felt here.
@MainActor open class UIImpactFeedbackGenerator: NSObject {
  /// Source: `UIImpactFeedbackGenerator.FeedbackStyle`.
  public enum FeedbackStyle: Int, Sendable {
    case light, medium, heavy, soft, rigid
  }

  public init(style: FeedbackStyle = .medium) { super.init() }
  open func prepare() {}
  open func impactOccurred() {}
}
