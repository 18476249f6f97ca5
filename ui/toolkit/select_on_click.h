// A click into a number selects it, so that typing replaces it.
#pragma once

class QLineEdit;

namespace shardscape::ui {

void selectOnClick(QLineEdit* line);

}  // namespace shardscape::ui
