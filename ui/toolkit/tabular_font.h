// Digits of equal width. Qt before 6.7 cannot switch a font feature on, so the font is loaded again with the
// glyphs of its "tnum" feature as those of the characters. A PDF then knows the character of each glyph.
#pragma once

#include <QString>

namespace shardscape::ui {

// The family of the loaded copy. The given family if its digits already have equal width or the copy cannot
// be made.
QString tabularFamily(const QString& family);

}  // namespace shardscape::ui
