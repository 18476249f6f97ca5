#include "ui/timeline/query.h"

#include <QStringList>
#include <algorithm>
#include <map>

#include "ui/graph_view/node_text.h"
#include "ui/models/value_scale.h"
#include "ui/timeline/span_text.h"

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

bool runs_op(Pass pass, const Segment& segment, int op) {
  const Op& of = segment.op(op);
  if (op < segment.backward_begin) return pass == Pass::Forward;
  return pass == Pass::Backward || (pass == Pass::WeightGradient && of.grad == GradRole::Weight);
}

// Segments that a chunk of a stage runs.
std::set<int> segments_of(const Report& report, int stage, int chunk) {
  const StageReport& of = report.stages[static_cast<size_t>(stage)];
  std::set<int> out;
  if (of.first && chunk == 0) out.insert(0);
  const auto kinds = chunk_kinds(report.graph(), of, report.design.model);
  if (chunk < static_cast<int>(kinds.size()))
    for (const int kind : kinds[static_cast<size_t>(chunk)]) out.insert(1 + kind);
  if (of.last && chunk + 1 == static_cast<int>(of.chunks.size())) out.insert(report.graph().head());
  return out;
}

}  // namespace

int chunk_of(const Report& report, int stage, int segment, int layer) {
  const StageReport& of = report.stages[static_cast<size_t>(stage)];
  if (layer < 0) return segment == 0 ? (of.first ? 0 : -1) : of.last ? static_cast<int>(of.chunks.size()) - 1 : -1;
  for (size_t c = 0; c < of.chunks.size(); ++c)
    if (layer >= of.chunks[c].first_layer && layer < of.chunks[c].first_layer + of.chunks[c].layers) return static_cast<int>(c);
  return -1;
}

int unit_of(const Report& report, int segment, int layer) {
  if (layer >= 0) return layer + 1;
  if (segment == 0) return 0;
  int64_t layers = 0;
  for (const StageReport& stage : report.stages) layers += stage.layers;
  return static_cast<int>(layers) + 1;
}

StandsOut search_timeline(std::shared_ptr<const Report> report, std::shared_ptr<const Lanes> lanes, const QString& text) {
  const Query query = parsed(text);
  if (!report || !lanes || (query.words.isEmpty() && query.microbatch < 0 && query.stage < 0 && query.chunk < 0)) return {};
  // Words of boxes: few different ones.
  using Kind = std::tuple<SpanKind, Pass, int32_t, StreamKind>;
  auto known = std::make_shared<std::map<Kind, bool>>();
  const auto box_matches = [lanes, query, known](const ItemRef& ref) {
    const LaneItem& item = lanes->item(ref);
    if (query.words.isEmpty()) return true;
    const Kind kind{item.kind, item.pass, item.name, lanes->lane(ref).stream};
    if (const auto it = known->find(kind); it != known->end()) return it->second;
    QString hay = pass_label(item) + u' ' + words(span_kind_name(item.kind)) + u' ' + text_of(stream_label(std::get<3>(kind))) + u' ' + lane_label(std::get<3>(kind));
    if (item.name >= 0) hay += u' ' + QString::fromStdString(lanes->simulation().names[static_cast<size_t>(item.name)]);
    return (*known)[kind] = has_all(hay.toLower(), query.words);
  };
  // Ops of the graph that the words name.
  auto ops = std::make_shared<std::set<std::pair<int, int>>>();
  for (size_t s = 0; !query.words.isEmpty() && s < report->graph().segments.size(); ++s) {
    const Segment& segment = report->graph().segments[s];
    for (OpId id = 0; id < static_cast<OpId>(segment.ops.size()); ++id) {
      const Op& op = segment.op(id);
      QString hay = op_title(op) + u' ' + qtext(op.label) + u' ' + qtext(op.name) + u' ' + words(op_kind_name(op.kind));
      if (op.block >= 0) hay += u' ' + qtext(segment.blocks[static_cast<size_t>(op.block)].label);
      if (has_all(hay.toLower(), query.words)) ops->insert({static_cast<int>(s), id});
    }
  }
  auto chunks = std::make_shared<std::map<std::tuple<int, int, Pass>, bool>>();
  const auto runs_one = [report, lanes, ops, chunks](const ItemRef& ref) {
    const LaneItem& item = lanes->item(ref);
    if (ops->empty() || ref.lane != 0 || item.microbatch < 0) return false;
    const std::tuple key{ref.stage, item.chunk, item.pass};
    if (const auto it = chunks->find(key); it != chunks->end()) return it->second;
    const std::set<int> segments = segments_of(*report, ref.stage, item.chunk);
    return (*chunks)[key] = std::any_of(ops->begin(), ops->end(), [&](const auto& op) {
             return segments.count(op.first) && runs_op(item.pass, report->graph().segments[static_cast<size_t>(op.first)], op.second);
           });
  };
  StandsOut out;
  out.items = [=](const ItemRef& ref) {
    const LaneItem& item = lanes->item(ref);
    if (query.microbatch >= 0 && item.microbatch != query.microbatch) return false;
    if (query.stage >= 0 && ref.stage != query.stage) return false;
    if (query.chunk >= 0 && item.chunk != query.chunk) return false;
    return box_matches(ref) || runs_one(ref);
  };
  if (!ops->empty()) out.ops = [ops](int segment, int op) { return ops->count({segment, op}) > 0; };
  return out;
}

