// SPDX-License-Identifier: Apache-2.0

// swift-crypto has CryptoKit's declarations, without the Secure Enclave.
@_exported public import Crypto
@_exported public import Foundation
