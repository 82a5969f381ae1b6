// SPDX-License-Identifier: Apache-2.0

@_exported public import CoreFoundationAPI

/// Source: `CoreAudioTypes.AudioBuffer`.
public struct AudioBuffer {
  public var mNumberChannels: UInt32
  /// In bytes.
  public var mDataByteSize: UInt32
  public var mData: UnsafeMutableRawPointer?

  public init() { self.init(mNumberChannels: 0, mDataByteSize: 0, mData: nil) }
  public init(mNumberChannels: UInt32, mDataByteSize: UInt32, mData: UnsafeMutableRawPointer?) {
    self.mNumberChannels = mNumberChannels
    self.mDataByteSize = mDataByteSize
    self.mData = mData
  }
}

/// A number of buffers, which follow the first one in memory. Source: `CoreAudioTypes.AudioBufferList`.
public struct AudioBufferList {
  public var mNumberBuffers: UInt32
  public var mBuffers: AudioBuffer

  public init() { self.init(mNumberBuffers: 0, mBuffers: AudioBuffer()) }
  public init(mNumberBuffers: UInt32, mBuffers: AudioBuffer) {
    self.mNumberBuffers = mNumberBuffers
    self.mBuffers = mBuffers
  }
}

/// The buffers of a list. Source: `CoreAudioTypes.UnsafeMutableAudioBufferListPointer`.
public struct UnsafeMutableAudioBufferListPointer: MutableCollection, RandomAccessCollection {
  public let unsafeMutablePointer: UnsafeMutablePointer<AudioBufferList>

  public init(_ pointer: UnsafeMutablePointer<AudioBufferList>) { unsafeMutablePointer = pointer }
  public init?(_ pointer: UnsafeMutablePointer<AudioBufferList>?) {
    guard let pointer else { return nil }
    unsafeMutablePointer = pointer
  }

  public var count: Int {
    get { Int(unsafeMutablePointer.pointee.mNumberBuffers) }
    nonmutating set { unsafeMutablePointer.pointee.mNumberBuffers = UInt32(newValue) }
  }
  public var startIndex: Int { 0 }
  public var endIndex: Int { count }

  public subscript(index: Int) -> AudioBuffer {
    get { buffers[index] }
    nonmutating set { buffers[index] = newValue }
  }

  private var buffers: UnsafeMutablePointer<AudioBuffer> {
    let offset = MemoryLayout<AudioBufferList>.offset(of: \.mBuffers) ?? 0
    return (UnsafeMutableRawPointer(unsafeMutablePointer) + offset).assumingMemoryBound(to: AudioBuffer.self)
  }

  /// The bytes of a list with this number of buffers.
  public static func sizeInBytes(maximumBuffers: Int) -> Int {
    MemoryLayout<AudioBufferList>.size + (maximumBuffers - 1) * MemoryLayout<AudioBuffer>.stride
  }

  /// Its memory is released with `free`.
  public static func allocate(maximumBuffers: Int) -> UnsafeMutableAudioBufferListPointer {
    let memory = UnsafeMutableRawPointer.allocate(
      byteCount: sizeInBytes(maximumBuffers: maximumBuffers), alignment: MemoryLayout<AudioBufferList>.alignment)
    let list = memory.bindMemory(to: AudioBufferList.self, capacity: 1)
    list.initialize(to: AudioBufferList(mNumberBuffers: UInt32(maximumBuffers), mBuffers: AudioBuffer()))
    let result = UnsafeMutableAudioBufferListPointer(list)
    for index in 0..<maximumBuffers { (result.buffers + index).initialize(to: AudioBuffer()) }
    return result
  }
}

/// Source: `CoreAudioTypes.AudioTimeStampFlags`.
public struct AudioTimeStampFlags: OptionSet, Sendable {
  public let rawValue: UInt32
  public init(rawValue: UInt32) { self.rawValue = rawValue }
  public static let sampleTimeValid = AudioTimeStampFlags(rawValue: 1)
  public static let hostTimeValid = AudioTimeStampFlags(rawValue: 2)
}

/// Source: `CoreAudioTypes.AudioTimeStamp`.
public struct AudioTimeStamp: Sendable {
  public var mSampleTime: Double = 0
  public var mHostTime: UInt64 = 0
  public var mRateScalar: Double = 0
  public var mWordClockTime: UInt64 = 0
  public var mFlags: AudioTimeStampFlags = []
  public var mReserved: UInt32 = 0

  public init() {}
}
