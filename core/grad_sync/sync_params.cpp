#include "grad_sync/sync_params.h"

#include <algorithm>
#include <map>
#include <stdexcept>

#include "grad_sync/grad_plan.h"
#include "grad_sync/sync_groups.h"

namespace shardscape {
namespace {

// The forward op that uses a parameter, and the index of the operand.
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

// A bias belongs to the module of the GEMM whose result it is added to.
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
  const bool gemm = use.op->kind == OpKind::Einsum;
  const std::string own = gemm ? letters(use.op->spec, use.operand) : "",
                    result = gemm ? result_letters(use.op->spec) : "";
  for (int d = 0; d < static_cast<int>(t.axes.size()); ++d) {
    const bool row = out.vector ||
                     (gemm ? result.find(own[static_cast<size_t>(d)]) != std::string::npos : d == 0);
    (row ? out.rows : out.columns) = (row ? out.rows : out.columns) * local_size(t, d);
  }
}

}  // namespace

FlatParam flat_param(const Segment& segment, const Param& param) {
  const Tensor& t = segment.tensor(param.tensor);
  const Use use = use_of(segment, param.tensor);
  FlatParam flat;
  flat.param = &param;
  flat.name = t.name;
  if (!use.op) {
    flat.module = t.name;
    flat.rows = local_elements(t);
    flat.columns = Expr(1);
    flat.vector = t.axes.size() == 1;
    return flat;
  }
  flat.module = module_of(segment, use.op)->name;
  flat.looked_up = use.op->kind == OpKind::Embed;
  lay_out(t, use, flat);
  return flat;
}

std::vector<FlatParam> flat_params(const Segment& segment) {
  std::vector<FlatParam> out;
  // Packed parameters: the results of their GEMMs, or of their bias additions, share one storage.
  std::map<std::pair<StorageId, OpKind>, size_t> packs;
  for (const Param& p : segment.params) {
    FlatParam flat = flat_param(segment, p);
    const Use use = use_of(segment, p.tensor);
    if (use.op && (use.op->kind == OpKind::Einsum || use.op->kind == OpKind::BiasAdd)) {
      const auto [at, fresh] = packs.try_emplace(
          {segment.tensor(use.op->outputs.front()).storage, use.op->kind}, out.size());
      if (!fresh) {
        out[at->second].rows += flat.rows;
        continue;
      }
    }
    out.push_back(std::move(flat));
  }
  return out;
}

SyncBasis sync_basis(const Graph& graph) {
  SyncBasis out;
  const std::vector<ReplicaGroup> groups = replica_groups(graph);
  for (const ReplicaGroup& g : groups)
    out.groups.push_back({g, g.size(graph.structure), group_size(g.across)});
  out.head = graph.head();
  for (const Segment& segment : graph.segments) {
    if (segment.kind == SegmentKind::Tower && !graph.structure.images) break;
    SyncBasis::Part& part = out.parts.emplace_back();
    part.name = segment.name;
    part.copies = segment.copies;
    for (FlatParam& p : flat_params(segment)) {
      const bool frozen = is_sharded_frozen(graph.structure, segment, *p.param);
      if (p.param->gradient < 0 && graph.structure.trains() && !frozen) continue;
      part.params.push_back(
          {std::move(p.name), std::move(p.module), p.param->tied, std::move(p.rows), std::move(p.columns),
           p.vector, groups.empty() ? 0 : replica_group_index(groups, graph.structure, segment, *p.param),
           p.param->quantized && gathered_weight_type(graph.structure) != graph.structure.dtype, p.looked_up,
           frozen});
    }
  }
  return out;
}

std::set<Symbol> SyncBasis::symbols() const {
  std::set<Symbol> out;
  const auto add = [&](const Expr& expr) {
    for (const Symbol symbol : expr.symbols()) out.insert(symbol);
  };
  for (const Group& g : groups) {
    add(g.size);
    add(g.across_size);
  }
  for (const Part& part : parts) {
    add(part.copies);
    for (const Flat& p : part.params) {
      add(p.rows);
      add(p.columns);
    }
  }
  return out;
}

