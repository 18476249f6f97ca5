// Combo boxes whose text may be longer than their room: an ellipsis in the middle, since long names differ at
// their ends. Qt cuts the text off.
#pragma once

class QComboBox;
class QStyleOptionComboBox;

namespace shardscape::ui {

// Paints the box; for its paintEvent(). option: as initStyleOption() gives it.
void paintElided(QComboBox& box, QStyleOptionComboBox option);

// Pixels that the text of the box has.
int textRoom(const QComboBox& box, const QStyleOptionComboBox& option);

}  // namespace shardscape::ui
