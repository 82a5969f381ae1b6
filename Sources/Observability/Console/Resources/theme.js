// SPDX-License-Identifier: Apache-2.0
// Runs before the first paint, so that the page does not flash in the other color scheme.
const theme = localStorage.getItem('theme')
if (theme) document.documentElement.dataset.theme = theme
