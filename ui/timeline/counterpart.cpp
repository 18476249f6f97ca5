#include "ui/timeline/counterpart.h"

#include <QCoreApplication>

#include "ui/models/value_scale.h"
#include "ui/state/comparisons.h"
#include "ui/timeline/span_text.h"

namespace shardscape::ui {
namespace {

QString tr(const char* text) { return QCoreApplication::translate("Counterpart", text); }

std::string_view name_of(const Lanes& lanes, const LaneItem& item) {
  return item.name < 0 ? std::string_view() : std::string_view(lanes.simulation().names[static_cast<size_t>(item.name)]);
}

bool alike(const Lanes& lanes, const LaneItem& a, const Lanes& other, const LaneItem& b) {
  // A send is no receive; but a backward in one piece stands for the part that another schedule does first.
  const bool same = a.pass == b.pass && a.microbatch == b.microbatch && a.chunk == b.chunk && (a.pass != Pass::Communication || a.kind == b.kind);
  return same && name_of(lanes, a) == name_of(other, b);
}

}  // namespace

ItemRef counterpart(const Lanes& lanes, const ItemRef& ref, const Lanes& other) {
  const StreamLane& mine = lanes.lane(ref);
  const LaneItem& item = lanes.item(ref);
  int before = 0;
  for (int i = 0; i < ref.item; ++i) before += alike(lanes, item, lanes, mine.items[static_cast<size_t>(i)]);
  const int stage = Comparisons::counterpart(ref.stage, lanes.stages(), other.stages());
  const std::vector<StreamLane>& theirs = other.of(stage);
  for (size_t lane = 0; lane < theirs.size(); ++lane)
    for (size_t i = 0; theirs[lane].stream == mine.stream && i < theirs[lane].items.size(); ++i)
      if (alike(lanes, item, other, theirs[lane].items[i]) && before-- == 0) return {stage, static_cast<int>(lane), static_cast<int>(i)};
  return {};
}

QString beside_text(const Lanes& lanes, const ItemRef& ref, const Lanes& other, const ItemRef& there) {
  if (!there.valid()) return tr("nothing like it");
  const LaneItem& mine = lanes.item(ref);
  const LaneItem& item = other.item(there);
  const double takes = mine.end - mine.begin, by = item.end - item.begin;
  QString text = tr("starts at %1, takes %2").arg(seconds_text(item.begin), seconds_text(by));
  if (takes > 0) text += QStringLiteral(", ") + signed_percent_text(by / takes - 1);
  return there.stage == ref.stage ? text : tr("stage %1, %2").arg(there.stage).arg(text);
}

}  // namespace shardscape::ui
