// The kinds of consecutive layers in words.
#pragma once

#include <QStringList>

namespace shardscape::ui {

// "4 × (local, local, local, global)", "3 × (5 × local, global), local", "dense, 58 × moe". kinds: the name
// of each layer's kind.
QString layer_sequence_text(const QStringList& kinds);

}  // namespace shardscape::ui
