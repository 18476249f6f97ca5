#include "support/design_examination.h"

#include <QRegularExpression>
#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <tuple>

#include "design/knobs/command_flags.h"
#include "grad_sync/sync_groups.h"
#include "grad_sync/sync_model.h"
#include "graph/build.h"
#include "graph/chunk_layers.h"
#include "model/library.h"
#include "plan/report.h"
#include "plan/stage_boundary.h"
#include "support/random_designs.h"

namespace shardscape::test {
namespace {

Symbol symbol(const char* name) { return Symbol::intern(name); }

// The same work on one rank: its microbatches are those of all replicas together.
Design undistributed(const Design& design) {
  Design whole = design;
  whole.parallel = {};
  whole.workload.microbatch *= design.parallel.dp;
  whole.workload.vocab_multiple *= design.parallel.tp;
  return effective_design(whole);
}

// One valid design, and what it breaks.
class Examination {
 public:
  Examination(const Design& design, std::vector<QStringList>& failures)
      : d_(effective_design(design)),
        report_(make_report(design)),
        mesh_(device_mesh(d_)),
        failures_(failures) {}

  bool run() {
    if (!report_->valid()) {
      fail(Parameters, "a valid design has no report: " +
                           (report_->problems.empty() ? "" : to_string(report_->problems.front())));
      return false;
    }
    const Design alone = undistributed(d_);
    PlanCache plans;
    const auto whole = cached_graph(structure_of(alone), plans);
    if (const auto* problem = std::get_if<Problem>(&whole)) {
      fail(Parameters, to_string(*problem));
      return false;
    }
    whole_ = std::get<0>(whole);
    whole_binding_ = bind_symbols(alone);
    for (const char* per_expert : {"Cx", "Cx_own"})
      if (const auto taken = report_->binding.get(symbol(per_expert)))
        whole_binding_.set(symbol(per_expert), *taken * token_ranks());
    parameters();
    op_flops();
    for (const StageReport& stage : report_->stages) {
      stage_flops(stage);
      if (trains(d_)) gradients(stage);
    }
    transfers();
    groups();
    return true;
  }

 private:
  void fail(Property property, const std::string& what) {
    QStringList& list = failures_[property];
    if (!failed_.insert(property).second) return;  // one of a kind from each design
    list << QString::fromStdString(what + "\n    " + command_line(d_));
  }
  void equal(Property property, Wide is, Wide wanted, const std::string& what) {
    if (is != wanted) fail(property, what + ": " + to_string(is) + ", not " + to_string(wanted));
  }
  Wide number(Property property, const Expr& expr, const Binding& binding, const std::string& what) {
    const auto value = evaluate(expr, binding);
    if (const auto* error = std::get_if<EvalError>(&value)) {
      fail(property, what + ": " + error->message);
      return 0;
    }
    return std::get<Wide>(value);
  }

  // Ranks among which the tokens of a microbatch are split before they go to experts.
  int64_t token_ranks() const {
    const bool split = d_.parallel.tp > 1 && splits_tokens_over_tp(d_) &&
                       d_.parallel.dispatcher != Dispatcher::AllToAllSeq;
    const bool over_cp = d_.workload.mode != Mode::Decode || cp_splits_sequences(d_);
    return d_.parallel.dp * (over_cp ? d_.parallel.cp : 1) * (split ? d_.parallel.tp : 1);
  }
  int64_t stage_ranks() const { return d_.world() / d_.parallel.pp; }

  // The number of different coordinates that the ranks of a stage have along the axes, by counting.
  int64_t parts(MeshAxes axes) {
    std::sort(axes.begin(), axes.end());
    axes.erase(std::unique(axes.begin(), axes.end()), axes.end());
    const auto [at, fresh] = parts_.try_emplace(axes, 0);
    if (!fresh) return at->second;
    std::set<std::vector<int64_t>> seen;
    for (int64_t rank = 0; rank < mesh_.ranks(); ++rank) {
      if (mesh_.coordinate(rank, MeshAxis::Pp) != 0) continue;
      std::vector<int64_t> key;
      for (const MeshAxis axis : axes) key.push_back(mesh_.coordinate(rank, axis));
      seen.insert(std::move(key));
    }
    return at->second = static_cast<int64_t>(seen.size());
  }
  static void add_shards(MeshAxes& axes, const Placement& placement) {
    for (const MeshAxes& of : placement.shards) axes.insert(axes.end(), of.begin(), of.end());
  }
  int64_t parts_of(const Placement& placement) {
    MeshAxes axes;
    add_shards(axes, placement);
    return parts(axes);
  }

