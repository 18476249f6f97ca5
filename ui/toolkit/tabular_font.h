// Digits of equal width. Qt before 6.7 cannot switch a font feature on, so the font is loaded again with its
// "tnum" feature renamed to one that every shaper applies.
#pragma once

#include <QString>

namespace shardscape::ui {

// The family itself where its digits are equal anyway or nothing can be done, else that of the loaded copy.
QString tabularFamily(const QString& family);

}  // namespace shardscape::ui
