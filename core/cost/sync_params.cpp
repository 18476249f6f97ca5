#include "cost/sync_params.h"

#include <algorithm>
#include <map>
#include <stdexcept>

#include "cost/sync_groups.h"

namespace shardscape {
namespace {

// The forward op that computes with a parameter, and which operand it is.
struct Use {
  const Op* op = nullptr;
  size_t operand = 0;
};

Use use_of(const Segment& segment, TensorId param) {
  for (const Op& op : segment.ops) {
    if (op.phase != Phase::Forward) continue;
    const auto it = std::find(op.inputs.begin(), op.inputs.end(), param);
    if (it != op.inputs.end()) return {&op, static_cast<size_t>(it - op.inputs.begin())};
  }
  return {};
}

// A bias belongs to the product that it is added to.
const Op* module_of(const Segment& segment, const Op* op) {
  if (op->kind != OpKind::BiasAdd) return op;
  const Op* at = op;
  do {
    const OpId producer = segment.tensor(at->inputs.front()).producer;
    if (producer < 0) return op;
    at = &segment.op(producer);
  } while (is_redistribution(at->kind));
  return at->kind == OpKind::Einsum ? at : op;
}

// Letters of one operand, and of the result, of "bsd,dhe->bshe".
std::string letters(const std::string& spec, size_t operand) {
  size_t begin = 0;
  while (operand-- > 0) begin = spec.find(',', begin) + 1;
  return spec.substr(begin, spec.find_first_of(",-", begin) - begin);
}
std::string result_letters(const std::string& spec) { return spec.substr(spec.find("->") + 2); }

void lay_out(const Tensor& t, const Use& use, FlatParam& out) {
  out.rows = out.columns = Expr(1);
  out.vector = t.axes.size() == 1 || use.op->kind == OpKind::BiasAdd;
  const bool product = use.op->kind == OpKind::Einsum;
  const std::string own = product ? letters(use.op->spec, use.operand) : "", result = product ? result_letters(use.op->spec) : "";
  for (int d = 0; d < static_cast<int>(t.axes.size()); ++d) {
    const bool row = out.vector || (product ? result.find(own[static_cast<size_t>(d)]) != std::string::npos : d == 0);
    (row ? out.rows : out.columns) = (row ? out.rows : out.columns) * local_size(t, d);
  }
}

}  // namespace

std::vector<FlatParam> flat_params(const Segment& segment) {
  std::vector<FlatParam> out;
  // Packed: one buffer holds their products, or their biased products.
  std::map<std::pair<StorageId, OpKind>, size_t> packs;
  for (const Param& p : segment.params) {
    const Tensor& t = segment.tensor(p.tensor);
    const Use use = use_of(segment, p.tensor);
    FlatParam flat;
    flat.param = &p;
    flat.name = t.name;
    if (!use.op) {
      flat.module = t.name;
      flat.rows = local_elements(t);
      flat.columns = Expr(1);
      flat.vector = t.axes.size() == 1;
      out.push_back(std::move(flat));
      continue;
    }
    flat.module = module_of(segment, use.op)->name;
    lay_out(t, use, flat);
    if (use.op->kind == OpKind::Einsum || use.op->kind == OpKind::BiasAdd) {
      const auto [at, fresh] = packs.try_emplace({segment.tensor(use.op->outputs.front()).storage, use.op->kind}, out.size());
      if (!fresh) {
        out[at->second].rows += flat.rows;
        continue;
      }
    }
    out.push_back(std::move(flat));
  }
  return out;
}

SyncInput sync_input(const Graph& graph, const Binding& binding, bool first, bool last, const std::vector<std::vector<int>>& chunks,
                     std::vector<size_t>* instances) {
  SyncInput input;
  const auto number = [&](const Expr& expr) {
    const auto value = evaluate(expr, binding);
    if (const auto* error = std::get_if<EvalError>(&value)) throw std::invalid_argument(error->message);
    return static_cast<int64_t>(std::get<Wide>(value));
  };
  const std::vector<ReplicaGroup> groups = replica_groups(graph);
  input.groups.clear();
  for (const ReplicaGroup& g : groups)
    input.groups.push_back({group_name(g.shard), number(g.size(graph.structure)), group_name(g.across), number(group_size(g.across))});
  // A segment's parameters are worked out once: its layers have equal ones.
  struct Made {
    SyncParam param;
    std::string tied;
  };
  std::map<int, std::vector<Made>> made;
  std::map<std::string, int> tied;
  std::vector<size_t> reused;
  size_t place = 0;
  const auto add = [&](int index, const std::string& unit, int chunk) {
    const Segment& segment = graph.segments[static_cast<size_t>(index)];
    const auto [at, fresh] = made.try_emplace(index);
    if (fresh)
      for (const FlatParam& p : flat_params(segment)) {
        std::vector<int64_t> shape{number(p.rows)};
        if (!p.vector) shape.push_back(number(p.columns));
        const int group = replica_group_index(groups, graph.structure, segment.tensor(p.param->gradient));
        at->second.push_back({{p.name, p.module, "", std::move(shape), group}, p.param->tied});
      }
    const std::string prefix = (unit.empty() ? segment.name : unit) + ".";
    for (const auto& [made_once, key] : at->second) {
      SyncParam p = made_once;
      p.name = prefix + p.name;
      p.module = prefix + p.module;
      p.unit = unit;
      p.chunk = chunk;
      if (!key.empty()) {
        const auto [known, new_one] = tied.try_emplace(key, static_cast<int>(input.params.size()));
        if (!new_one) {
          input.reused.push_back({known->second, p.module});
          reused.push_back(place);
          continue;
        }
      }
      input.params.push_back(std::move(p));
      if (instances) instances->push_back(place);
    }
    ++place;
  };
  int layer = 0;
  for (size_t c = 0; c < chunks.size(); ++c) {
    const int chunk = static_cast<int>(c);
    if (first && c == 0) add(0, "", chunk);
    for (const int kind : chunks[c]) add(1 + kind, "layers." + std::to_string(layer++), chunk);
    if (last && c + 1 == chunks.size()) add(graph.head(), "", chunk);
  }
  if (instances) instances->insert(instances->end(), reused.begin(), reused.end());
  return input;
}

std::set<Symbol> sync_symbols(const Graph& graph) {
  std::set<Symbol> out;
  const auto add = [&](const Expr& expr) {
    for (const Symbol symbol : expr.symbols()) out.insert(symbol);
  };
  for (const ReplicaGroup& g : replica_groups(graph)) {
    add(g.size(graph.structure));
    add(group_size(g.across));
  }
  for (const Segment& segment : graph.segments)
    for (const FlatParam& p : flat_params(segment)) {
      add(p.rows);
      add(p.columns);
    }
  return out;
}

}  // namespace shardscape
