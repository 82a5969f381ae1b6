// SPDX-License-Identifier: Apache-2.0

#include "lazy_cairo.h"

#include "lazy.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

// cairo_matrix_t
struct matrix {
    double xx, yx, xy, yy, x0, y0;
};

enum { status_success = 0, status_read_error = 10 };
enum { format_argb32 = 0 };
enum { antialias_default = 0, antialias_none = 1 };
enum { fill_winding = 0, fill_even_odd = 1 };
enum { cap_butt = 0, cap_round = 1, cap_square = 2 };
enum { join_miter = 0, join_round = 1, join_bevel = 2 };
enum { extend_pad = 3 };
enum {
    operator_over = 2,
    operator_dest_over = 7,
    operator_dest_in = 8,
    operator_add = 12,
    operator_multiply = 14,
    operator_screen = 15,
    operator_overlay = 16,
    operator_darken = 17,
    operator_lighten = 18,
    operator_color_dodge = 19,
    operator_color_burn = 20,
    operator_hard_light = 21,
    operator_soft_light = 22,
    operator_difference = 23,
    operator_exclusion = 24,
    operator_hue = 25,
    operator_saturation = 26,
    operator_color = 27,
    operator_luminosity = 28,
};

// Where the header is installed, the compiler checks the numbers.
#if __has_include(<cairo/cairo.h>)
#include <cairo/cairo.h>
_Static_assert(sizeof(struct matrix) == sizeof(cairo_matrix_t), "cairo_matrix_t");
#define SAME(name, value) _Static_assert((int)(name) == (int)(value), #value)
SAME(status_success, CAIRO_STATUS_SUCCESS);
SAME(status_read_error, CAIRO_STATUS_READ_ERROR);
SAME(format_argb32, CAIRO_FORMAT_ARGB32);
SAME(antialias_default, CAIRO_ANTIALIAS_DEFAULT);
SAME(antialias_none, CAIRO_ANTIALIAS_NONE);
SAME(fill_winding, CAIRO_FILL_RULE_WINDING);
SAME(fill_even_odd, CAIRO_FILL_RULE_EVEN_ODD);
SAME(cap_butt, CAIRO_LINE_CAP_BUTT);
SAME(cap_round, CAIRO_LINE_CAP_ROUND);
SAME(cap_square, CAIRO_LINE_CAP_SQUARE);
SAME(join_miter, CAIRO_LINE_JOIN_MITER);
SAME(join_round, CAIRO_LINE_JOIN_ROUND);
SAME(join_bevel, CAIRO_LINE_JOIN_BEVEL);
SAME(extend_pad, CAIRO_EXTEND_PAD);
SAME(operator_over, CAIRO_OPERATOR_OVER);
SAME(operator_dest_over, CAIRO_OPERATOR_DEST_OVER);
SAME(operator_dest_in, CAIRO_OPERATOR_DEST_IN);
SAME(operator_add, CAIRO_OPERATOR_ADD);
SAME(operator_multiply, CAIRO_OPERATOR_MULTIPLY);
SAME(operator_screen, CAIRO_OPERATOR_SCREEN);
SAME(operator_overlay, CAIRO_OPERATOR_OVERLAY);
SAME(operator_darken, CAIRO_OPERATOR_DARKEN);
SAME(operator_lighten, CAIRO_OPERATOR_LIGHTEN);
SAME(operator_color_dodge, CAIRO_OPERATOR_COLOR_DODGE);
SAME(operator_color_burn, CAIRO_OPERATOR_COLOR_BURN);
SAME(operator_hard_light, CAIRO_OPERATOR_HARD_LIGHT);
SAME(operator_soft_light, CAIRO_OPERATOR_SOFT_LIGHT);
SAME(operator_difference, CAIRO_OPERATOR_DIFFERENCE);
SAME(operator_exclusion, CAIRO_OPERATOR_EXCLUSION);
SAME(operator_hue, CAIRO_OPERATOR_HSL_HUE);
SAME(operator_saturation, CAIRO_OPERATOR_HSL_SATURATION);
SAME(operator_color, CAIRO_OPERATOR_HSL_COLOR);
SAME(operator_luminosity, CAIRO_OPERATOR_HSL_LUMINOSITY);
#endif

