#include "report/timeline_json.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/units.h"
#include "design/knobs/machine_table.h"
#include "graph/kernel_label.h"
#include "graph/ring.h"
#include "report/time_report.h"
#include "timing/step_ops.h"

namespace shardscape {
namespace {

using Json = nlohmann::ordered_json;
using Nanoseconds = int64_t;

Nanoseconds rounded(double seconds) { return std::llround(seconds * 1e9); }

double microseconds(Nanoseconds at) { return static_cast<double>(at) / 1e3; }
double in_microseconds(double seconds) { return microseconds(rounded(seconds)); }

struct Slice {
  Nanoseconds begin = 0, end = 0;
  // Clamps to the enclosing slice: a sum of seconds may exceed the enclosing duration by a rounding error.
  Slice within(const Slice& whole) const {
    return {std::clamp(begin, whole.begin, whole.end), std::clamp(end, whole.begin, whole.end)};
  }
};
Slice slice_of(double begin, double end) { return {rounded(begin), rounded(end)}; }

bool computes(const Span& span) {
  return span.stream == StreamKind::Compute && span.kind <= SpanKind::BackwardWeight;
}

const char* part_name(Part part) {
  switch (part) {
    case Part::Forward: return "forward";
    case Part::Replay: return "recompute";
    case Part::Backward: return "backward";
    case Part::Weight: return "backward_weight";
  }
  return "";
}

// Values of the machine that the design overrides.
Json overrides(const Design& design) {
  Json out = Json::object();
  for (const MachineSection& section : machine_table(design))
    for (const MachineValue& value : section.values)
      if (value.origin == ValueOrigin::Design)
        out[value.key] = value.value + (value.unit.empty() ? "" : " " + value.unit) + ", " + value.source;
  return out;
}

class Writer {
 public:
  Writer(const std::shared_ptr<const Report>& report, const std::shared_ptr<const Simulation>& simulation,
         TimelineOps ops)
      : r_(*report), s_(*simulation), ops_(report, simulation), wanted_(ops) {
    for (const Segment& segment : r_.graph().segments) texts_.emplace_back(segment.ops.size());
  }

  TimelineFile write(const std::string& title) {
    choose();
    Json other{{"title", title},
               {"machine", s_.machine.accelerator->id},
               {"machine_name", s_.machine.accelerator->name},
               {"overrides", overrides(r_.design)},
               {"step_seconds", s_.step_seconds}};
    if (!file_.left_out.empty()) other["left_out"] = file_.left_out;
    // Events are appended one by one: a step may have a million, too many for one JSON value.
    out_ = Json{{"displayTimeUnit", "ms"}, {"otherData", other}, {"traceEvents", Json::array()}}.dump(
        -1, ' ', false, Json::error_handler_t::replace);
    out_.resize(out_.size() - 2);  // without "]}"
    for (size_t stage = 0; stage < s_.stages.size(); ++stage) write(static_cast<int>(stage));
    file_.json = std::move(out_) + "\n]}\n";
    return std::move(file_);
  }

 private:
  void choose() {
    size_t all = 0, written = 0;
    const auto ends = [&](int32_t microbatch) {
      return microbatch == 0 || microbatch == r_.microbatches - 1;
    };
    for (size_t stage = 0; stage < s_.stages.size(); ++stage)
      for (const SimulatedLayer& layer : s_.stages[stage].layers) {
        const size_t ops = ops_.count(static_cast<int>(stage), layer);
        all += ops;
        if (ends(s_.stages[stage].spans[static_cast<size_t>(layer.span)].microbatch)) written += ops;
      }
    if (wanted_ == TimelineOps::Some)
      wanted_ = all <= kMostTimelineOps ? TimelineOps::All : TimelineOps::Some;
    if (wanted_ == TimelineOps::None) file_.left_out = "all " + grouped(static_cast<Wide>(all)) + " ops";
    if (wanted_ == TimelineOps::Some)
      file_.left_out = grouped(static_cast<Wide>(all - written)) + " of " + grouped(static_cast<Wide>(all)) +
                       " ops: those of all microbatches except 0 and " + std::to_string(r_.microbatches - 1);
  }

