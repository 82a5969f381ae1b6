// SPDX-License-Identifier: Apache-2.0

/// A framework of Apple, by the names that code which uses it has to write. Only for frameworks whose names are known is it
/// decided that a file uses nothing of them; a name too many is harmless.
struct AppleFramework: Sendable {
  /// What the names of its types, functions and constants begin with, before a capital letter, a digit or `_`.
  private let prefixes: [String]
  /// Its names without such a beginning, and the members with which it extends SwiftUI's types.
  private let names: Set<String>
  /// What it exports: a file that imports only the framework has this module from it.
  let exported: String

  /// - Parameters:
  ///   - prefixes: separated by spaces.
  ///   - names: separated by spaces.
  private init(_ prefixes: String, names: String = "", exports: String = "Foundation") {
    self.prefixes = prefixes.split(whereSeparator: \.isWhitespace).map(String.init)
    self.names = Set(names.split(whereSeparator: \.isWhitespace).map(String.init))
    exported = exports
  }

  /// Whether one of some names is the framework's.
  func isUsed(_ imports: Set<String>) -> Bool {
    !names.isDisjoint(with: imports)
      || imports.contains { name in
        prefixes.contains { prefix in
          guard name.hasPrefix(prefix) else { return false }
          let next = name.dropFirst(prefix.count).first
          return next.map { $0.isUppercase || $0.isNumber || $0 == "_" } ?? true
        }
      }
  }

  /// What Foundation exports on Apple's systems and not here, by module. Source: public projects that compile with Xcode.
  static let ofFoundation: [String: AppleFramework] = [
    "Combine": AppleFramework(
      "",
      names: """
        AnyCancellable AnyPublisher AnySubscriber Cancellable ConnectablePublisher CurrentValueSubject Future Just
        ObservableObject ObservableObjectPublisher PassthroughSubject Published Publisher Publishers Subscriber
        Subscribers TimerPublisher dataTaskPublisher
        """),
    "Security": AppleFramework(
      """
      CFRunLoop CFStringConvert CFStringEncoding SecAccess SecCertificate SecCopy SecCreate SecIdentity SecItem SecKey
      SecPolicy SecRandom SecTrust errSec kCFStringEncoding kSec
      """,
      names: """
        CFArray CFBoolean CFData CFDictionary CFIndex CFNumber CFString CFStringEncodings CFTypeRef OSStatus SecIdentity
        kCFAllocatorDefault kCFBooleanFalse kCFBooleanTrue noErr
        """),
  ]

  /// The names of Combine that SwiftUI exports here.
  static let combineOfSwiftUI: Set<String> = ["ObservableObject", "ObservableObjectPublisher", "Published"]

