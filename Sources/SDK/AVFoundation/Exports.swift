// SPDX-License-Identifier: Apache-2.0

// AVFoundation has here what AVFAudio has: speech and the audio session. There are no players, cameras and files.
@_exported public import AVFAudio