  void write(int stage) {
    const StageTimes& times = s_.stages[static_cast<size_t>(stage)];
    metadata(stage, -1, "process_name", "stage " + std::to_string(stage));
    if (std::any_of(r_.graph().segments.begin(), r_.graph().segments.end(), has_concurrent_blocks))
      metadata(stage, kConcurrent, "thread_name", "Collectives concurrent with compute");
    bool used[kStreamKindCount] = {};
    for (const Span& span : times.spans) used[static_cast<int>(span.stream)] = true;
    for (int stream = 0; stream < kStreamKindCount; ++stream)
      if (used[stream])
        metadata(stage, stream, "thread_name", std::string(stream_label(static_cast<StreamKind>(stream))));
    auto layer = times.layers.begin();
    for (const Span& span : times.spans) {
      const Slice slice = write(stage, span);
      if (!computes(span)) continue;
      const auto index = static_cast<int32_t>(&span - times.spans.data());
      bool first = true;
      for (; layer != times.layers.end() && layer->span == index; ++layer, first = false)
        write(stage, span, slice, *layer, first);
    }
  }

  Slice write(int stage, const Span& span) {
    const int stream = static_cast<int>(span.stream);
    const Slice at = slice_of(span.begin, span.end);
    Json args{{"critical", span.critical}};
    if (span.microbatch >= 0) args.update({{"microbatch", span.microbatch}, {"virtual_stage", span.chunk}});
    slice(span_title(s_, span), span_kind_name(span.kind), stage, stream, at, args);
    ++file_.spans;
    if (span.kind != SpanKind::Receive || span.waits_stage < 0) return at;
    // Flow event from the send to the receive.
    const Span& send = s_.stages[static_cast<size_t>(span.waits_stage)]
                           .spans[static_cast<size_t>(span.waits_span)];
    const Json arrow{{"name", "message"}, {"cat", "message"}, {"id", ++arrows_}};
    Json start{{"ph", "s"}}, finish{{"ph", "f"}, {"bp", "e"}};
    start.update(arrow);
    start.update({{"pid", span.waits_stage},
                  {"tid", static_cast<int>(send.stream)},
                  {"ts", in_microseconds(send.begin)}});
    finish.update(arrow);
    finish.update({{"pid", stage}, {"tid", stream}, {"ts", microseconds(at.begin)}});
    event(start);
    event(finish);
    return at;
  }

  void write(int stage, const Span& span, const Slice& pass, const SimulatedLayer& layer, bool first) {
    const Slice at = slice_of(layer.begin, layer.end).within(pass);
    // Before the first layer: all-gather of a message that was split over tp.
    if (first && at.begin > pass.begin) {
      Json args{{"group", "tp"}};
      slice("all-gather of the message", time_category_name(TimeCategory::TensorComm), stage, 0,
            {pass.begin, at.begin}, args);
    }
    if (at.end == at.begin) return;
    const StageInstance& instance = ops_.instance(stage, layer);
    const Segment& segment = r_.graph().segments[static_cast<size_t>(instance.segment)];
    const std::string name = instance.layer >= 0  ? "layer " + std::to_string(instance.layer)
                             : instance.copy >= 0 ? segment.name + " " + std::to_string(instance.copy)
                                                  : segment.name;
    Json args{{"segment", segment.name}, {"part", part_name(layer.part)}};
    slice(name, "layer", stage, 0, at, args);
    ++file_.layers;
    if (wanted_ == TimelineOps::None ||
        (wanted_ == TimelineOps::Some && span.microbatch != 0 && span.microbatch != r_.microbatches - 1))
      return;
    for (const OpSpan& op : ops_.of(stage, layer)) {
      const Slice slice = slice_of(op.begin, op.end).within(at);
      if (slice.end == slice.begin) continue;
      OpText& text = text_of(op);
      this->slice(text.name, text.category, stage, op.concurrent ? kConcurrent : 0, slice, text.args);
      ++file_.ops;
    }
  }

  // Thread of the collectives of concurrent blocks.
  static constexpr int kConcurrent = kStreamKindCount;

