// SPDX-License-Identifier: Apache-2.0

#include "lazy_turbojpeg.h"

#include "lazy.h"

#include <pthread.h>

// TJPF_BGRA and TJPF_ARGB
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
enum { pixel_format = 8 };
#else
enum { pixel_format = 10 };
#endif
// TJFLAG_LIMITSCANS: a progressive image with thousands of passes would take minutes.
enum { limit_scans = 32768 };

// TJSAMP_420
enum { sampling_420 = 2 };

// TJCS_CMYK and TJCS_YCCK: the library does not convert them.
enum { colors_cmyk = 3, colors_ycck = 4 };

// Where the header is installed, the compiler checks the numbers.
#if __has_include(<turbojpeg.h>)
#include <turbojpeg.h>
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
_Static_assert((int)pixel_format == (int)TJPF_BGRA, "TJPF_BGRA");
#else
_Static_assert((int)pixel_format == (int)TJPF_ARGB, "TJPF_ARGB");
#endif
_Static_assert((int)sampling_420 == (int)TJSAMP_420, "TJSAMP_420");
_Static_assert((int)colors_cmyk == (int)TJCS_CMYK, "TJCS_CMYK");
_Static_assert((int)colors_ycck == (int)TJCS_YCCK, "TJCS_YCCK");
#ifdef TJFLAG_LIMITSCANS
_Static_assert((int)limit_scans == (int)TJFLAG_LIMITSCANS, "TJFLAG_LIMITSCANS");
#endif
#endif

// The signatures of turbojpeg.h.
static struct {
    void *(*make)(void);
    int (*header)(
        void *handle, const unsigned char *file, unsigned long size, int *width, int *height, int *sampling, int *colors);
    int (*decompress)(
        void *handle, const unsigned char *file, unsigned long size, unsigned char *pixels, int width, int pitch,
        int height, int format, int flags);
    void *(*make_compressor)(void);
    int (*compress)(
        void *handle, const unsigned char *pixels, int width, int pitch, int height, int format, unsigned char **file,
        unsigned long *size, int sampling, int quality, int flags);
    void (*free)(unsigned char *file);
    int (*error_code)(void *handle);
    int (*destroy)(void *handle);
} library;

static const struct lazy_symbol symbols[] = {
    {"tjInitDecompress", &library.make},
    {"tjDecompressHeader3", &library.header},
    {"tjDecompress2", &library.decompress},
    {"tjInitCompress", &library.make_compressor},
    {"tjCompress2", &library.compress},
    {"tjFree", &library.free},
    {"tjGetErrorCode", &library.error_code},
    {"tjDestroy", &library.destroy},
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static lazy_problem problem;

static void load(void) { lazy_open("libturbojpeg.so.0", LAZY_LIST(symbols), problem); }

const char *lazy_jpeg_load(void) {
    pthread_once(&once, load);
    return problem[0] ? problem : NULL;
}

// A file with superfluous or missing bytes at its end has a warning, and is drawn.
static int is_complete(void *handle, int result) { return result == 0 || library.error_code(handle) == 0; }

int lazy_jpeg_size(const uint8_t *file, size_t size, int *width, int *height) {
    void *handle = library.make();
    int sampling, colors = 0;
    int is_read =
        handle && is_complete(handle, library.header(handle, file, size, width, height, &sampling, &colors));
    if (handle) library.destroy(handle);
    if (!is_read || *width <= 0 || *height <= 0) return 0;
    return colors == colors_cmyk || colors == colors_ycck ? -1 : 1;
}

int lazy_jpeg_read(const uint8_t *file, size_t size, uint32_t *pixels, size_t row, int width, int height) {
    void *handle = library.make();
    int is_read = handle
        && is_complete(
            handle,
            library.decompress(
                handle, file, size, (unsigned char *)pixels, width, (int)(row * 4), height, pixel_format, limit_scans));
    if (handle) library.destroy(handle);
    return is_read;
}

uint8_t *lazy_jpeg_write(const uint32_t *pixels, int width, int height, int quality, size_t *size) {
    void *handle = library.make_compressor();
    unsigned char *file = NULL;
    unsigned long length = 0;
    int is_written = handle
        && library.compress(
               handle, (const unsigned char *)pixels, width, width * 4, height, pixel_format, &file, &length, sampling_420,
               quality, 0)
            == 0;
    if (handle) library.destroy(handle);
    *size = length;
    if (is_written) return file;
    library.free(file);
    return NULL;
}

void lazy_jpeg_free(uint8_t *file) { library.free(file); }
