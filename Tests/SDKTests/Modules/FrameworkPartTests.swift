// SPDX-License-Identifier: Apache-2.0

import FidelityRules
import Foundation
import Messages
import Synchronization
import Testing

@testable import AuthorRuntime
@testable import CoreData
@testable import CoreFoundationAPI
@testable import CoreText
@testable import UIKit
@testable import UniformTypeIdentifiers
@testable import WatchConnectivity

@Suite(.timeLimit(.minutes(1))) struct `Parts of other frameworks` {
  /// The uses that are reported while a closure runs in an author's process.
  private func reported(_ use: () -> Void) async throws -> [String] {
    let fixture = try SDKFixture()
    try await fixture.begin()
    fixture.process.asCurrent { use() }
    return await fixture.sent(FaultNoticed.self).filter { $0.fault == .notSimulated }.map(\.subject)
  }

  @Test(.rule("DIAGNOSIS-11")) func `there is no watch: a session is not supported, and sends nothing`() async throws {
    let subjects = try await reported {
      #expect(!WCSession.isSupported())
      WCSession.default.activate()
    }
    #expect(subjects == ["WCSession"])
    #expect(WCSession.default.activationState == .notActivated && !WCSession.default.isReachable)
    #expect(throws: WCError(.sessionNotSupported)) { try WCSession.default.updateApplicationContext([:]) }
    let error = await withCheckedContinuation { continuation in
      WCSession.default.sendMessage([:], replyHandler: nil) { continuation.resume(returning: $0 as? WCError) }
    }
    #expect(error?.code == .sessionNotSupported)
  }

  @Test(.rule("DIAGNOSIS-11")) @MainActor func `Core Data has no stores, and its use is reported`() async throws {
    let subjects = try await reported {
      #expect(FetchRequest<NSManagedObject>(sortDescriptors: []).wrappedValue.isEmpty)
    }
    #expect(subjects == ["FetchRequest"])
    let container = NSPersistentContainer(name: "Model")
    var failures: [String] = []
    container.loadPersistentStores { _, error in failures.append(error?.localizedDescription ?? "") }
    #expect(failures.count == 1 && failures[0].contains("NSPersistentContainer.loadPersistentStores"))
    #expect(throws: CoreDataIsAbsent.self) {
      try container.viewContext.fetch(NSFetchRequest<NSManagedObject>(entityName: "Trip"))
    }
    #expect(NSSortDescriptor(key: "date", ascending: false).ascending == false)
  }

  @Test(.rule("DIAGNOSIS-11"))
  func `a Darwin notification reaches observers with its name in the same process`() async throws {
    let received = Mutex<[String]>([])
    let center = CFNotificationCenterGetLocalCenter()
    let owner = NSObject()
    let address = UnsafeRawPointer(Unmanaged.passUnretained(owner).toOpaque())
    CFNotificationCenterAddObserver(
      center, address,
      { _, observer, name, _, _ in received.withLock { $0.append("\(name?.rawValue ?? "") \(observer != nil)") } },
      "a", nil, .deliverImmediately)
    for name in ["a", "b"] { CFNotificationCenterPostNotification(center, CFNotificationName(name), nil, nil, true) }
    #expect(received.withLock { $0 } == ["a true"])
    CFNotificationCenterRemoveObserver(center, address, CFNotificationName("a"), nil)
    CFNotificationCenterPostNotification(center, CFNotificationName("a"), nil, nil, true)
    #expect(received.withLock { $0.count } == 1)
    let darwin = CFNotificationCenterGetDarwinNotifyCenter()
    CFNotificationCenterAddObserver(darwin, address, { _, _, _, _, _ in }, nil, nil, .deliverImmediately)
    #expect(darwin?.observers(of: "a").isEmpty == true)
    let subjects = try await reported {
      CFNotificationCenterPostNotification(darwin, CFNotificationName("a"), nil, nil, true)
    }
    #expect(subjects == ["CFNotificationCenterGetDarwinNotifyCenter"])
  }

  @Test func `a font file that is missing or damaged is not registered, and the error says why`() throws {
    let file = FileManager.default.temporaryDirectory.appending(path: "font-\(UUID().uuidString).ttf")
    defer { try? FileManager.default.removeItem(at: file) }
    func failure() -> Int? {
      var error: Unmanaged<CFError>?
      return CTFontManagerRegisterFontsForURL(file as CFURL, .process, &error) ? 0 : error?.takeRetainedValue().code
    }
    #expect(failure() == CTFontManagerError.fileNotFound.rawValue)
    try Data("text".utf8).write(to: file)
    #expect(failure() == CTFontManagerError.unrecognizedFormat.rawValue)
    #expect(!CTFontManagerUnregisterFontsForURL(file as CFURL, .process, nil))
  }

  @Test func `a type is found by its extension and its media type, and conforms to others`() throws {
    #expect(UTType(filenameExtension: "JPG") == .jpeg && UTType(mimeType: "image/png") == .png)
    #expect(UTType.jpeg.identifier == "public.jpeg" && UTType.jpeg.preferredMIMEType == "image/jpeg")
    #expect(UTType.png.conforms(to: .data) && UTType.heic.conforms(to: .image) && !UTType.json.conforms(to: .image))
    #expect(UTType(filenameExtension: "png", conformingTo: .text) == nil && UTType("org.example.type") == nil)
    #expect(UTType(exportedAs: "org.example.type").supertypes.isEmpty)
    let coded = try JSONDecoder().decode([UTType].self, from: JSONEncoder().encode([UTType.pdf]))
    #expect(coded == [.pdf])
    for (identifier, facts) in UTType.facts {
      #expect(facts.parents.allSatisfy { UTType.facts[$0] != nil }, "\(identifier)")
    }
  }
}
