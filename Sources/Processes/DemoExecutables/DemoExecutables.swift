// SPDX-License-Identifier: Apache-2.0

// This target has no code: it names the executables that `scripts/build` links. See Package.swift.
