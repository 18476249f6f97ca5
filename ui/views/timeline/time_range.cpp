#include "ui/views/timeline/time_range.h"

#include <QCoreApplication>
#include <algorithm>
#include <map>
#include <tuple>

#include "ui/session/comparisons.h"
#include "ui/toolkit/graph_text.h"
#include "ui/toolkit/value_scale.h"

namespace shardscape::ui {
namespace {

QString tr_range(const char* text) { return QCoreApplication::translate("TimeRange", text); }

const GanttStep* step_of(const GanttSteps& steps, int member) {
  const auto it = std::find_if(steps.begin(), steps.end(),
                               [&](const GanttStep& step) { return step.member == member; });
  return it == steps.end() ? nullptr : &*it;
}

}  // namespace

bool TimeRange::has(int member, int stage) const {
  return std::find(rows.begin(), rows.end(), Row{member, stage}) != rows.end();
}

std::vector<RangeTotal> totals_of(const GanttSteps& steps, const TimeRange& range) {
  // By number first: a range of a long step has millions of spans, and few kinds have a text.
  using Number = std::tuple<int, StreamKind, int32_t, SpanKind>;  // member, stream, name, kind
  std::map<Number, RangeTotal> numbers;
  std::map<int, double> idle;
  for (const TimeRange::Row& row : range.rows) {
    const GanttStep* step = step_of(steps, row.member);
    if (!step || row.stage >= step->lanes->stages()) continue;
    const Simulation& simulation = step->lanes->simulation();
    idle[row.member] += range.seconds();
    for (const Span& span : simulation.stages[static_cast<size_t>(row.stage)].spans) {
      if (span.begin >= range.to) break;  // sorted by begin
      if (span.end <= range.from) continue;
      RangeTotal& sum = numbers[{row.member, span.stream, span.name, span.kind}];
      const double inside = std::min(span.end, range.to) - std::max(span.begin, range.from);
      sum.seconds += inside;
      ++sum.count;
      if (span.stream == StreamKind::Compute) idle[row.member] -= inside;
    }
  }
  std::map<std::tuple<int, StreamKind, QString>, RangeTotal> sums;
  for (const auto& [number, part] : numbers) {
    const auto& [member, stream, name, span_kind] = number;
    const Simulation& simulation = step_of(steps, member)->lanes->simulation();
    const QString kind = name >= 0 ? text_of(simulation.names[static_cast<size_t>(name)].text)
                                   : text_of(span_kind_label(span_kind));
    RangeTotal& sum = sums[{member, stream, kind}];
    sum.member = member;
    sum.stream = stream;
    sum.kind = kind;
    sum.seconds += part.seconds;
    sum.count += part.count;
  }
  std::vector<RangeTotal> out;
  for (const auto& [key, sum] : sums) out.push_back(sum);
  for (const auto& [member, seconds] : idle)
    out.push_back({member, StreamKind::Compute, tr_range("idle"), std::max(0.0, seconds), 0});
  std::stable_sort(out.begin(), out.end(), [](const RangeTotal& a, const RangeTotal& b) {
    return std::tuple(a.member, a.stream, a.count == 0, -a.seconds) <
           std::tuple(b.member, b.stream, b.count == 0, -b.seconds);
  });
  return out;
}

Inspection inspect_range(const GanttSteps& steps, const TimeRange& range) {
  Inspection out;
  out.title = tr_range("Range of %1").arg(seconds_text(range.seconds()));
  out.subtitle = tr_range("from %1 to %2").arg(seconds_text(range.from), seconds_text(range.to)) +
                 QStringLiteral(", ") +
                 (range.rows.size() == 1 ? tr_range("stage %1").arg(range.rows.front().stage)
                                         : tr_range("%1 rows").arg(range.rows.size()));
  std::map<int, int> rows;
  for (const TimeRange::Row& row : range.rows) ++rows[row.member];
  for (const RangeTotal& total : totals_of(steps, range)) {
    const double whole = range.seconds() * rows[total.member];
    QStringList figures{seconds_text(total.seconds)};
    if (total.count > 0) figures << tr_range("%L1 x").arg(total.count);
    figures << percent_text(whole > 0 ? total.seconds / whole : 0);
    const QString text = figures.replaceInStrings(QStringLiteral(" "), QString(QChar(0xA0)))
                             .join(QStringLiteral(", "));
    const QString label = rows.size() > 1
                              ? tr_range("%1: %2").arg(Comparisons::letter(total.member), total.kind)
                              : total.kind;
    (total.stream == StreamKind::Compute ? out.rows : out.more).append({label, text});
  }
  if (!out.more.isEmpty()) out.more_title = tr_range("Next to compute");
  out.why_title = tr_range("How is this counted?");
  out.why = tr_range(
      "Time, number of spans, and share of the range. A span that the range cuts counts with the part "
      "inside. The rows of the compute stream and its idle time add up to 100 %; communication and "
      "copies run next to compute.");
  return out;
}

}  // namespace shardscape::ui
