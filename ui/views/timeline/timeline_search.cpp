#include "ui/views/timeline/timeline_search.h"

#include <QStringList>
#include <algorithm>
#include <map>

#include "ui/selection/step_relations.h"
#include "ui/toolkit/graph_text.h"
#include "ui/toolkit/value_scale.h"
#include "ui/views/timeline/span_text.h"

namespace shardscape::ui {
namespace {

struct Query {
  int microbatch = -1, stage = -1, chunk = -1;
  QStringList words;
};

Query parsed(const QString& text) {
  Query query;
  int* number = nullptr;
  for (const QString& token : text.toLower().split(u' ', Qt::SkipEmptyParts)) {
    bool is_number = false;
    const int value = token.toInt(&is_number);
    if (is_number) {
      *(number ? number : &query.microbatch) = value;
      number = nullptr;
    } else if (token == u"microbatch" || token == u"mb") {
      number = &query.microbatch;
    } else if (token == u"stage") {
      number = &query.stage;
    } else if (token == u"chunk") {
      number = &query.chunk;
    } else {
      query.words << token;
    }
  }
  return query;
}

bool has_all(const QString& text, const QStringList& words) {
  return std::all_of(words.begin(), words.end(), [&](const QString& word) { return text.contains(word); });
}

}  // namespace

TimelineHighlight search_timeline(std::shared_ptr<const Report> report, std::shared_ptr<const Lanes> lanes,
                                  const QString& text) {
  const Query query = parsed(text);
  if (!report || !lanes ||
      (query.words.isEmpty() && query.microbatch < 0 && query.stage < 0 && query.chunk < 0))
    return {};
  // Texts of boxes: there are few distinct ones.
  using Kind = std::tuple<SpanKind, Pass, int32_t, StreamKind>;
  auto known = std::make_shared<std::map<Kind, bool>>();
  const auto box_matches = [lanes, query, known](const ItemRef& ref) {
    const LaneItem& item = lanes->item(ref);
    if (query.words.isEmpty()) return true;
    const Kind kind{item.kind, item.pass, item.name, lanes->lane(ref).stream};
    if (const auto it = known->find(kind); it != known->end()) return it->second;
    QString hay = pass_label(item) + u' ' + words(span_kind_name(item.kind)) + u' ' +
                  text_of(stream_label(std::get<3>(kind))) + u' ' + lane_label(std::get<3>(kind));
    if (item.name >= 0)
      hay += u' ' + QString::fromStdString(lanes->simulation().names[static_cast<size_t>(item.name)].text);
    return (*known)[kind] = has_all(hay.toLower(), query.words);
  };
  // Ops of the graph that match the words.
  auto ops = std::make_shared<std::set<std::pair<int, int>>>();
  for (size_t s = 0; !query.words.isEmpty() && s < report->graph().segments.size(); ++s) {
    const Segment& segment = report->graph().segments[s];
    for (OpId id = 0; id < static_cast<OpId>(segment.ops.size()); ++id) {
      const Op& op = segment.op(id);
      QString hay = op_title(op) + u' ' + kernel_title(segment, id) + u' ' + qtext(op.label) + u' ' +
                    qtext(op.name) + u' ' + words(op_kind_name(op.kind));
      if (op.block >= 0) hay += u' ' + qtext(segment.blocks[static_cast<size_t>(op.block)].label);
      if (has_all(hay.toLower(), query.words)) ops->insert({static_cast<int>(s), id});
    }
  }
  auto chunks = std::make_shared<std::map<std::tuple<int, int, SpanKind>, bool>>();
  const auto runs_one = [report, lanes, ops, chunks](const ItemRef& ref) {
    const LaneItem& item = lanes->item(ref);
    if (ops->empty() || ref.lane != 0 || item.microbatch < 0) return false;
    const std::tuple key{ref.stage, item.chunk, item.kind};
    if (const auto it = chunks->find(key); it != chunks->end()) return it->second;
    const std::set<int> segments = segments_of(*report, ref.stage, item.chunk);
    return (*chunks)[key] = std::any_of(ops->begin(), ops->end(), [&](const auto& op) {
             return segments.count(op.first) &&
                    runs_in(item.kind, report->graph().segments[static_cast<size_t>(op.first)], op.second);
           });
  };
  TimelineHighlight out;
  out.items = [=](const ItemRef& ref) {
    const LaneItem& item = lanes->item(ref);
    if (query.microbatch >= 0 && item.microbatch != query.microbatch) return false;
    if (query.stage >= 0 && ref.stage != query.stage) return false;
    if (query.chunk >= 0 && item.chunk != query.chunk) return false;
    return box_matches(ref) || runs_one(ref);
  };
  if (!ops->empty()) out.ops = [ops](int, int segment, int op, int) { return ops->count({segment, op}) > 0; };
  return out;
}

TimelineHighlight highlightOf(std::shared_ptr<const ResolvedSelection> resolved,
                              std::shared_ptr<const Lanes> lanes) {
  TimelineHighlight out;
  if (!resolved || !lanes || resolved->nothing() || resolved->selection().kind == SelectionKind::Span)
    return out;  // a single selected box has a frame instead
  out.items = [resolved, lanes](const ItemRef& ref) {
    if (!resolved->on(ref.stage)) return false;
    const StreamLane& lane = lanes->lane(ref);
    const LaneItem& item = lanes->item(ref);
    for (int32_t i = 0; i < item.count; ++i)
      if (resolved->span(ref.stage, lane.spans[static_cast<size_t>(item.first + i)])) return true;
    return false;
  };
  if (resolved->anyOps())
    out.ops = [resolved](int, int segment, int op, int layer) {
      return resolved->op(segment, op) && resolved->unit(unit_of(*resolved->report(), segment, layer));
    };
  return out;
}

std::vector<ItemRef> matches(const Lanes& lanes, const TimelineHighlight& of) {
  std::vector<ItemRef> out;
  if (!of.items) return out;
  for (int s = 0; s < lanes.stages(); ++s) lanes.add_by_begin(s, of.items, out);
  return out;
}

}  // namespace shardscape::ui