  /// By module. Source: the names of Apple's documentation of each framework.
  static let knownFrameworks: [String: AppleFramework] = [
    "ARKit": AppleFramework("AR", exports: "UIKit"),
    "AVFAudio": AppleFramework("AV"),
    "AVFoundation": AppleFramework("AV Audio CA CM CV SystemSound kAV kAudio kCM kCV kSystemSound"),
    "AVKit": AppleFramework("AV CA CM CV kAV kCM kCV", names: "VideoPlayer", exports: "UIKit"),
    "Accelerate": AppleFramework("BNNS cblas kv vDSP vImage", names: "Quadrature vForce"),
    "AdSupport": AppleFramework("ASIdentifier"),
    "AppTrackingTransparency": AppleFramework("ATTracking"),
    "AudioToolbox": AppleFramework("AU Audio MusicPlayer SystemSound kAudio kSystemSound"),
    "AuthenticationServices": AppleFramework(
      "AS", names: "SignInWithAppleButton WebAuthenticationSession authorizationController webAuthenticationSession",
      exports: "UIKit"),
    "BackgroundTasks": AppleFramework("BG"),
    "CallKit": AppleFramework("CX"),
    "CarPlay": AppleFramework("CP", exports: "UIKit"),
    "ClockKit": AppleFramework("CLK", exports: "UIKit"),
    "CloudKit": AppleFramework("CK"),
    "CommonCrypto": AppleFramework("CC kCC"),
    "Contacts": AppleFramework("CN"),
    "ContactsUI": AppleFramework("CN", names: "ContactAccessButton contactAccessPicker", exports: "UIKit"),
    "CoreBluetooth": AppleFramework("CB kCB"),
    "CoreData": AppleFramework(
      """
      NSAsynchronousFetch NSAtomicStore NSAttributeDescription NSBatchDelete NSBatchInsert NSBatchUpdate NSBinaryStore
      NSCompositeAttribute NSConstraintConflict NSCoreData NSDerivedAttribute NSEntity NSExpressionDescription
      NSFetchIndex NSFetchRequest NSFetchedProperty NSFetchedResults NSInMemoryStore NSIncrementalStore NSInferMapping
      NSManaged NSMapping NSMerge NSMigratePersistent NSMigration NSPersistent NSPropertyDescription NSQueryGeneration
      NSRelationshipDescription NSSQLite NSStaged NSStore
      """,
      names: """
        FetchRequest FetchedResults SectionedFetchRequest SectionedFetchResults fetchRequest managedObjectContext
        newBackgroundContext performBackgroundTask persistentContainer viewContext
        """),
    "CoreHaptics": AppleFramework("CH"),
    "CoreImage": AppleFramework("CI kCI"),
    "CoreML": AppleFramework("ML"),
    "CoreMedia": AppleFramework("CM kCM"),
    "CoreMotion": AppleFramework("CM"),
    "CoreNFC": AppleFramework("NFC"),
    "CoreSpotlight": AppleFramework("CS kCS"),
    "CoreTelephony": AppleFramework("CT kCT"),
    "CoreText": AppleFramework("CT kCT"),
    "CoreVideo": AppleFramework("CV kCV"),
    "DeviceCheck": AppleFramework("DC"),
    "EventKit": AppleFramework("EK"),
    "EventKitUI": AppleFramework("EK", exports: "UIKit"),
    "GameController": AppleFramework("GC"),
    "GameKit": AppleFramework("GK", exports: "UIKit"),
    "GameplayKit": AppleFramework("GK"),
    "HealthKit": AppleFramework("HK", names: "healthDataAccessRequest"),
    "HealthKitUI": AppleFramework("HK", names: "healthDataAccessRequest", exports: "UIKit"),
    "HomeKit": AppleFramework("HM"),
    "ImageIO": AppleFramework(
      "CGAnimate CGImageDestination CGImageMetadata CGImageProperty CGImageSource kCGImage"),
    "JavaScriptCore": AppleFramework("JS kJS"),
    "LinkPresentation": AppleFramework("LP", exports: "UIKit"),
    "LocalAuthentication": AppleFramework("LA kLA"),
    "MediaPlayer": AppleFramework("MP", exports: "UIKit"),
    "MessageUI": AppleFramework("MF", exports: "UIKit"),
    "Messages": AppleFramework("MS", exports: "UIKit"),
    "Metal": AppleFramework("MTL"),
    "MetalKit": AppleFramework("MTK MTL", exports: "UIKit"),
    "MobileCoreServices": AppleFramework("LS UT kLS kUT"),
    "MultipeerConnectivity": AppleFramework("MC kMC"),
    "NaturalLanguage": AppleFramework("NL"),
    "Network": AppleFramework(
      "NW nw", names: "IPv4Address IPv6Address NetworkBrowser NetworkConnection NetworkListener"),
    "NetworkExtension": AppleFramework("NE"),
    "NotificationCenter": AppleFramework("NC", exports: "UIKit"),
    "PDFKit": AppleFramework("PDF kPDF", exports: "UIKit"),
    "PassKit": AppleFramework("PK", names: "AddPassToWalletButton PayWithApplePayButton", exports: "UIKit"),
    "PencilKit": AppleFramework("PK", exports: "UIKit"),
    "Photos": AppleFramework("PH"),
    "PhotosUI": AppleFramework(
      "PH", names: "PhotosPicker PhotosPickerItem PhotosPickerStyle photosPicker photosPickerStyle", exports: "UIKit"),
    "PushKit": AppleFramework("PK"),
    "QuartzCore": AppleFramework("CA kCA"),
    "QuickLook": AppleFramework("QL", names: "PreviewApplication quickLookPreview", exports: "UIKit"),
    "QuickLookThumbnailing": AppleFramework("QL"),
    "ReplayKit": AppleFramework("RP", exports: "UIKit"),
    "SafariServices": AppleFramework("SF", exports: "UIKit"),
    "SceneKit": AppleFramework("SCN", names: "SceneView", exports: "UIKit"),
    "Security": AppleFramework("SSL Sec errSec kSSL kSec"),
    "Social": AppleFramework("SL", exports: "UIKit"),
    "Speech": AppleFramework("SF", names: "AssetInventory DictationTranscriber SpeechAnalyzer SpeechTranscriber"),
    "SpriteKit": AppleFramework("SK", names: "SpriteView", exports: "UIKit"),
    "StoreKit": AppleFramework(
      "SK",
      names: """
        AppStore AppTransaction ExternalPurchase Message Product ProductView PurchaseAction RequestReviewAction
        StoreKitError StoreView Storefront SubscriptionInfo SubscriptionOfferView SubscriptionStoreView Transaction
        VerificationResult appStoreOverlay currentEntitlementTask inAppPurchaseOptions manageSubscriptionsSheet
        offerCodeRedemption onInAppPurchaseCompletion onInAppPurchaseStart productViewStyle purchase refundRequestSheet
        requestReview storeProductTask storeProductsTask subscriptionStatusTask
        """,
      exports: "UIKit"),
    "SystemConfiguration": AppleFramework("SC kSC"),
    "UniformTypeIdentifiers": AppleFramework("UT"),
    "VideoToolbox": AppleFramework("VT kVT"),
    "Vision": AppleFramework(
      "VN",
      names: """
        ClassifyImageRequest CoreMLRequest DetectBarcodesRequest DetectFaceLandmarksRequest DetectFaceRectanglesRequest
        DetectHumanRectanglesRequest DetectRectanglesRequest DetectTextRectanglesRequest
        GenerateForegroundInstanceMaskRequest GenerateImageFeaturePrintRequest GeneratePersonSegmentationRequest
        ImageProcessingRequest ImageRequestHandler NormalizedPoint NormalizedRect RecognizeDocumentsRequest
        RecognizeTextRequest RecognizedTextObservation VisionRequest
        """),
    "VisionKit": AppleFramework(
      "VN",
      names: "DataScannerViewController ImageAnalysis ImageAnalysisInteraction ImageAnalyzer LiveTextInteraction",
      exports: "UIKit"),
    "WatchConnectivity": AppleFramework("WC"),
    "WatchKit": AppleFramework("WK", exports: "UIKit"),
    "WebKit": AppleFramework("WK", names: "WebPage WebView", exports: "UIKit"),
  ]
}
