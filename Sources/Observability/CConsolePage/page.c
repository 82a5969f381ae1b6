// SPDX-License-Identifier: Apache-2.0

#include "CConsolePage.h"

// The preprocessor reads the files, in no measurable time: Documentation/decisions/0020-console-page.md.
#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char api_js[] = {
#embed "../Console/Resources/api.js"
};
static const unsigned char budget_js[] = {
#embed "../Console/Resources/budget.js"
};
static const unsigned char bus_js[] = {
#embed "../Console/Resources/bus.js"
};
static const unsigned char console_css[] = {
#embed "../Console/Resources/console.css"
};
static const unsigned char dom_js[] = {
#embed "../Console/Resources/dom.js"
};
static const unsigned char filter_js[] = {
#embed "../Console/Resources/filter.js"
};
static const unsigned char icon_svg[] = {
#embed "../Console/Resources/icon.svg"
};
static const unsigned char index_html[] = {
#embed "../Console/Resources/index.html"
};
static const unsigned char main_js[] = {
#embed "../Console/Resources/main.js"
};
static const unsigned char plot_js[] = {
#embed "../Console/Resources/plot.js"
};
static const unsigned char processes_js[] = {
#embed "../Console/Resources/processes.js"
};
static const unsigned char pushes_js[] = {
#embed "../Console/Resources/pushes.js"
};
static const unsigned char screen_js[] = {
#embed "../Console/Resources/screen.js"
};
static const unsigned char table_js[] = {
#embed "../Console/Resources/table.js"
};
static const unsigned char theme_js[] = {
#embed "../Console/Resources/theme.js"
};
static const unsigned char traces_js[] = {
#embed "../Console/Resources/traces.js"
};

#define FILE_ROW(name, bytes) {name, bytes, sizeof(bytes)}

static const struct console_file files[] = {
    FILE_ROW("api.js", api_js),
    FILE_ROW("budget.js", budget_js),
    FILE_ROW("bus.js", bus_js),
    FILE_ROW("console.css", console_css),
    FILE_ROW("dom.js", dom_js),
    FILE_ROW("filter.js", filter_js),
    FILE_ROW("icon.svg", icon_svg),
    FILE_ROW("index.html", index_html),
    FILE_ROW("main.js", main_js),
    FILE_ROW("plot.js", plot_js),
    FILE_ROW("processes.js", processes_js),
    FILE_ROW("pushes.js", pushes_js),
    FILE_ROW("screen.js", screen_js),
    FILE_ROW("table.js", table_js),
    FILE_ROW("theme.js", theme_js),
    FILE_ROW("traces.js", traces_js),
};

const struct console_file *console_file_at(size_t index) {
  return index < sizeof(files) / sizeof(files[0]) ? &files[index] : NULL;
}