// The signatures of cairo.h and zlib.h, with objects as void *.
static struct {
    const char *(*version)(void);
    const char *(*status_text)(int status);
    void *(*surface_make)(int format, int width, int height);
    void *(*surface_read)(int (*read)(void *context, unsigned char *bytes, unsigned size), void *context);
    void (*surface_destroy)(void *surface);
    int (*surface_status)(void *surface);
    int (*surface_width)(void *surface);
    int (*surface_height)(void *surface);
    int (*surface_stride)(void *surface);
    int (*surface_format)(void *surface);
    unsigned char *(*surface_data)(void *surface);
    void (*surface_flush)(void *surface);
    void (*surface_mark_dirty)(void *surface);
    void *(*make)(void *surface);
    void (*destroy)(void *pen);
    int (*status)(void *pen);
    void (*save)(void *pen);
    void (*restore)(void *pen);
    void (*set_matrix)(void *pen, const struct matrix *matrix);
    void (*translate)(void *pen, double x, double y);
    void (*scale)(void *pen, double x, double y);
    void (*identity_matrix)(void *pen);
    void (*move_to)(void *pen, double x, double y);
    void (*line_to)(void *pen, double x, double y);
    void (*curve_to)(void *pen, double x1, double y1, double x2, double y2, double x, double y);
    void (*close_path)(void *pen);
    void (*new_path)(void *pen);
    void (*rectangle)(void *pen, double x, double y, double width, double height);
    void (*set_source_rgba)(void *pen, double red, double green, double blue, double opacity);
    void (*set_source)(void *pen, void *pattern);
    void (*set_source_surface)(void *pen, void *surface, double x, double y);
    void *(*get_source)(void *pen);
    void *(*pattern_linear)(double x0, double y0, double x1, double y1);
    void *(*pattern_radial)(double x0, double y0, double r0, double x1, double y1, double r1);
    void (*pattern_add_stop)(void *pattern, double location, double red, double green, double blue, double opacity);
    void (*pattern_set_matrix)(void *pattern, const struct matrix *matrix);
    void (*pattern_set_extend)(void *pattern, int extend);
    void (*pattern_destroy)(void *pattern);
    void (*set_antialias)(void *pen, int antialias);
    void (*set_fill_rule)(void *pen, int rule);
    void (*set_line_width)(void *pen, double width);
    void (*set_line_cap)(void *pen, int cap);
    void (*set_line_join)(void *pen, int join);
    void (*set_miter_limit)(void *pen, double limit);
    void (*set_dash)(void *pen, const double *dashes, int count, double phase);
    void (*set_operator)(void *pen, int operator);
    void (*fill)(void *pen);
    void (*stroke)(void *pen);
    void (*clip)(void *pen);
    void (*paint)(void *pen, double opacity);
    unsigned long (*compress_bound)(unsigned long size);
    int (*compress2)(
        unsigned char *result, unsigned long *limit, const unsigned char *bytes, unsigned long size, int level);
} library;

static const struct lazy_symbol cairo_symbols[] = {
    {"cairo_version_string", &library.version},
    {"cairo_status_to_string", &library.status_text},
    {"cairo_image_surface_create", &library.surface_make},
    {"cairo_image_surface_create_from_png_stream", &library.surface_read},
    {"cairo_surface_destroy", &library.surface_destroy},
    {"cairo_surface_status", &library.surface_status},
    {"cairo_image_surface_get_width", &library.surface_width},
    {"cairo_image_surface_get_height", &library.surface_height},
    {"cairo_image_surface_get_stride", &library.surface_stride},
    {"cairo_image_surface_get_format", &library.surface_format},
    {"cairo_image_surface_get_data", &library.surface_data},
    {"cairo_surface_flush", &library.surface_flush},
    {"cairo_surface_mark_dirty", &library.surface_mark_dirty},
    {"cairo_create", &library.make},
    {"cairo_destroy", &library.destroy},
    {"cairo_status", &library.status},
    {"cairo_save", &library.save},
    {"cairo_restore", &library.restore},
    {"cairo_set_matrix", &library.set_matrix},
    {"cairo_translate", &library.translate},
    {"cairo_scale", &library.scale},
    {"cairo_identity_matrix", &library.identity_matrix},
    {"cairo_move_to", &library.move_to},
    {"cairo_line_to", &library.line_to},
    {"cairo_curve_to", &library.curve_to},
    {"cairo_close_path", &library.close_path},
    {"cairo_new_path", &library.new_path},
    {"cairo_rectangle", &library.rectangle},
    {"cairo_set_source_rgba", &library.set_source_rgba},
    {"cairo_set_source", &library.set_source},
    {"cairo_set_source_surface", &library.set_source_surface},
    {"cairo_get_source", &library.get_source},
    {"cairo_pattern_create_linear", &library.pattern_linear},
    {"cairo_pattern_create_radial", &library.pattern_radial},
    {"cairo_pattern_add_color_stop_rgba", &library.pattern_add_stop},
    {"cairo_pattern_set_matrix", &library.pattern_set_matrix},
    {"cairo_pattern_set_extend", &library.pattern_set_extend},
    {"cairo_pattern_destroy", &library.pattern_destroy},
    {"cairo_set_antialias", &library.set_antialias},
    {"cairo_set_fill_rule", &library.set_fill_rule},
    {"cairo_set_line_width", &library.set_line_width},
    {"cairo_set_line_cap", &library.set_line_cap},
    {"cairo_set_line_join", &library.set_line_join},
    {"cairo_set_miter_limit", &library.set_miter_limit},
    {"cairo_set_dash", &library.set_dash},
    {"cairo_set_operator", &library.set_operator},
    {"cairo_fill", &library.fill},
    {"cairo_stroke", &library.stroke},
    {"cairo_clip", &library.clip},
    {"cairo_paint_with_alpha", &library.paint},
};

