// The text of the inspector for a selection, ready to read and copy.
#pragma once

#include <QPair>
#include <QString>
#include <QVector>

#include "ui/selection/selection.h"

namespace shardscape::ui {

struct InspectedValue {
  QString label;        // "Saved for backward"
  QString formula;      // symbols
  QString substituted;  // the formula with numbers in place of symbols; may be empty
  QString value;        // "76.0 MiB"
  bool operator==(const InspectedValue&) const = default;
};
struct InspectedLink {
  QString label, text;  // "waits for", "receive from stage 2"
  Selection selection;  // a click selects this
  QString knob = {};    // not empty: a click goes to the field of this knob instead
};
struct Inspection {
  QString title, subtitle;
  QVector<QPair<QString, QString>> figures;  // the answers, first of all: "Time", "1.14 ms"
  QVector<InspectedValue> values;
  QVector<QPair<QString, QString>> rows;  // short facts: "q", "[b, S, H/tp, E]"
  QVector<InspectedLink> links;           // after the facts
  QString more_title;                     // "What would help"
  QVector<QPair<QString, QString>> more;  // facts below that title
  QString why_title, why;                 // "Why is this collective here?"
  bool why_first = false;                 // show `why` directly below the title
  bool isEmpty() const { return title.isEmpty(); }
};

}  // namespace shardscape::ui
