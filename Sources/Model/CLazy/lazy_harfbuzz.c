// SPDX-License-Identifier: Apache-2.0

#include "lazy_harfbuzz.h"

#include "lazy.h"

#include <pthread.h>
#include <stdlib.h>

// hb_variation_t, hb_feature_t, hb_glyph_info_t, hb_glyph_position_t
struct variation {
    uint32_t tag;
    float value;
};
struct feature {
    uint32_t tag;
    uint32_t value;
    unsigned start;
    unsigned end;
};
struct glyph_info {
    uint32_t glyph;
    uint32_t mask;
    uint32_t cluster;
    uint32_t own[2];
};
struct glyph_position {
    int32_t x_advance;
    int32_t y_advance;
    int32_t x;
    int32_t y;
    uint32_t own;
};

enum { memory_read_only = 1, direction_left_to_right = 4, direction_right_to_left = 5 };

#define TAG(a, b, c, d) ((uint32_t)(a) << 24 | (uint32_t)(b) << 16 | (uint32_t)(c) << 8 | (uint32_t)(d))

// The signatures of hb.h, with objects as void *.
static struct {
    void *(*blob_create)(const char *data, unsigned size, int mode, void *context, void (*destroy)(void *));
    void (*blob_destroy)(void *blob);
    void *(*face_create)(void *blob, unsigned index);
    void (*face_destroy)(void *face);
    unsigned (*face_get_upem)(void *face);
    unsigned (*face_get_glyph_count)(void *face);
    void *(*face_reference_table)(void *face, uint32_t tag);
    unsigned (*blob_get_length)(void *blob);
    void *(*font_create)(void *face);
    void *(*font_get_face)(void *font);
    int (*font_get_nominal_glyph)(void *font, uint32_t character, uint32_t *glyph);
    float (*style_get_value)(void *font, uint32_t tag);
    void (*font_destroy)(void *font);
    void (*font_set_variations)(void *font, const struct variation *variations, unsigned count);
    void (*font_get_glyph_shape)(void *font, uint32_t glyph, void *functions, void *context);
    void *(*buffer_create)(void);
    void (*buffer_destroy)(void *buffer);
    void (*buffer_reset)(void *buffer);
    void (*buffer_add_utf8)(void *buffer, const char *text, int size, unsigned offset, int length);
    void (*buffer_guess)(void *buffer);
    void (*buffer_set_direction)(void *buffer, int direction);
    struct glyph_info *(*buffer_get_infos)(void *buffer, unsigned *count);
    struct glyph_position *(*buffer_get_positions)(void *buffer, unsigned *count);
    void (*shape)(void *font, void *buffer, const struct feature *features, unsigned count);
    void *(*draw_create)(void);
    void (*draw_set_move)(void *functions, void *function, void *context, void *destroy);
    void (*draw_set_line)(void *functions, void *function, void *context, void *destroy);
    void (*draw_set_quad)(void *functions, void *function, void *context, void *destroy);
    void (*draw_set_cubic)(void *functions, void *function, void *context, void *destroy);
    void (*draw_set_close)(void *functions, void *function, void *context, void *destroy);
} library;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static lazy_problem problem;
static void *draw_functions;

// The receiver of an outline.
struct pen {
    void *context;
    lazy_outline receive;
};

static void move(void *own, struct pen *pen, void *state, float x, float y, void *context) {
    pen->receive(pen->context, 'M', (float[]){x, y});
}
static void line(void *own, struct pen *pen, void *state, float x, float y, void *context) {
    pen->receive(pen->context, 'L', (float[]){x, y});
}
static void quad(void *own, struct pen *pen, void *state, float x1, float y1, float x, float y, void *context) {
    pen->receive(pen->context, 'Q', (float[]){x1, y1, x, y});
}
static void cubic(
    void *own, struct pen *pen, void *state, float x1, float y1, float x2, float y2, float x, float y, void *context) {
    pen->receive(pen->context, 'C', (float[]){x1, y1, x2, y2, x, y});
}
static void end(void *own, struct pen *pen, void *state, void *context) {
    pen->receive(pen->context, 'Z', NULL);
}

static const struct lazy_symbol symbols[] = {
    {"hb_blob_create", &library.blob_create},
    {"hb_blob_destroy", &library.blob_destroy},
    {"hb_face_create", &library.face_create},
    {"hb_face_destroy", &library.face_destroy},
    {"hb_face_get_upem", &library.face_get_upem},
    {"hb_face_get_glyph_count", &library.face_get_glyph_count},
    {"hb_face_reference_table", &library.face_reference_table},
    {"hb_blob_get_length", &library.blob_get_length},
    {"hb_font_create", &library.font_create},
    {"hb_font_get_face", &library.font_get_face},
    {"hb_font_get_nominal_glyph", &library.font_get_nominal_glyph},
    {"hb_style_get_value", &library.style_get_value},
    {"hb_font_destroy", &library.font_destroy},
    {"hb_font_set_variations", &library.font_set_variations},
    {"hb_font_get_glyph_shape", &library.font_get_glyph_shape},
    {"hb_buffer_create", &library.buffer_create},
    {"hb_buffer_destroy", &library.buffer_destroy},
    {"hb_buffer_reset", &library.buffer_reset},
    {"hb_buffer_add_utf8", &library.buffer_add_utf8},
    {"hb_buffer_guess_segment_properties", &library.buffer_guess},
    {"hb_buffer_set_direction", &library.buffer_set_direction},
    {"hb_buffer_get_glyph_infos", &library.buffer_get_infos},
    {"hb_buffer_get_glyph_positions", &library.buffer_get_positions},
    {"hb_shape", &library.shape},
    {"hb_draw_funcs_create", &library.draw_create},
    {"hb_draw_funcs_set_move_to_func", &library.draw_set_move},
    {"hb_draw_funcs_set_line_to_func", &library.draw_set_line},
    {"hb_draw_funcs_set_quadratic_to_func", &library.draw_set_quad},
    {"hb_draw_funcs_set_cubic_to_func", &library.draw_set_cubic},
    {"hb_draw_funcs_set_close_path_func", &library.draw_set_close},
};