  static Expr whole_size(const Tensor& t) {
    Expr out(1);
    for (const Expr& size : t.sizes) out = out * size;
    return out;
  }
  static Wide whole_elements(const Tensor& t, const Binding& binding) {
    return std::get<Wide>(evaluate(whole_size(t), binding));
  }

  const Segment& head() const {
    return report_->graph().segments[static_cast<size_t>(report_->graph().head())];
  }
  // Segments of a stage with how often each occurs.
  std::vector<std::pair<const Segment*, int64_t>> segments_of(const StageReport& stage) const {
    const Graph& graph = report_->graph();
    std::vector<std::pair<const Segment*, int64_t>> out;
    if (stage.first.embedding) out.emplace_back(&graph.segments.front(), 1);
    if (stage.first.tower)
      for (size_t part = static_cast<size_t>(graph.head()) + 1; part < graph.segments.size(); ++part)
        out.emplace_back(&graph.segments[part],
                         graph.segments[part].copies == Expr(1) ? 1 : d_.model.vision_layers);
    std::map<int, int64_t> kinds;
    for (const StageChunk& chunk : stage.chunks)
      for (int64_t i = 0; i < chunk.layers; ++i) ++kinds[graph.layer_kind(chunk.first_layer + i, d_.model)];
    for (const auto& [kind, count] : kinds)
      out.emplace_back(&graph.segments[static_cast<size_t>(kind) + 1], count);
    if (stage.last) out.emplace_back(&head(), 1);
    return out;
  }

  // Shards of all ranks, each counted over its replicas, make up the parameters of their stage; the stages
  // together make up the model, where a tied parameter is on every stage that uses it.
  void parameters() {
    Binding unpadded = report_->binding;
    unpadded.set(symbol("Vp"), d_.model.vocab);
    Wide model = 0;
    std::set<std::string> tied;
    // If two stages hold the same layers, the first half of the stages has the whole model.
    const int64_t once = report_->graph().structure.layout == ChunkLayout::BothWays ? d_.parallel.pp
                                                                                    : 2 * d_.parallel.pp;
    for (const StageReport& stage : report_->stages) {
      std::set<std::string> here;
      Wide local = 0;
      for (const auto& [segment, count] : segments_of(stage))
        for (const Param& p : segment->params) {
          const Tensor& t = segment->tensor(p.tensor);
          const std::string name = segment->name + ", " + t.name;
          if (!p.tied.empty() && !here.insert(p.tied).second) continue;
          const Wide mine = number(Parameters, local_elements(t), stage.binding, name);
          local += mine * count;
          equal(Parameters, mine * parts_of(t.placement), whole_elements(t, report_->binding),
                "shards of " + name);
          const Tensor* other = find(whole_segment(*segment), t.name);
          if (!other)
            fail(Parameters, name + " is not a parameter of the model on one rank");
          else
            equal(Parameters, whole_elements(t, report_->binding), whole_elements(*other, whole_binding_),
                  "size of " + name);
          if (2 * stage.stage >= once) continue;
          if (p.tied.empty() || tied.insert(p.tied).second) model += whole_elements(t, unpadded) * count;
        }
      equal(Parameters, stage.parameters.value, local, "parameters of stage " + std::to_string(stage.stage));
    }
    equal(Parameters, model, report_->model_parameters.value - report_->model_buffers.value,
          "parameters of all stages");
  }

  bool carries() const {
    const auto& segments = report_->graph().segments;
    return std::any_of(segments.begin(), segments.end(), [](const Segment& s) { return !s.carried.empty(); });
  }

