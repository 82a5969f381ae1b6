// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <stddef.h>
#include <stdint.h>

// HarfBuzz, loaded on first use: linking it would load GLib, Graphite and FreeType at the start of each command. No header
// of HarfBuzz is needed: the signatures belong to its soname, libharfbuzz.so.0. Version 4.0 or later.

/// Loads HarfBuzz, once. Returns NULL on success, otherwise the reason. Any thread. Call before all other functions.
const char *lazy_harfbuzz_load(void);

/// A font of a font file, for one thread at a time.
typedef struct lazy_font lazy_font;

/// `data` has `size` bytes, and must remain valid. `weight` is the value of the axis `wght`. Of a collection the first font.
/// Returns NULL for a file without glyphs.
lazy_font *lazy_font_make(const void *data, size_t size, float weight);
void lazy_font_free(lazy_font *font);

/// The units of the font in one em.
int lazy_font_units(lazy_font *font);

/// The weight of the font: that of its axis, or else the one that the file states. 400 is regular.
float lazy_font_weight(lazy_font *font);

/// Whether the file states that the font is italic or oblique.
int lazy_font_is_italic(lazy_font *font);

/// Whether the font has glyphs in colour: pictures, or layers of outlines.
int lazy_font_has_colors(lazy_font *font);

/// The glyph of a character, without the rules of its script; 0: the font has none.
uint32_t lazy_font_glyph(lazy_font *font, uint32_t character);

/// Lengths are in units of the font, `x` to the right and `y` upwards.
typedef struct {
    /// 0: the font has no glyph for the character.
    uint32_t glyph;
    /// The byte of the text at which its character begins.
    uint32_t byte;
    int32_t advance;
    int32_t x;
    int32_t y;
} lazy_glyph;

/// Shapes a text in UTF-8 with `size` bytes. `direction` is 'L', 'R', or 0 for that of the first letter's script; the glyphs
/// are in order from left to right. `has_monospaced_digits` selects digits of one width. Returns the number of glyphs, which
/// are valid until the next call.
size_t lazy_font_shape(
    lazy_font *font, const char *text, size_t size, char direction, int has_monospaced_digits,
    const lazy_glyph **glyphs);

/// Receives one element of an outline: `M`, `L`, `Q`, `C` or `Z`, and its points; the last point is the end.
typedef void (*lazy_outline)(void *context, char element, const float *coordinates);
void lazy_font_outline(lazy_font *font, uint32_t glyph, void *context, lazy_outline receive);