StandsOut stands_out_for(std::shared_ptr<const Report> report, std::shared_ptr<const Lanes> lanes, const Pick& pick) {
  StandsOut out;
  if (!report || !lanes || pick.stage < 0 || pick.stage >= lanes->stages()) return out;
  if (pick.kind == PickKind::Op) {
    int64_t layers = 0;
    for (const StageReport& stage : report->stages) layers += stage.layers;
    const bool layer = pick.unit > 0 && pick.unit <= layers;
    const int segment = pick.unit == 0 ? 0 : layer ? 1 + report->graph().layer_kind(pick.unit - 1, report->design.model) : report->graph().head();
    const int chunk = chunk_of(*report, pick.stage, segment, layer ? pick.unit - 1 : -1);
    const Segment& of = report->graph().segments[static_cast<size_t>(segment)];
    if (pick.op < 0 || pick.op >= static_cast<int>(of.ops.size())) return out;
    out.items = [=, &of](const ItemRef& ref) {
      if (ref.stage != pick.stage || ref.lane != 0) return false;
      const LaneItem& item = lanes->item(ref);
      return item.chunk == chunk && item.microbatch >= 0 && report && runs_op(item.pass, of, pick.op);
    };
    out.ops = [=](int s, int op) { return s == segment && op == pick.op; };
  } else if (pick.kind == PickKind::Collective) {
    out.items = [=](const ItemRef& ref) {
      if (ref.stage != pick.stage) return false;
      const LaneItem& item = lanes->item(ref);
      const StreamLane& lane = lanes->lane(ref);
      switch (lane.stream) {
        case StreamKind::PipelineComm: return pick.phase == Phase::Pipeline && pick.collective == "send";
        case StreamKind::Receive: return pick.phase == Phase::Pipeline && pick.collective == "recv";
        case StreamKind::DataComm:
          return item.name >= 0 && is_of_collective(lanes->simulation().names[static_cast<size_t>(item.name)], pick);
        case StreamKind::Compute:
          if (item.name >= 0 || item.microbatch < 0) return false;
          if (pick.phase == Phase::Forward) return item.pass == Pass::Forward;
          if (pick.phase == Phase::Pipeline) return pick.collective == "all_gather";
          return (pick.phase == Phase::Backward || pick.phase == Phase::Recompute) && item.pass == Pass::Backward;
        default: return false;
      }
    };
    out.ops = [=](int s, int op) {
      const Op& of = report->graph().segments[static_cast<size_t>(s)].op(op);
      return is_collective(of.kind) && of.phase == pick.phase && group_name(of.group) == pick.group && op_kind_name(of.kind) == pick.collective;
    };
  }
  return out;
}

std::vector<ItemRef> matches(const Lanes& lanes, const StandsOut& of) {
  std::vector<ItemRef> out;
  if (!of.items) return out;
  for (int s = 0; s < lanes.stages(); ++s)
    for (int l = 0; l < static_cast<int>(lanes.of(s).size()); ++l)
      for (int i = 0; i < static_cast<int>(lanes.of(s)[static_cast<size_t>(l)].items.size()); ++i)
        if (of.items({s, l, i})) out.push_back({s, l, i});
  std::stable_sort(out.begin(), out.end(), [&](const ItemRef& a, const ItemRef& b) {
    return a.stage != b.stage ? a.stage < b.stage : lanes.item(a).begin < lanes.item(b).begin;
  });
  return out;
}

}  // namespace shardscape::ui