  // The segment of the model on one rank with the same parameters. Stages can split a kind of layers into
  // several segments, by the streams that they receive: linear_2, linear_2_received.
  const Segment& whole_segment(const Segment& segment) const {
    const auto kind = [](const Segment& of) {
      return QString::fromStdString(of.name).remove(QRegularExpression("(_[0-9]+)?(_received)?$"));
    };
    for (const Segment& whole : whole_->segments)
      if (whole.name == segment.name) return whole;
    for (const Segment& whole : whole_->segments)
      if (kind(whole) == kind(segment)) return whole;
    throw std::logic_error("there is no segment " + segment.name + " on one rank");
  }
  static const Tensor* find(const Segment& segment, const std::string& name) {
    for (const Tensor& t : segment.tensors)
      if (t.name == name) return &t;
    return nullptr;
  }

  // Work is divided along the mesh axes that shard an operand or a result of an op, and repeated along all
  // others, where its tensors are Replicate or Partial. So all ranks together do the work of one rank, times
  // the repetitions. A table lookup goes through all tokens on every rank that holds some of the rows. In a
  // ring under a causal mask, ranks have unequal work.
  void op_flops() {
    const Graph& graph = report_->graph();
    const int64_t ring = report_->ring_position ? ring_ranks(d_) : 1;
    for (const Segment& segment : graph.segments) {
      const Segment& whole = whole_segment(segment);
      std::map<std::string, const Op*> ops;
      for (const Op& op : whole.ops) ops[op.name] = &op;
      for (const Op& op : segment.ops) {
        if (op.flops.is_zero()) continue;
        const std::string name = segment.name + ", " + op.name;
        const auto other = ops.find(op.name);
        // Ops before or after a redistribution, which a single rank does not have: a fixed number of FLOPs
        // for each element. A sum of gradients is split if its consumers need different placements.
        const bool sum_of_gradients = op.kind == OpKind::Add && op.phase == Phase::Backward;
        const bool merges = op.kind == OpKind::MergeParts;
        const bool each = op.kind == OpKind::Quantize || op.kind == OpKind::CombineNodes || merges ||
                          sum_of_gradients;
        if (other == ops.end() && !each) {
          fail(OpFlops, name + " is no op of the model on one rank");
          continue;
        }
        MeshAxes axes;
        for (const auto* ids : {&op.inputs, &op.outputs})
          for (const TensorId id : *ids) {
            if (merges && id != op.inputs[0]) continue;  // summands of as many
            const Tensor& t = segment.tensor(id);
            if (op.kind != OpKind::Embed ||
                std::find(t.axes.begin(), t.axes.end(), Axis::Vocab) == t.axes.end())
              add_shards(axes, t.placement);
          }
        const int64_t repeated = stage_ranks() / parts(axes);
        const bool blocks = ring_of(op) != Ring::None &&
                            attention_of(op)->causal;  // counts whole blocks of keys
        for (const bool useful : {false, true}) {
          if (!useful && blocks) continue;
          Wide sum = 0;
          Binding binding = report_->binding;
          for (int64_t position = 0; position < ring; ++position) {
            if (report_->ring_position) binding.set(symbol("ic"), position);
            sum += number(OpFlops, (useful ? op.useful_flops : op.flops) * Expr(stage_ranks() / ring),
                          binding, name);
          }
          const Tensor& in = segment.tensor(op.inputs[0]);
          Wide one = each ? number(OpFlops, (useful ? op.useful_flops : op.flops) * whole_size(in),
                                   report_->binding, name)
                          : number(OpFlops, useful ? other->second->useful_flops : other->second->flops,
                                   whole_binding_, name);
          const Structure& s = graph.structure;
          const int64_t sharing = s.ssm_heads    ? d_.parallel.cp
                                  : s.ssm_shared ? d_.parallel.cp * d_.parallel.tp / d_.model.ssm_groups
                                                 : 1;
          if (op.kind == OpKind::Ssd)
            one += (sharing - 1) * products_of_groups(whole, *other->second, useful);
          if (each) sum *= number(OpFlops, local_elements(in), report_->binding, name);
          equal(OpFlops, sum, one * repeated,
                (useful ? "useful FLOPs of " : "counted FLOPs of ") + name + ", " + std::to_string(repeated) +
                    " times");
        }
      }
    }
  }

