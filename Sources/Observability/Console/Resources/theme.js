// SPDX-License-Identifier: Apache-2.0
// Runs before the first paint.
const theme = localStorage.getItem('theme')
if (theme) document.documentElement.dataset.theme = theme
