// The values that the search panel offers for a dimension.
#pragma once

#include <QStringList>
#include <optional>

#include "base/problem.h"
#include "design/design.h"
#include "ui/toolkit/word_completer.h"

namespace shardscape::ui {

// Values to choose from, as chips. Empty: too many, the values are typed.
struct OfferedValues {
  QStringList values;  // "all" is one of them for degrees of parallelism
  QStringList labels;  // for people
  QStringList chosen;
};

// id: a knob id, "model" or "gpus". typed: the values of the dimension, in the syntax of parse_values().
OfferedValues offeredValues(const QString& id, const QString& typed, const Design& base, int64_t gpus);
// What is wrong with the values.
std::optional<Problem> problemOfValues(const QString& id, const QString& typed, const Design& base);
// Words that complete typed values: choices of the knob, or presets.
QList<WordCompleter::Word> valueWords(const QString& id);

}  // namespace shardscape::ui