  // Ranks with heads of the same mixer group each compute the GEMMs of its B and C.
  Wide products_of_groups(const Segment& whole, const Op& scan, bool useful) {
    const Expr chunk(symbol("Qe"));
    const bool backward = scan.grad != GradRole::None;
    const Expr once = Expr(2) *
                      local_elements(whole.tensor((backward ? whole.op(scan.forward) : scan).inputs[3])) *
                      chunk;
    const Expr share = useful ? Expr(backward ? 2 : 1) * (chunk + Expr(1)) / (Expr(2) * chunk)
                              : Expr(backward ? 3 : 1);
    return is_recomputation(scan) && useful ? 0 : number(OpFlops, once * share, whole_binding_, scan.name);
  }

  // A report counts every op as often as the layers of the stage run it.
  void stage_flops(const StageReport& stage) {
    const Graph& graph = report_->graph();
    std::map<const Op*, int64_t> times;
    const auto add = [&](const Segment& segment, std::optional<CheckpointPolicy> checkpoint_policy) {
      for (const Op& op : segment.ops)
        if (!checkpoint_policy || runs(op, *checkpoint_policy)) ++times[&op];
    };
    if (stage.first.embedding) add(graph.segments.front(), {});
    if (stage.first.tower)
      for (const TowerInstance& part : tower_instances(graph, d_.model))
        add(graph.segments[static_cast<size_t>(part.segment)], {});
    for (const StageChunk& chunk : stage.chunks)
      for (const ChunkLayer& layer : chunk_layers(graph, d_, chunk.first_layer, chunk.layers))
        add(graph.segments[static_cast<size_t>(layer.segment)], layer.checkpoint_policy);
    if (stage.last) add(head(), {});
    const int64_t runs_here = pipeline_layout(d_.parallel).microbatches(report_->microbatches);
    Wide counted = 0, useful = 0;
    for (const auto& [op, n] : times) {
      counted += number(StageFlops, op->flops * Expr(n * runs_here), stage.binding, op->name);
      useful += number(StageFlops, op->useful_flops * Expr(n * runs_here), stage.binding, op->name);
    }
    for (const FlopsValue& f : stage.flops) {
      if (f.kind != OpKind::Optimizer) continue;
      counted += f.counted.value;
      useful += f.useful.value;
    }
    equal(StageFlops, stage.flops_total, counted, "counted FLOPs of stage " + std::to_string(stage.stage));
    equal(StageFlops, stage.useful_flops_total, useful,
          "useful FLOPs of stage " + std::to_string(stage.stage));
  }

  // Every sent message is received: in the rings of every stage, and between neighbours of the pipeline.
  void transfers() {
    using Key = std::tuple<Phase, std::string, DType>;
    std::map<Key, std::array<Wide, 4>> all;
    for (const StageReport& stage : report_->stages) {
      std::map<Key, std::array<Wide, 4>> here;
      for (const CollectiveValue& c : stage.collectives) {
        if (!c.op.is_message()) continue;
        const size_t at = c.op == CommOp::send() ? 0 : 2;
        for (auto* rows : {&here, &all}) {
          (*rows)[{c.phase, c.group, c.dtype}][at] += c.count.value;
          (*rows)[{c.phase, c.group, c.dtype}][at + 1] += c.bytes.value;
        }
      }
      for (const auto& [key, n] : here)
        if (std::get<1>(key) != "pp" && (n[0] != n[2] || n[1] != n[3]))
          fail(Transfers, "a ring over " + std::get<1>(key) + " loses messages");
    }
    for (const auto& [key, n] : all) {
      equal(Transfers, n[0], n[2], "messages sent over " + std::get<1>(key));
      equal(Transfers, n[1], n[3], "bytes sent over " + std::get<1>(key));
    }
    if (d_.parallel.pp == 1) return;
    const Schedule schedule = make_schedule(d_.parallel, static_cast<int>(report_->microbatches));
    for (const std::string& violation : violations(schedule)) fail(Transfers, violation);
    for (const StageReport& stage : report_->stages) messages(stage, schedule);
  }

