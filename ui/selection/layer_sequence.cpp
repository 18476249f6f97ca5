#include "ui/selection/layer_sequence.h"

namespace shardscape::ui {
namespace {

constexpr qsizetype kSpelled = 3;  // longer runs of one kind are counted

// "local, local, local, global", "5 × local, global".
QString runs_text(const QStringList& kinds) {
  QStringList out;
  for (qsizetype i = 0; i < kinds.size();) {
    qsizetype end = i;
    while (end < kinds.size() && kinds[end] == kinds[i]) ++end;
    if (end - i > kSpelled)
      out << QStringLiteral("%1 × %2").arg(end - i).arg(kinds[i]);
    else
      out << kinds.mid(i, end - i);
    i = end;
  }
  return out.join(QStringLiteral(", "));
}

// The length of the shortest pattern that the list repeats at least twice; 0: it repeats none.
qsizetype period_of(const QStringList& kinds) {
  for (qsizetype period = 1; 2 * period <= kinds.size(); ++period) {
    qsizetype same = period;
    while (same < kinds.size() && kinds[same] == kinds[same - period]) ++same;
    if (same == kinds.size()) return period;
  }
  return 0;
}

}  // namespace

QString layer_sequence_text(const QStringList& kinds) {
  const qsizetype period = period_of(kinds);
  if (period < 2) return runs_text(kinds);
  const qsizetype times = kinds.size() / period;
  QString text = QStringLiteral("%1 × (%2)").arg(times).arg(runs_text(kinds.mid(0, period)));
  if (const QStringList rest = kinds.mid(times * period); !rest.isEmpty())
    text += QStringLiteral(", ") + runs_text(rest);
  return text;
}

}  // namespace shardscape::ui
