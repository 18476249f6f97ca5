#include "design/layer_sizes.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "design/limits.h"
#include "design/validate/validate.h"
#include "design/vision.h"
#include "mesh/mesh_axes.h"
#include "model/library.h"
#include "model/model_sizes.h"

namespace shardscape {
namespace {

// Symbols that follow from sizes.
struct Dependent {
  int64_t ModelSpec::*size;
  const char* symbol;
};
constexpr Dependent kDependents[] = {
    {&ModelSpec::window, "We"},           {&ModelSpec::attention_chunk, "Wce"},
    {&ModelSpec::attention_chunk, "Wn"},  {&ModelSpec::linear_chunk, "Qle"},
    {&ModelSpec::window, "Wb"},           {&ModelSpec::attention_chunk, "Wp"},
    {&ModelSpec::compress_ratio, "Nc"},   {&ModelSpec::compress_ratio, "Kp"},
    {&ModelSpec::expert_ffn, "Fs"},       {&ModelSpec::shared_experts, "Fs"},
    {&ModelSpec::experts, "Xr"},          {&ModelSpec::zero_experts, "Xr"},
    {&ModelSpec::experts, "Cx"},          {&ModelSpec::zero_experts, "Cx"},
    {&ModelSpec::experts, "Cn"},          {&ModelSpec::experts_per_token, "Cx"},
    {&ModelSpec::experts_per_token, "Cn"}};

// The first layers of all stages behind the first.
std::set<int64_t> received_layers(const Design& design) {
  std::set<int64_t> out;
  for (int64_t first = 0; const int64_t layers : layers_per_virtual_stage(design)) {
    if (first > 0 && layers > 0) out.insert(first);
    first += layers;
  }
  return out;
}

const LayerVariant& kind_at(const ModelLayers& plain, const ModelSpec& model, int64_t layer) {
  const bool lead = plain.lead >= 0 && layer < model.dense_layers;
  return plain.kinds[static_cast<size_t>(lead ? plain.lead : plain.pattern.at(layer, model.layers))];
}

// The kinds and the pattern, with kinds split by the states of their layers. rename(layer, kind) changes the
// kind of a layer and returns the state of the layer; kinds of one name have one state.
template <class State, class Rename>
ModelLayers split_kinds(const ModelSpec& model, const ModelLayers& plain,
                        std::vector<State> ModelLayers::*states, const Rename& rename) {
  ModelLayers out;
  std::map<std::string, int> known;
  for (int64_t layer = 0; layer < model.layers; ++layer) {
    LayerVariant kind = kind_at(plain, model, layer);
    const State state = rename(layer, kind);
    const auto [at, fresh] = known.try_emplace(kind.name, static_cast<int>(out.kinds.size()));
    if (fresh) {
      out.kinds.push_back(kind);
      (out.*states).push_back(state);
    }
    out.pattern.prefix.push_back(at->second);
  }
  return out;
}

// Kinds split by the stream that enters their layers. The embedding is the first vector; each block adds the
// vector of its layers (Kimi K3; arXiv 2603.15031, section 3).
ModelLayers with_blocks(const Design& design, const Architecture& architecture, const ModelLayers& plain) {
  const ModelSpec& model = design.model;
  const std::set<int64_t> received = received_layers(design);
  return split_kinds(model, plain, &ModelLayers::blocks, [&](int64_t layer, LayerVariant& kind) {
    const EnteringBlocks blocks{1 + (layer + model.block_layers - 1) / model.block_layers,
                                received.contains(layer)};
    const auto start = architecture.block_start.find(kind.kind);
    const bool starts = layer % model.block_layers == 0 && start != architecture.block_start.end();
    if (starts) kind.kind = start->second;
    kind.name += "_" + std::to_string(blocks.vectors) + (starts ? "_start" : "") +
                 (blocks.received ? "_received" : "");
    return blocks;
  });
}

// What the embedding (first entry) and every layer do with one carried tensor.
void use_carried(const Design& design, const Architecture& architecture, const ModelLayers& plain,
                 size_t index, std::vector<CarriedUse>& uses) {
  const CarriedTensor& tensor = architecture.carries[index];
  const bool trains = design.workload.mode == Mode::Train, of_tower = tensor.added_to >= 0,
             sums = trains && !(tensor.dtype && is_integer(*tensor.dtype));
  if (of_tower && !runs_tower(design)) return;
  const int64_t added_to = std::min(tensor.added_to, design.model.layers - 1);
  const int bit = 1 << index;
  const std::set<int64_t> received = received_layers(design);
  int64_t maker = of_tower || makes(architecture.embedding, tensor) ? -1 : -2, last = -1, first = 0;
  bool holds = false;  // a layer of this stage, which begins with the layer `first`, holds the tensor
  const auto end = [&] {
    if (last >= 0 && (sums || of_tower)) uses[static_cast<size_t>(last + 1)].last |= bit;
    last = -1;
  };
  for (int64_t layer = 0; layer < design.model.layers; ++layer) {
    if (received.contains(layer)) {
      first = layer;
      holds = false;
    }
    const SectionTemplate* lines = section_of(architecture, kind_at(plain, design.model, layer).kind);
    if (of_tower ? layer == added_to : lines && reads(*lines, tensor)) {
      if (of_tower) uses[static_cast<size_t>(layer + 1)].added |= bit;
      if (maker > -2) uses[static_cast<size_t>(maker + 1)].made |= bit;
      if (trains && (of_tower || (maker < first && first > 0)) && !holds) {
        uses[static_cast<size_t>(layer + 1)].held |= bit;
        holds = true;
      }
      last = layer;
    } else if (!of_tower && lines && makes(*lines, tensor)) {
      end();
      maker = layer;
    }
  }
  end();
}

// Kinds split by the use of carried tensors in their layers: "shared", and "shared_5" for layers of another
// use, the first of which is layer 5.
ModelLayers with_carries(const Design& design, const Architecture& architecture, const ModelLayers& plain) {
  std::vector<CarriedUse> uses(static_cast<size_t>(std::max<int64_t>(0, design.model.layers)) + 1);
  for (size_t index = 0; index < architecture.carries.size(); ++index)
    use_carried(design, architecture, plain, index, uses);
  std::map<std::string, std::map<CarriedUse, std::string>> names;
  ModelLayers out = split_kinds(
      design.model, plain, &ModelLayers::carried, [&](int64_t layer, LayerVariant& kind) {
        const CarriedUse use = uses[static_cast<size_t>(layer + 1)];
        auto& of_kind = names[kind.name];
        const std::string own = of_kind.empty() ? kind.name : kind.name + "_" + std::to_string(layer);
        kind.name = of_kind.try_emplace(use, own).first->second;
        return use;
      });
  out.embedding = uses.front();
  return out;
}

}  // namespace

bool runs_carries(const Design& design, const Architecture& architecture) {
  return std::any_of(architecture.carries.begin(), architecture.carries.end(),
                     [&](const CarriedTensor& t) { return t.added_to < 0 || runs_tower(design); });
}

ModelLayers layers_of(const Design& design) {
  const Architecture* architecture = ModelLibrary::instance().architecture(design.model.architecture);
  if (!architecture) return {};
  const ModelLayers layers = layers_of(design.model, *architecture);
  if (design.model.layers > kMaxLayers) return layers;  // validation reports the number
  if (runs_carries(design, *architecture)) return with_carries(design, *architecture, layers);
  return architecture->block_start.empty() || design.model.block_layers < 1
             ? layers
             : with_blocks(design, *architecture, layers);
}

int64_t final_vectors(const ModelSpec& model) {
  return model.block_layers < 1 ? 1 : 1 + (model.layers + model.block_layers - 1) / model.block_layers;
}

std::vector<LayerVariant> kinds_with_sizes(const Design& design) {
  if (design.model.variants.empty()) return {};
  std::vector<LayerVariant> out = layers_of(design).kinds;
  std::erase_if(out, [](const LayerVariant& kind) { return kind.sizes.empty(); });
  return out;
}

std::vector<int64_t> own_kv_splits(const Design& design) {
  constexpr int kRow = size_row(&ModelSpec::kv_heads);
  std::vector<int64_t> out;
  for (const LayerVariant& kind : kinds_with_sizes(design)) {
    const auto own = kind.sizes.find(kRow);
    if (own == kind.sizes.end() || own->second < 1 || own->second >= design.parallel.tp) continue;
    if (std::find(out.begin(), out.end(), own->second) == out.end()) out.push_back(own->second);
  }
  return out;
}

Symbol layer_symbol(std::string_view symbol, const std::string& kind) {
  return Symbol::intern(std::string(symbol) + "_" + kind);
}

std::vector<std::pair<Symbol, Symbol>> layer_symbols(const std::string& kind, const std::vector<int>& sizes,
                                                     int kv_split) {
  std::vector<std::pair<Symbol, Symbol>> out;
  const auto add = [&](const char* symbol, Symbol own) {
    const Symbol of_model = Symbol::intern(symbol);
    if (std::none_of(out.begin(), out.end(), [&](const auto& pair) { return pair.first == of_model; }))
      out.emplace_back(of_model, own);
  };
  for (int row : sizes) {
    const ModelSize& size = kModelSizes[static_cast<size_t>(row)];
    const bool splits = size.member == &ModelSpec::kv_heads && kv_split > 0;
    if (splits)
      add(size.symbol, Symbol::intern(kKvSplits.at(static_cast<size_t>(kv_split) - 1).symbol()));
    else if (*size.symbol)
      add(size.symbol, layer_symbol(size.symbol, kind));
    for (const Dependent& other : kDependents)
      if (other.size == size.member) add(other.symbol, layer_symbol(other.symbol, kind));
  }
  return out;
}

}  // namespace shardscape