  // The rows of a stage have as many messages as its schedule, with the elements of the stream or, between a
  // tower on a stage of its own and the embedding, of the tokens of images. A frozen tower gets no gradients.
  void messages(const StageReport& stage, const Schedule& schedule) {
    const Graph& graph = report_->graph();
    std::array<Wide, 2> streams{}, images{};  // sent, received
    for (const Action& a : schedule.actions[static_cast<size_t>(stage.stage)]) {
      const bool send = a.kind == ActionKind::SendForward || a.kind == ActionKind::SendBackward,
                 backward = a.kind == ActionKind::SendBackward || a.kind == ActionKind::ReceiveBackward;
      if (!send && a.kind != ActionKind::ReceiveForward && !backward) continue;
      const bool of_images = stage.first.tower_alone() || (stage.first.embedding_alone() && send == backward);
      if (of_images && backward && graph.structure.frozen_tower) continue;
      ++(of_images ? images : streams)[send ? 0 : 1];
    }
    const auto elements = [&](const Tensor& message) {
      return number(Transfers, local_elements(message), stage.binding, "message");
    };
    const Wide of_stream = elements(stage_boundary(graph).message),
               of_images = graph.structure.vision_stage ? elements(image_message(graph)) : Wide{0};
    // Attention residuals grow from stage to stage; carried tensors are in the messages of some stages only.
    const bool differs = d_.model.block_layers > 0 || carries();
    for (const bool send : {true, false}) {
      const size_t way = send ? 0 : 1;
      Wide count = 0, sum = 0;
      for (const CollectiveValue& c : stage.collectives) {
        if (c.phase != Phase::Pipeline || !c.op.is_message() || (c.op == CommOp::send()) != send) continue;
        count += c.count.value;
        sum += c.elements.value;
      }
      const std::string what = std::string(send ? "sends" : "receives") + " of stage " +
                               std::to_string(stage.stage);
      equal(Transfers, count, streams[way] + images[way], what);
      if (!differs)
        equal(Transfers, sum, streams[way] * of_stream + images[way] * of_images, "elements of " + what);
    }
  }

  // The members of a group agree. Members on one stage have one program. Members on several stages have equal
  // rows.
  void groups() {
    for (const MeshAxes& axes : norm_groups(report_->graph())) {
      const std::vector<int64_t> ranks = mesh_.group(0, axes);
      if (std::set<int64_t>(ranks.begin(), ranks.end()).size() != ranks.size())
        fail(Groups, "the norm over " + group_name(axes) + " counts a rank twice");
    }
    std::map<std::string, std::vector<std::string>> across;
    for (const StageReport& stage : report_->stages)
      for (const CollectiveValue& c : stage.collectives) {
        const std::string what = std::string(c.op.name()) + " over " + c.group + " in " +
                                 std::string(phase_name(c.phase));
        if (c.group_size < 2) fail(Groups, what + " is among " + std::to_string(c.group_size));
        if (c.elements.value <= 0 || c.bytes.value <= 0) fail(Groups, what + " moves nothing");
        const bool split = c.op == CollectiveKind::AllGather || c.op == CollectiveKind::ReduceScatter ||
                           (c.op == CollectiveKind::AllToAll && c.group.find("cp") != std::string::npos);
        if (split && c.elements.value % c.group_size != 0)
          fail(Groups, what + " splits " + to_string(c.elements.value) + " elements unevenly");
        if (c.op.is_message()) continue;
        const std::string row = what + ": " + to_string(c.count.value) + ", " + to_string(c.bytes.value);
        if (c.group == "embedding" || c.group.find("pp") != std::string::npos) across[c.group].push_back(row);
      }
    for (auto& [group, rows] : across) {
      const size_t members = group == "embedding" ? 2 : report_->stages.size();
      std::map<std::string, size_t> counts;
      for (const std::string& row : rows) ++counts[row];
      for (const auto& [row, count] : counts)
        if (count != members)
          fail(Groups, row + " is on " + std::to_string(count) + " stages of " + std::to_string(members));
    }
  }