std::shared_ptr<const SharedSyncBasis> shared_sync_basis(const Graph& graph, PlanCache& cache) {
  SyncBasis basis = sync_basis(graph);
  CacheKey key;
  const auto add_axes = [&](const MeshAxes& axes) {
    key.add(static_cast<int64_t>(axes.size()));
    for (const MeshAxis axis : axes) key.add(static_cast<int64_t>(axis));
  };
  for (const auto& [replicas, size, across_size] : basis.groups) {
    add_axes(replicas.axes);
    add_axes(replicas.shard);
    add_axes(replicas.across);
    key.add(std::string_view(size.text()));
    key.add(std::string_view(across_size.text()));
  }
  key.add(int64_t{basis.head});
  for (const auto& [part, params, copies] : basis.parts) {
    key.add(std::string_view(part));
    key.add(std::string_view(copies.text()));
    for (const auto& [name, module, tied, rows, columns, vector, group, quantized, looked_up, frozen] :
         params) {
      for (const std::string& text : {name, module, tied, rows.text(), columns.text()})
        key.add(std::string_view(text));
      key.add(int64_t{16 * group + 8 * frozen + 4 * vector + 2 * quantized + looked_up});
    }
  }
  const auto make = [&] {
    auto out = std::make_shared<SharedSyncBasis>();
    out->symbols = basis.symbols();
    out->basis = std::move(basis);
    out->serial = cache.next_serial();
    return out;
  };
  return cache.get<SharedSyncBasis>(CacheKind::SyncBasis, key, make, [](const SharedSyncBasis& made) {
    constexpr size_t kParam = 600;
    size_t params = 0;
    for (const SyncBasis::Part& part : made.basis.parts) params += part.params.size();
    return sizeof made + params * kParam;
  });
}

SyncInput sync_input(const Graph& graph, const Binding& binding, ModelStart first, bool last,
                     const std::vector<std::vector<int>>& chunks, std::vector<size_t>* instances) {
  return sync_input(sync_basis(graph), binding, first, last, chunks, instances);
}

SyncInput sync_input(const SyncBasis& basis, const Binding& binding, ModelStart first, bool last,
                     const std::vector<std::vector<int>>& chunks, std::vector<size_t>* instances) {
  SyncInput input;
  const auto number = [&](const Expr& expr) {
    const auto value = evaluate(expr, binding);
    if (const auto* error = std::get_if<EvalError>(&value)) throw std::invalid_argument(error->message);
    return static_cast<int64_t>(std::get<Wide>(value));
  };
  input.groups.clear();
  for (const SyncBasis::Group& g : basis.groups)
    input.groups.push_back({group_name(g.replicas.shard), number(g.size), group_name(g.replicas.across),
                            number(g.across_size), group_name(g.replicas.axes)});
  // The shapes of a segment's parameters are evaluated once, because all layers of the segment have equal
  // shapes.
  struct Made {
    SyncParam param;
    std::string tied;
  };
  std::map<int, std::vector<Made>> made;
  std::map<std::string, int> tied;
  std::vector<size_t> reused;
  size_t place = 0;
  // name: of the module that holds the parameters.
  const auto add = [&](int index, const std::string& unit, int chunk, const std::string& name) {
    const SyncBasis::Part& segment = basis.parts[static_cast<size_t>(index)];
    const auto [at, fresh] = made.try_emplace(index);
    if (fresh)
      for (const SyncBasis::Flat& p : segment.params) {
        std::vector<int64_t> shape{number(p.rows)};
        if (!p.vector) shape.push_back(number(p.columns));
        at->second.push_back(
            {{p.name, p.module, "", std::move(shape), p.group, 0, p.quantized, p.looked_up, p.frozen},
             p.tied});
      }
    const std::string prefix = name + ".";
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
    if (first.tower && c == 0)
      for (int part = basis.head + 1; part < static_cast<int>(basis.parts.size()); ++part) {
        const SyncBasis::Part& of = basis.parts[static_cast<size_t>(part)];
        const int64_t copies = number(of.copies);
        for (int64_t copy = 0; copy < copies; ++copy)
          add(part, "", chunk, of.name + (of.copies == Expr(1) ? "" : "s." + std::to_string(copy)));
      }
    if (first.embedding && c == 0) add(0, "", chunk, basis.parts[0].name);
    for (const int kind : chunks[c]) {
      const std::string unit = "layers." + std::to_string(layer++);
      add(1 + kind, unit, chunk, unit);
    }
    if (last && c + 1 == chunks.size())
      add(basis.head, "", chunk, basis.parts[static_cast<size_t>(basis.head)].name);
  }
  if (instances) instances->insert(instances->end(), reused.begin(), reused.end());
  return input;
}

}  // namespace shardscape