static void load(void) {
    if (!lazy_open("libharfbuzz.so.0", LAZY_LIST(symbols), problem)) return;
    draw_functions = library.draw_create();
    library.draw_set_move(draw_functions, move, NULL, NULL);
    library.draw_set_line(draw_functions, line, NULL, NULL);
    library.draw_set_quad(draw_functions, quad, NULL, NULL);
    library.draw_set_cubic(draw_functions, cubic, NULL, NULL);
    library.draw_set_close(draw_functions, end, NULL, NULL);
}

const char *lazy_harfbuzz_load(void) {
    pthread_once(&once, load);
    return problem[0] ? problem : NULL;
}

struct lazy_font {
    void *font;
    void *buffer;
    int units;
    lazy_glyph *glyphs;
    size_t capacity;
};

lazy_font *lazy_font_make(const void *data, size_t size, float weight) {
    lazy_font *result = calloc(1, sizeof *result);
    if (!result) return NULL;
    void *blob = library.blob_create(data, (unsigned)size, memory_read_only, NULL, NULL);
    void *face = library.face_create(blob, 0);
    library.blob_destroy(blob);
    result->units = (int)library.face_get_upem(face);
    unsigned count = library.face_get_glyph_count(face);
    result->font = library.font_create(face);
    library.face_destroy(face);
    result->buffer = library.buffer_create();
    const struct variation variation = {TAG('w', 'g', 'h', 't'), weight};
    library.font_set_variations(result->font, &variation, 1);
    if (count > 0 && result->units > 0) return result;
    lazy_font_free(result);
    return NULL;
}

void lazy_font_free(lazy_font *font) {
    library.buffer_destroy(font->buffer);
    library.font_destroy(font->font);
    free(font->glyphs);
    free(font);
}

int lazy_font_units(lazy_font *font) { return font->units; }

float lazy_font_weight(lazy_font *font) { return library.style_get_value(font->font, TAG('w', 'g', 'h', 't')); }

int lazy_font_is_italic(lazy_font *font) {
    return library.style_get_value(font->font, TAG('i', 't', 'a', 'l')) != 0
        || library.style_get_value(font->font, TAG('s', 'l', 'n', 't')) != 0;
}

int lazy_font_has_colors(lazy_font *font) {
    const uint32_t tags[] = {
        TAG('C', 'B', 'D', 'T'), TAG('s', 'b', 'i', 'x'), TAG('C', 'O', 'L', 'R'), TAG('S', 'V', 'G', ' ')};
    unsigned length = 0;
    for (size_t index = 0; index < sizeof tags / sizeof tags[0]; index++) {
        void *table = library.face_reference_table(library.font_get_face(font->font), tags[index]);
        length += library.blob_get_length(table) > 0;
        library.blob_destroy(table);
    }
    return length > 0;
}

uint32_t lazy_font_glyph(lazy_font *font, uint32_t character) {
    uint32_t glyph = 0;
    return library.font_get_nominal_glyph(font->font, character, &glyph) ? glyph : 0;
}

size_t lazy_font_shape(
    lazy_font *font, const char *text, size_t size, char direction, int has_monospaced_digits,
    const lazy_glyph **glyphs) {
    library.buffer_reset(font->buffer);
    library.buffer_add_utf8(font->buffer, text, (int)size, 0, (int)size);
    if (direction) {
        library.buffer_set_direction(
            font->buffer, direction == 'R' ? direction_right_to_left : direction_left_to_right);
    }
    library.buffer_guess(font->buffer);
    const struct feature digits = {TAG('t', 'n', 'u', 'm'), 1, 0, (unsigned)-1};
    library.shape(font->font, font->buffer, &digits, has_monospaced_digits ? 1 : 0);
    unsigned count = 0;
    const struct glyph_info *infos = library.buffer_get_infos(font->buffer, &count);
    const struct glyph_position *positions = library.buffer_get_positions(font->buffer, &count);
    if (count > font->capacity) {
        lazy_glyph *more = realloc(font->glyphs, count * sizeof *more);
        if (!more) return 0;
        font->glyphs = more;
        font->capacity = count;
    }
    for (unsigned index = 0; index < count; index++) {
        font->glyphs[index] = (lazy_glyph){
            infos[index].glyph, infos[index].cluster, positions[index].x_advance, positions[index].x,
            positions[index].y,
        };
    }
    *glyphs = font->glyphs;
    return count;
}

void lazy_font_outline(lazy_font *font, uint32_t glyph, void *context, lazy_outline receive) {
    struct pen pen = {context, receive};
    library.font_get_glyph_shape(font->font, glyph, draw_functions, &pen);
}