static const struct lazy_symbol zlib_symbols[] = {
    {"compressBound", &library.compress_bound},
    {"compress2", &library.compress2},
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static lazy_problem problem;

static void load(void) {
    (void)(lazy_open("libcairo.so.2", LAZY_LIST(cairo_symbols), problem)
           && lazy_open("libz.so.1", LAZY_LIST(zlib_symbols), problem));
}

const char *lazy_cairo_load(void) {
    pthread_once(&once, load);
    return problem[0] ? problem : NULL;
}

const char *lazy_cairo_version(void) { return library.version(); }

struct lazy_canvas {
    void *surface;
    void *pen;
};

static lazy_canvas *canvas_of(void *surface) {
    lazy_canvas *canvas = malloc(sizeof *canvas);
    if (canvas && library.surface_status(surface) == status_success) {
        *canvas = (lazy_canvas){surface, library.make(surface)};
        return canvas;
    }
    library.surface_destroy(surface);
    free(canvas);
    return NULL;
}

lazy_canvas *lazy_canvas_make(int width, int height) {
    return canvas_of(library.surface_make(format_argb32, width, height));
}

struct file {
    const uint8_t *bytes;
    size_t left;
};

static int read_bytes(void *context, unsigned char *bytes, unsigned size) {
    struct file *file = context;
    if (size > file->left) return status_read_error;
    memcpy(bytes, file->bytes, size);
    file->bytes += size;
    file->left -= size;
    return status_success;
}

lazy_canvas *lazy_canvas_read(const uint8_t *bytes, size_t size) {
    struct file file = {bytes, size};
    lazy_canvas *found = canvas_of(library.surface_read(read_bytes, &file));
    if (!found || library.surface_format(found->surface) == format_argb32) return found;
    // An opaque file has another format.
    lazy_canvas *canvas = lazy_canvas_make(lazy_canvas_width(found), lazy_canvas_height(found));
    if (canvas) lazy_canvas_mix(canvas, found, 0, 0, lazy_blend_normal, 1, 0);
    lazy_canvas_free(found);
    return canvas;
}

void lazy_canvas_free(lazy_canvas *canvas) {
    library.destroy(canvas->pen);
    library.surface_destroy(canvas->surface);
    free(canvas);
}

int lazy_canvas_width(lazy_canvas *canvas) { return library.surface_width(canvas->surface); }
int lazy_canvas_height(lazy_canvas *canvas) { return library.surface_height(canvas->surface); }

const char *lazy_canvas_problem(lazy_canvas *canvas) {
    int status = library.status(canvas->pen);
    return status == status_success ? NULL : library.status_text(status);
}

uint32_t *lazy_canvas_pixels(lazy_canvas *canvas, size_t *row) {
    library.surface_flush(canvas->surface);
    *row = (size_t)library.surface_stride(canvas->surface) / sizeof(uint32_t);
    return (uint32_t *)library.surface_data(canvas->surface);
}

void lazy_canvas_changed(lazy_canvas *canvas) { library.surface_mark_dirty(canvas->surface); }

void lazy_canvas_set_matrix(lazy_canvas *canvas, const double *matrix) {
    const struct matrix value = {matrix[0], matrix[1], matrix[2], matrix[3], matrix[4], matrix[5]};
    library.set_matrix(canvas->pen, &value);
}

void lazy_canvas_move(lazy_canvas *canvas, double x, double y) { library.move_to(canvas->pen, x, y); }
void lazy_canvas_line(lazy_canvas *canvas, double x, double y) { library.line_to(canvas->pen, x, y); }
void lazy_canvas_curve(lazy_canvas *canvas, double x1, double y1, double x2, double y2, double x, double y) {
    library.curve_to(canvas->pen, x1, y1, x2, y2, x, y);
}
void lazy_canvas_close(lazy_canvas *canvas) { library.close_path(canvas->pen); }

void lazy_canvas_set_color(lazy_canvas *canvas, double red, double green, double blue, double opacity) {
    library.set_source_rgba(canvas->pen, red, green, blue, opacity);
}

void lazy_canvas_set_gradient(
    lazy_canvas *canvas, int is_radial, const double *circles, const double *stretch, const double *stops, size_t count) {
    void *pattern = is_radial
        ? library.pattern_radial(circles[0], circles[1], circles[2], circles[3], circles[4], circles[5])
        : library.pattern_linear(circles[0], circles[1], circles[3], circles[4]);
    for (size_t index = 0; index < count; index++) {
        const double *stop = stops + index * 5;
        library.pattern_add_stop(pattern, stop[0], stop[1], stop[2], stop[3], stop[4]);
    }
    const struct matrix matrix = {1 / stretch[0], 0, 0, 1 / stretch[1], 0, 0};
    library.pattern_set_matrix(pattern, &matrix);
    library.pattern_set_extend(pattern, extend_pad);
    library.set_source(canvas->pen, pattern);
    library.pattern_destroy(pattern);
}

void lazy_canvas_set_source(lazy_canvas *canvas, lazy_canvas *source, double x, double y) {
    library.identity_matrix(canvas->pen);
    library.set_source_surface(canvas->pen, source->surface, x, y);
}

void lazy_canvas_fill(lazy_canvas *canvas, int is_even_odd, int is_smooth) {
    library.set_antialias(canvas->pen, is_smooth ? antialias_default : antialias_none);
    library.set_fill_rule(canvas->pen, is_even_odd ? fill_even_odd : fill_winding);
    library.fill(canvas->pen);
    library.set_antialias(canvas->pen, antialias_default);
}

void lazy_canvas_stroke(
    lazy_canvas *canvas, double width, char cap, char join, const double *dashes, size_t count, double phase) {
    library.set_line_width(canvas->pen, width);
    library.set_line_cap(canvas->pen, cap == 'r' ? cap_round : cap == 's' ? cap_square : cap_butt);
    library.set_line_join(canvas->pen, join == 'r' ? join_round : join == 'b' ? join_bevel : join_miter);
    library.set_miter_limit(canvas->pen, 4);
    library.set_dash(canvas->pen, dashes, (int)count, phase);
    library.stroke(canvas->pen);
}

void lazy_canvas_draw(lazy_canvas *canvas, lazy_canvas *image, double x, double y, double width, double height) {
    library.save(canvas->pen);
    library.rectangle(canvas->pen, x, y, width, height);
    library.translate(canvas->pen, x, y);
    library.scale(canvas->pen, width / lazy_canvas_width(image), height / lazy_canvas_height(image));
    library.set_source_surface(canvas->pen, image->surface, 0, 0);
    // The pixels of the edge are not mixed with what is beyond the image.
    library.pattern_set_extend(library.get_source(canvas->pen), extend_pad);
    library.fill(canvas->pen);
    library.restore(canvas->pen);
}

static const int operators[] = {
    [lazy_blend_normal] = operator_over,
    [lazy_blend_behind] = operator_dest_over,
    [lazy_blend_within] = operator_dest_in,
    [lazy_blend_multiply] = operator_multiply,
    [lazy_blend_screen] = operator_screen,
    [lazy_blend_overlay] = operator_overlay,
    [lazy_blend_darken] = operator_darken,
    [lazy_blend_lighten] = operator_lighten,
    [lazy_blend_color_dodge] = operator_color_dodge,
    [lazy_blend_color_burn] = operator_color_burn,
    [lazy_blend_hard_light] = operator_hard_light,
    [lazy_blend_soft_light] = operator_soft_light,
    [lazy_blend_difference] = operator_difference,
    [lazy_blend_exclusion] = operator_exclusion,
    [lazy_blend_hue] = operator_hue,
    [lazy_blend_saturation] = operator_saturation,
    [lazy_blend_color] = operator_color,
    [lazy_blend_luminosity] = operator_luminosity,
    [lazy_blend_plus_lighter] = operator_add,
};

void lazy_canvas_mix(
    lazy_canvas *canvas, lazy_canvas *other, double x, double y, lazy_blend blend, double opacity, int is_clipped) {
    library.save(canvas->pen);
    library.set_fill_rule(canvas->pen, fill_winding);
    if (is_clipped) library.clip(canvas->pen);
    library.identity_matrix(canvas->pen);
    library.set_operator(canvas->pen, operators[blend]);
    library.set_source_surface(canvas->pen, other->surface, x, y);
    library.paint(canvas->pen, opacity);
    library.restore(canvas->pen);
}

size_t lazy_compressed_limit(size_t size) { return library.compress_bound(size); }

size_t lazy_compress(uint8_t *result, size_t limit, const uint8_t *bytes, size_t size) {
    unsigned long length = limit;
    return library.compress2(result, &length, bytes, size, 1) == 0 ? length : 0;
}
