#include "ui/views/timeline/matching_item.h"

#include <QCoreApplication>
#include <algorithm>
#include <compare>
#include <map>
#include <string_view>
#include <utility>

#include "ui/session/comparisons.h"
#include "ui/toolkit/value_scale.h"
#include "ui/views/timeline/span_text.h"

namespace shardscape::ui {
namespace {

QString tr_match(const char* text) { return QCoreApplication::translate("MatchingItem", text); }

// The identity of a box on its stream. A send does not match a receive. A full backward matches the
// input-gradient part of a split backward.
struct Called {
  Pass pass;
  SpanKind kind;
  int32_t microbatch, chunk;
  std::string_view name;
  auto operator<=>(const Called&) const = default;
};

Called called(const Lanes& lanes, const LaneItem& item) {
  return {item.pass, item.pass == Pass::Communication ? item.kind : SpanKind::Forward, item.microbatch,
          item.chunk,
          item.name < 0 ? std::string_view()
                        : std::string_view(lanes.simulation().names[static_cast<size_t>(item.name)].text)};
}

}  // namespace

bool chunksHoldOtherLayers(const Lanes& lanes, const LaneItem& item, const Lanes& other) {
  return item.microbatch >= 0 && lanes.chunks() != other.chunks();
}

ItemRef matchingItem(const Lanes& lanes, const ItemRef& ref, const Lanes& other) {
  const StreamLane& mine = lanes.lane(ref);
  const Called name = called(lanes, lanes.item(ref));
  auto before = std::count_if(mine.items.begin(), mine.items.begin() + ref.item,
                              [&](const LaneItem& item) { return called(lanes, item) == name; });
  const int stage = Comparisons::sameStagePlace(ref.stage, lanes.stages(), other.stages());
  const std::vector<StreamLane>& theirs = other.of(stage);
  for (size_t lane = 0; lane < theirs.size(); ++lane)
    for (size_t i = 0; theirs[lane].stream == mine.stream && i < theirs[lane].items.size(); ++i)
      if (called(other, theirs[lane].items[i]) == name && before-- == 0)
        return {stage, static_cast<int>(lane), static_cast<int>(i)};
  return {};
}

std::vector<std::vector<ItemRef>> matchingItems(const Lanes& lanes, int stage, const Lanes& other) {
  const int there = Comparisons::sameStagePlace(stage, lanes.stages(), other.stages());
  std::map<std::pair<StreamKind, Called>, std::vector<ItemRef>> left;  // from the last to the first
  const std::vector<StreamLane>& theirs = other.of(there);
  for (size_t lane = 0; lane < theirs.size(); ++lane)
    for (size_t i = theirs[lane].items.size(); i-- > 0;)
      left[{theirs[lane].stream, called(other, theirs[lane].items[i])}].push_back(
          {there, static_cast<int>(lane), static_cast<int>(i)});
  std::vector<std::vector<ItemRef>> out;
  for (const StreamLane& lane : lanes.of(stage)) {
    std::vector<ItemRef>& refs = out.emplace_back(lane.items.size());
    for (size_t i = 0; i < lane.items.size(); ++i) {
      if (chunksHoldOtherLayers(lanes, lane.items[i], other)) continue;
      const auto it = left.find({lane.stream, called(lanes, lane.items[i])});
      if (it == left.end() || it->second.empty()) continue;
      refs[i] = it->second.back();
      it->second.pop_back();
    }
  }
  return out;
}

QString matchingItemText(const Lanes& lanes, const ItemRef& ref, const Lanes& other, const ItemRef& there) {
  if (!there.valid()) return tr_match("no such action");
  const LaneItem& mine = lanes.item(ref);
  const LaneItem& item = other.item(there);
  const double takes = mine.end - mine.begin, by = item.end - item.begin;
  QString text = tr_match("starts at %1, takes %2").arg(seconds_text(item.begin), seconds_text(by));
  if (chunksHoldOtherLayers(lanes, mine, other))
    return tr_match("%1; chunk %2 of %3, other layers")
        .arg(there.stage == ref.stage ? text : tr_match("stage %1, %2").arg(there.stage).arg(text))
        .arg(item.chunk)
        .arg(other.chunks());
  if (takes > 0) text += QStringLiteral(", ") + signed_percent_text(by / takes - 1);
  return there.stage == ref.stage ? text : tr_match("stage %1, %2").arg(there.stage).arg(text);
}

}  // namespace shardscape::ui
