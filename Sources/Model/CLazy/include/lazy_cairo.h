// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <stddef.h>
#include <stdint.h>

// Cairo and zlib, loaded at first use: linking Cairo would load X11 and fontconfig at the start of each command. No header of
// either library is needed: signatures and numbers belong to their sonames, libcairo.so.2 and libz.so.1. Cairo 1.16 or later.

/// Loads both libraries, once. Returns NULL on success, otherwise the reason. Any thread. Call before all other functions.
const char *lazy_cairo_load(void);

/// The version of the loaded Cairo, such as "1.16.0".
const char *lazy_cairo_version(void);

/// A transparent image and the pen that draws on it, for one thread at a time. The pixels are 0xAARRGGBB in the order of the
/// machine's bytes; the components are multiplied by the opacity.
typedef struct lazy_canvas lazy_canvas;

/// `width` and `height` are in pixels, from 1 to 32767. Returns NULL without memory.
lazy_canvas *lazy_canvas_make(int width, int height);
/// The image in a PNG file with `size` bytes. Returns NULL if it is no such file.
lazy_canvas *lazy_canvas_read(const uint8_t *file, size_t size);
void lazy_canvas_free(lazy_canvas *canvas);

int lazy_canvas_width(lazy_canvas *canvas);
int lazy_canvas_height(lazy_canvas *canvas);

/// Why an earlier operation failed, after which all others did nothing; NULL: none failed.
const char *lazy_canvas_problem(lazy_canvas *canvas);

/// The pixels after all operations, row by row. `row` receives the length of a row in pixels. After a change, call
/// `lazy_canvas_changed`.
uint32_t *lazy_canvas_pixels(lazy_canvas *canvas, size_t *row);
void lazy_canvas_changed(lazy_canvas *canvas);

/// Six numbers a, b, c, d, x, y: the following points are moved to (a px + c py + x, b px + d py + y), in pixels.
void lazy_canvas_set_matrix(lazy_canvas *canvas, const double *matrix);

// The current outline, in the coordinates of the matrix. Each fill, stroke and clip ends it.
void lazy_canvas_move(lazy_canvas *canvas, double x, double y);
void lazy_canvas_line(lazy_canvas *canvas, double x, double y);
void lazy_canvas_curve(lazy_canvas *canvas, double x1, double y1, double x2, double y2, double x, double y);
void lazy_canvas_close(lazy_canvas *canvas);

// What the next operations draw with. All components are from 0 to 1, and not multiplied by the opacity.
void lazy_canvas_set_color(lazy_canvas *canvas, double red, double green, double blue, double opacity);
/// A gradient between two points, or between two circles with radii. `circles` has x, y and radius of each; a gradient between
/// points has no radius. `stretch` are factors of x and y from the gradient's coordinates to those of the matrix. Each of
/// `count` stops has five numbers: location, red, green, blue, opacity.
void lazy_canvas_set_gradient(
    lazy_canvas *canvas, int is_radial, const double *circles, const double *stretch, const double *stops, size_t count);
/// Another canvas, whose upper left corner is at a pixel of this one. Removes the matrix.
void lazy_canvas_set_source(lazy_canvas *canvas, lazy_canvas *source, double x, double y);

void lazy_canvas_fill(lazy_canvas *canvas, int is_even_odd, int is_smooth);
/// `cap` is 'b' (butt), 'r' (round) or 's' (square); `join` is 'm' (miter), 'r' (round) or 'b' (bevel). The limit of a miter is
/// 4. `dashes` has `count` lengths.
void lazy_canvas_stroke(
    lazy_canvas *canvas, double width, char cap, char join, const double *dashes, size_t count, double phase);

/// Draws another canvas in a rectangle of the coordinates of the matrix.
void lazy_canvas_draw(lazy_canvas *canvas, lazy_canvas *image, double x, double y, double width, double height);

typedef enum {
    lazy_blend_normal,
    lazy_blend_behind,
    lazy_blend_within,
    lazy_blend_multiply,
    lazy_blend_screen,
    lazy_blend_overlay,
    lazy_blend_darken,
    lazy_blend_lighten,
    lazy_blend_color_dodge,
    lazy_blend_color_burn,
    lazy_blend_hard_light,
    lazy_blend_soft_light,
    lazy_blend_difference,
    lazy_blend_exclusion,
    lazy_blend_hue,
    lazy_blend_saturation,
    lazy_blend_color,
    lazy_blend_luminosity,
    lazy_blend_plus_lighter,
} lazy_blend;

/// Mixes another canvas, whose upper left corner is at a pixel of this one, with what is drawn: within the current outline if
/// `is_clipped` is not 0. `behind` draws below what is there; `within` keeps of what is there as much as the other is opaque.
void lazy_canvas_mix(
    lazy_canvas *canvas, lazy_canvas *other, double x, double y, lazy_blend blend, double opacity, int is_clipped);

/// The size that `lazy_compress` needs at most for `size` bytes.
size_t lazy_compressed_limit(size_t size);
/// Compresses bytes in the zlib format, fast. Returns the size of the result, 0 without memory.
size_t lazy_compress(uint8_t *result, size_t limit, const uint8_t *bytes, size_t size);
