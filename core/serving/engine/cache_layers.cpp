#include "serving/engine/cache_layers.h"

#include <algorithm>
#include <numeric>

#include "graph/graph.h"
#include "graph/stage_symbols.h"
#include "plan/stage_transfers.h"
#include "plan/step_model.h"
#include "serving/inference.h"

namespace shardscape {
namespace {

constexpr int64_t kKernelTokens = 16;  // blocks of attention kernels have a multiple of these tokens
// Groups have as many layers as the rarest kind of storage; as the most frequent one, if it has less than
// this many times more (_get_kv_cache_groups_uniform_page_size).
constexpr double kPadded = 1.5;

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

// Adds layers on a stage to those with the same storage.
void add(std::vector<CacheLayers>& all, const CacheLayers& of, size_t stage, size_t stages, int64_t layers) {
  if (layers == 0 || (of.token_bytes == 0 && of.state_bytes == 0)) return;
  auto at = std::find_if(all.begin(), all.end(),
                         [&](const CacheLayers& known) { return known.stores_like(of); });
  if (at == all.end()) {
    at = all.insert(at, of);
    at->layers.assign(stages, 0);
  }
  at->layers[stage] += layers;
}

// Reads the storages of a kind of layers on one stage.
class KindReader {
 public:
  KindReader(const Report& report, const StageReport& stage, const Segment& segment)
      : report_(report), stage_(stage), segment_(segment) {
    const Design& d = report.design;
    sequences_ = std::max<int64_t>(1, d.workload.batch / std::max<int64_t>(1, d.parallel.dp));
  }
  // Every token, windows, chunks and states of one layer. A problem if a size has no value.
  Result<std::vector<CacheLayers>> read() const {
    CacheLayers full, state;
    std::vector<CacheLayers> out;
    for (const TensorId id : segment_.caches) {
      const Tensor& t = segment_.tensor(id);
      const auto bytes = number(chunk_microbatches(report_.graph().structure) * local_bytes(t));
      if (const auto* problem = std::get_if<Problem>(&bytes)) return *problem;
      const int64_t stored = std::get<int64_t>(bytes) / sequences_;
      const auto axis = std::find_if(t.axes.begin(), t.axes.end(), is_context);
      if (axis == t.axes.end()) {
        state.state_bytes += stored;
      } else if (*axis == Axis::Context || *axis == Axis::CompressedContext) {
        full.token_bytes += stored / report_.design.workload.context_length;
      } else {
        const auto tokens = number(t.sizes[static_cast<size_t>(axis - t.axes.begin())]);
        if (const auto* problem = std::get_if<Problem>(&tokens)) return *problem;
        add_window(out, *axis == Axis::ChunkContext, std::get<int64_t>(tokens), stored);
      }
    }
    out.push_back(full);
    out.push_back(state);
    return out;
  }

 private:
  Result<int64_t> number(const Expr& expr) const {
    const auto value = evaluate(expr, stage_.binding);
    if (const auto* error = std::get_if<EvalError>(&value))
      return Problem(ProblemCode::SizeOverflow, "design", error->message, "sizes that divide evenly");
    return static_cast<int64_t>(std::get<Wide>(value));
  }
  static void add_window(std::vector<CacheLayers>& out, bool chunked, int64_t tokens, int64_t stored) {
    if (tokens == 0) return;
    auto at = std::find_if(out.begin(), out.end(), [&](const CacheLayers& known) {
      return known.window == tokens && known.chunked == chunked;
    });
    if (at == out.end()) {
      at = out.insert(at, CacheLayers());
      at->window = tokens;
      at->chunked = chunked;
    }
    at->token_bytes += stored / tokens;
  }

