// SPDX-License-Identifier: Apache-2.0

#include "CPlatform.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

// Source: FIPS 180-4, section 6.2.

static const uint32_t rounds[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static inline uint32_t turned(uint32_t word, int count) { return word >> count | word << (32 - count); }

static void compress(uint32_t state[8], const uint8_t *block) {
  uint32_t words[64];
  for (int index = 0; index < 16; index++) {
    const uint8_t *bytes = block + 4 * index;
    words[index] = (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
  }
  for (int index = 16; index < 64; index++) {
    const uint32_t early = words[index - 15], late = words[index - 2];
    words[index] = words[index - 16] + (turned(early, 7) ^ turned(early, 18) ^ early >> 3) + words[index - 7]
                   + (turned(late, 17) ^ turned(late, 19) ^ late >> 10);
  }
  uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
  uint32_t e = state[4], f = state[5], g = state[6], h = state[7];
  for (int index = 0; index < 64; index++) {
    const uint32_t first =
        h + (turned(e, 6) ^ turned(e, 11) ^ turned(e, 25)) + ((e & f) ^ (~e & g)) + rounds[index] + words[index];
    const uint32_t second = (turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
    h = g, g = f, f = e, e = d + first, d = c, c = b, b = a, a = first + second;
  }
  state[0] += a, state[1] += b, state[2] += c, state[3] += d;
  state[4] += e, state[5] += f, state[6] += g, state[7] += h;
}

static const uint32_t initial[8] = {
    0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
};

// Ends a message of `count` bytes. `rest` has the `held` bytes after its last whole block, and space for 128.
static void finish(uint32_t state[8], uint8_t *rest, size_t held, uint64_t count, uint8_t *digest) {
  const uint64_t bits = count * 8;
  rest[held++] = 0x80;
  while (held % 64 != 56) rest[held++] = 0;
  for (int shift = 56; shift >= 0; shift -= 8) rest[held++] = (uint8_t)(bits >> shift);
  for (size_t used = 0; used < held; used += 64) compress(state, rest + used);
  for (int index = 0; index < 8; index++) {
    for (int shift = 24; shift >= 0; shift -= 8) *digest++ = (uint8_t)(state[index] >> shift);
  }
}

void digest_sha256(const void *bytes, size_t count, uint8_t *digest) {
  uint32_t state[8];
  memcpy(state, initial, sizeof state);
  const size_t held = count % 64, whole = count - held;
  for (size_t used = 0; used < whole; used += 64) compress(state, (const uint8_t *)bytes + used);
  uint8_t rest[128];
  if (held > 0) memcpy(rest, (const uint8_t *)bytes + whole, held);
  finish(state, rest, held, count, digest);
}

int digest_sha256_of_file(int descriptor, int64_t limit, uint8_t *digest) {
  uint32_t state[8];
  memcpy(state, initial, sizeof state);
  uint8_t piece[65536];
  size_t held = 0;
  int64_t count = 0;
  while (1) {
    const ssize_t length = read(descriptor, piece + held, sizeof piece - held);
    if (length < 0 && errno == EINTR) continue;
    if (length < 0) return -1;
    if (length == 0) break;
    count += length;
    if (count > limit) {
      errno = EFBIG;
      return -1;
    }
    held += (size_t)length;
    size_t used = 0;
    for (; held - used >= 64; used += 64) compress(state, piece + used);
    memmove(piece, piece + used, held - used);
    held -= used;
  }
  // Fewer than 64 bytes are held.
  finish(state, piece, held, (uint64_t)count, digest);
  return 0;
}