  // A gradient has the placement of its parameter, except for axes along which it is Partial. Ranks that saw
  // different tokens differ along these axes, and a reduction covers each axis: over replicas, over tp or KV
  // replicas, over both ends of the pipeline.
  void gradients(const StageReport& stage) {
    const Graph& graph = report_->graph();
    std::map<std::string, Wide> reduced, wanted;
    for (const CollectiveValue& c : stage.collectives) {
      const bool sync = c.phase == Phase::GradReduce || c.phase == Phase::Backward;
      if (sync && (c.op == CollectiveKind::AllReduce || c.op == CollectiveKind::ReduceScatter ||
                   c.op == CollectiveKind::Reduce))
        reduced[c.group] += c.elements.value;
    }
    std::set<std::string> here;
    const bool first = stage.first.embedding, last = stage.last;
    for (const auto& [segment, count] : segments_of(stage))
      for (const Param& p : segment->params) {
        if (p.gradient < 0) continue;  // frozen
        const Tensor &t = segment->tensor(p.tensor), &g = segment->tensor(p.gradient);
        const std::string name = segment->name + ", " + t.name;
        if (g.placement.shards != t.placement.shards)
          fail(Gradients, "gradient of " + name + " is not placed as it");
        MeshAxes known = g.placement.partial;
        add_shards(known, t.placement);
        MeshAxes inner;
        for (const MeshAxis axis : g.placement.partial)
          if (!is_replica_axis(axis)) inner.push_back(axis);
        // Like tp, expert tensor parallelism gives all its ranks the same tokens.
        const bool of_expert = std::find(t.axes.begin(), t.axes.end(), Axis::Experts) != t.axes.end();
        known.push_back(of_expert && d_.parallel.folds_experts() ? MeshAxis::Etp : MeshAxis::Tp);
        if (whole_on_cp(*segment, g)) known.push_back(MeshAxis::Cp);
        equal(Gradients, parts(known), stage_ranks(), "ranks that differ in the gradient of " + name);
        if (!p.tied.empty() && !here.insert(p.tied).second) continue;
        const Wide elements = number(Gradients, local_elements(g), stage.binding, name) * count;
        const ReplicaGroup group = replica_group(graph.structure, g);
        // ZeRO-1 reduces whole gradients over the replicas of all groups.
        const bool all_groups = d_.parallel.sync == SyncStrategy::Zero1;
        const MeshAxes& over = all_groups ? group.axes : group.shard;
        if (!over.empty()) wanted[group_name(over)] += elements;
        if (!inner.empty()) wanted[group_name(inner)] += elements;
        if (!all_groups && !group.across.empty()) wanted[group_name(group.across)] += 1;
        const bool both = !p.tied.empty() && (first || last) && !(first && last) &&
                          holds(graph.segments.front(), p.tied) && holds(head(), p.tied);
        if (both) wanted["embedding"] += elements;
        const bool shards = d_.parallel.sync == SyncStrategy::DistributedOptimizer &&
                            !group.shard.empty();  // each its own
        if (graph.structure.layout == ChunkLayout::BothWays && !shards) wanted["mirror"] += elements;
      }
    for (const auto& [group, elements] : wanted)
      if (reduced[group] < elements)
        fail(Gradients, "stage " + std::to_string(stage.stage) + " reduces " + to_string(reduced[group]) +
                            " elements over " + group + " of " + to_string(elements));
  }
  // Whether all ranks of cp make this gradient from the same numbers: those of a tower that encodes the same
  // images on each of them, and of a compression of the whole sequence.
  static bool whole_on_cp(const Segment& segment, const Tensor& gradient) {
    if (gradient.producer < 0) return false;
    const auto& read = segment.op(gradient.producer).inputs;
    return std::none_of(read.begin(), read.end(), [&](TensorId id) {
      const Placement& placement = segment.tensor(id).placement;
      return placement.uses(MeshAxis::Cp) || placement.uses(MeshAxis::CpRing) ||
             placement.uses(MeshAxis::CpUlysses) || placement.uses(MeshAxis::CpGroups) ||
             placement.uses(MeshAxis::CpHeads);
    });
  }
  static bool holds(const Segment& segment, const std::string& tied) {
    return std::any_of(segment.params.begin(), segment.params.end(),
                       [&](const Param& p) { return p.tied == tied; });
  }

  const Design d_;  // as its mode leaves it
  std::shared_ptr<const Report> report_;
  DeviceMesh mesh_;
  std::vector<QStringList>& failures_;
  std::set<Property> failed_;
  std::shared_ptr<const Graph> whole_;
  Binding whole_binding_;
  std::map<MeshAxes, int64_t> parts_;
};

}  // namespace

bool examine(const Design& design, std::vector<QStringList>& failures) {
  return Examination(design, failures).run();
}

}  // namespace shardscape::test