  const Report& report_;
  const StageReport& stage_;
  const Segment& segment_;
  int64_t sequences_ = 1;
};

// The layers of a group.
int64_t group_size(const std::vector<CacheLayers>& layers) {
  int64_t least = layers.front().total(), most = least;
  for (const CacheLayers& of : layers) {
    least = std::min(least, of.total());
    most = std::max(most, of.total());
  }
  return static_cast<double>(most) < kPadded * static_cast<double>(least) ? most : least;
}

// All layers store the same tokens: one group whose block is that of all layers together.
CacheGroups one_group(const std::vector<CacheLayers>& layers, int64_t block_size) {
  CacheGroups out;
  const CacheLayers& first = layers.front();
  out.row_tokens = out.block_tokens = block_size;
  if (first.token_bytes == 0) out.layout = {0, {}, 1, false};
  if (first.window > 0) out.layout = {0, {{first.window, first.chunked, 1}}, 0, true};
  out.block_bytes.assign(first.layers.size(), 0);
  for (const CacheLayers& of : layers)
    for (size_t stage = 0; stage < of.layers.size(); ++stage)
      out.block_bytes[stage] += of.layers[stage] * (of.token_bytes * block_size + of.state_bytes);
  return out;
}

// Layers with windows, states and entries of different sizes next to each other (DeepSeek-V4): one group for
// what grows with the sequence. Windows and states are the same blocks of every sequence.
CacheGroups constant_part(const std::vector<CacheLayers>& layers, int64_t block_size) {
  CacheGroups out;
  out.row_tokens = out.block_tokens = block_size;
  const size_t stages = layers.front().layers.size();
  out.block_bytes.assign(stages, 0);
  std::vector<int64_t> constant(stages, 0);
  for (const CacheLayers& of : layers)
    for (size_t stage = 0; stage < stages; ++stage)
      (of.window > 0 || of.token_bytes == 0
           ? constant
           : out.block_bytes)[stage] += of.layers[stage] *
                                        (of.state_bytes +
                                         of.token_bytes * (of.window > 0 ? of.window : block_size));
  for (size_t stage = 0; stage < stages; ++stage)
    if (out.block_bytes[stage] > 0)
      out.layout.states = std::max(out.layout.states,
                                   static_cast<int32_t>(ceil_div(constant[stage], out.block_bytes[stage])));
  return out;
}

// Tokens of a block of the layers, if each block has `page` bytes: a multiple of the usual tokens where that
// fills the page, else the usual tokens with padding (unify_kv_cache_spec_page_size).
int64_t block_tokens(const CacheLayers& of, int64_t tokens, int64_t page) {
  const int64_t bytes = tokens * of.token_bytes;
  return page % bytes == 0 ? page / bytes * tokens : tokens;
}

}  // namespace

bool CacheLayers::stores_like(const CacheLayers& other) const {
  return token_bytes == other.token_bytes && window == other.window && chunked == other.chunked &&
         state_bytes == other.state_bytes;
}

int64_t CacheLayers::total() const { return std::accumulate(layers.begin(), layers.end(), int64_t{0}); }

Result<std::vector<CacheLayers>> cache_layers(const Report& decode) {
  const Graph& graph = decode.graph();
  std::vector<CacheLayers> out;
  for (size_t s = 0; s < decode.stages.size(); ++s) {
    const StageReport& stage = decode.stages[s];
    for (int kind = 0; kind < graph.kinds(); ++kind) {
      const int64_t layers = stage.binding.get(stage_layers_symbol(graph, kind)).value_or(0);
      if (layers == 0) continue;
      const auto read = KindReader(decode, stage, graph.segments[static_cast<size_t>(kind) + 1]).read();
      if (const auto* problem = std::get_if<Problem>(&read)) return *problem;
      for (const CacheLayers& of : std::get<0>(read)) add(out, of, s, decode.stages.size(), layers);
    }
  }
  return out;
}

CacheGroups cache_groups(const std::vector<CacheLayers>& layers, int64_t block_size) {
  if (layers.empty()) return {{}, block_size, 1, block_size, {}};
  const auto same_tokens = [&](const CacheLayers& of) {
    const CacheLayers& first = layers.front();
    return of.window == first.window && of.chunked == first.chunked &&
           (of.token_bytes == 0) == (first.token_bytes == 0);
  };
  if (std::all_of(layers.begin(), layers.end(), same_tokens)) return one_group(layers, block_size);

  // Every block has the bytes of the largest.
  int64_t state = 0, token = 0;
  bool windows = false;
  for (const CacheLayers& of : layers) {
    state = std::max(state, of.state_bytes);
    token = std::max(token, of.token_bytes);
    windows |= of.window > 0;
  }
  if (windows && state > 0) return constant_part(layers, block_size);
  int64_t tokens = block_size;
  if (state > tokens * token) tokens = ceil_div(state, kKernelTokens * token) * kKernelTokens;
  const int64_t page = tokens * token, size = group_size(layers);
  CacheGroups out{{0, {}, 0, state == 0}, tokens, 0, tokens, {}};
  for (const CacheLayers& of : layers)
    if (of.token_bytes > 0) out.row_tokens = std::lcm(out.row_tokens, block_tokens(of, tokens, page));
  out.block_bytes.assign(layers.front().layers.size(), 0);
  for (const CacheLayers& of : layers) {
    const int64_t groups = ceil_div(of.total(), size);
    out.groups += groups;
    for (size_t stage = 0; stage < of.layers.size(); ++stage)
      out.block_bytes[stage] = std::max(out.block_bytes[stage], page * ceil_div(of.layers[stage], groups));
    const auto blocks = static_cast<int32_t>(
        of.token_bytes == 0 ? groups : groups * (out.row_tokens / block_tokens(of, tokens, page)));
    if (of.token_bytes == 0)
      out.layout.states += blocks;
    else if (of.window == 0)
      out.layout.full += blocks;
    else
      out.layout.windows.push_back({of.window, of.chunked, blocks});
  }
  return out;
}

}  // namespace shardscape
