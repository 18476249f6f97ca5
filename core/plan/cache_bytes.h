// What inference stores of every token and sequence.
#pragma once

namespace shardscape {

struct Graph;
struct StepModel;

// Sets the bytes that inference stores in all layers: per token (kv_cache_bytes), and per sequence in windows
// that are counted apart (window_bytes).
void count_cache(const Graph& graph, StepModel& model);

}  // namespace shardscape