  struct OpText {
    std::string name;
    std::string_view category;
    Json args = nullptr;
  };

  // Name and arguments are the same for all layers of a segment.
  OpText& text_of(const OpSpan& span) {
    OpText& out = texts_[static_cast<size_t>(span.segment)][static_cast<size_t>(span.op)];
    if (!out.args.is_null()) return out;
    const Segment& segment = r_.graph().segments[static_cast<size_t>(span.segment)];
    const Op& op = segment.op(span.op);
    const OpTime& time = ops_.time(span);
    const Binding& binding = r_.stages.front().binding;
    out.category = time_category_name(is_collective(op.kind) ? comm_category(redistribution(op).group)
                                                             : time.category);
    out.name = kernel_label(segment, span.op);
    Json args{{"op", op.name}, {"kind", op_kind_name(op.kind)}};
    const auto communicates = [&](const MeshAxes& group, const Tensor& sent, double bytes) {
      args.update({{"group", group_name(group)},
                   {"group_size", size_of(group)},
                   {"dtype", dtype_name(sent.dtype)},
                   {"bytes", std::llround(bytes)},
                   {"alone_us", in_microseconds(time.communication)}});
    };
    if (is_collective(op.kind))
      communicates(redistribution(op).group, segment.tensor(op.inputs[0]),
                   number(collective_bytes(segment, op), binding));
    if (is_collective(op.kind) && time.category == TimeCategory::MemoryBound)
      args["packing_us"] = in_microseconds(time.seconds - time.exposed);
    if (ring_of(op) != Ring::None) {  // messages of a ring travel concurrently with compute
      const RingOps ring = ring_ops(segment, span.op);
      double bytes = 0;
      for (const std::vector<OpId>* moved : {&ring.passes, &ring.sums})
        for (const OpId m : *moved) bytes += number(collective_bytes(segment, segment.op(m)), binding);
      const Op& pass = segment.op(ring.passes.at(0));
      communicates(redistribution(pass).group, segment.tensor(pass.inputs[0]), bytes);
      args["waits_us"] = in_microseconds(time.exposed);
    }
    out.args = std::move(args);
    return out;
  }

  int64_t size_of(const MeshAxes& group) const {
    return std::llround(number(group_size(r_.graph().structure, group), r_.stages.front().binding));
  }

  void event(const Json& event) {
    out_ += (first_ ? "\n" : ",\n") + event.dump(-1, ' ', false, Json::error_handler_t::replace);
    first_ = false;
  }

  // Borrows the arguments, which many slices share: copies would take most of the time.
  void slice(const std::string& name, std::string_view category, int stage, int stream, const Slice& at,
             Json& args) {
    slice_["name"] = name;
    slice_["cat"] = category;
    slice_["pid"] = stage;
    slice_["tid"] = stream;
    slice_["ts"] = microseconds(at.begin);
    slice_["dur"] = microseconds(at.end - at.begin);
    slice_["args"].swap(args);
    event(slice_);
    slice_["args"].swap(args);
  }

  void metadata(int stage, int stream, const char* what, const std::string& name) {
    Json fields{{"ph", "M"}, {"name", what}, {"pid", stage}};
    if (stream >= 0) fields["tid"] = stream;
    fields["args"] = {{"name", name}};
    event(fields);
  }

  const Report& r_;
  const Simulation& s_;
  StepOps ops_;
  TimelineOps wanted_;
  std::vector<std::vector<OpText>> texts_;  // by segment and op
  TimelineFile file_;
  std::string out_;
  // The event of the latest slice; its keys are in the order of the file.
  Json slice_{{"ph", "X"}, {"name", ""}, {"cat", ""}, {"pid", 0},
              {"tid", 0},  {"ts", 0},    {"dur", 0},  {"args", nullptr}};
  bool first_ = true;
  int64_t arrows_ = 0;
};

}  // namespace

TimelineFile timeline_file(const std::shared_ptr<const Report>& report,
                           const std::shared_ptr<const Simulation>& simulation, const std::string& title,
                           TimelineOps ops) {
  return Writer(report, simulation, ops).write(title);
}

}  // namespace shardscape
