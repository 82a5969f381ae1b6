// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <stddef.h>
#include <stdint.h>

// libjpeg-turbo, loaded at first use: only a PNG picture of a widget with a JPEG image needs it, and an author's process that
// converts an image. No header of the library is needed: signatures and numbers belong to its soname, libturbojpeg.so.0.

/// Loads the library, once. Returns NULL on success, otherwise the reason. Any thread. Call before all other functions.
const char *lazy_jpeg_load(void);

/// The size in pixels of the image in a JPEG file with `size` bytes. Returns 0 if it is no such file,
/// and -1 if its colours are CMYK or YCCK, which cannot be read.
int lazy_jpeg_size(const uint8_t *file, size_t size, int *width, int *height);

/// Writes the image to `pixels`: 0xFFRRGGBB in the order of the machine's bytes, `row` pixels from one line to the next.
/// `width` and `height` are those of `lazy_jpeg_size`. Returns 0 if the file is damaged.
int lazy_jpeg_read(const uint8_t *file, size_t size, uint32_t *pixels, size_t row, int width, int height);

/// A JPEG file of an image without opacity: 0xXXRRGGBB in the order of the machine's bytes. `quality` is from 1 to 100.
/// Returns NULL when it cannot be written. The file, of `size` bytes, is freed with `lazy_jpeg_free`.
uint8_t *lazy_jpeg_write(const uint32_t *pixels, int width, int height, int quality, size_t *size);
void lazy_jpeg_free(uint8_t *file);
