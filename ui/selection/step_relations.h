// Relations between parts of a step: layers and chunks, ops and the spans that run them, ops and collective
// rows, ops and memory categories.
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "plan/collective_rows.h"
#include "timing/row_times.h"

namespace shardscape::ui {

// Units as the graph view counts them: the instances of a vision tower that passes run, the embedding, the
// layers, last the head.
int embedding_unit(const Report& report);
// layer -1: outside of layers. Of the layers of a tower: the first one.
int unit_of(const Report& report, int segment, int layer);
// The layer of the model; -1: the unit is none.
int layer_of_unit(const Report& report, int unit);
int segment_of_unit(const Report& report, int unit);
int units_in(const Report& report);

// The chunk of a stage that runs the layer of the model (layer -1: the segment outside of layers). Returns -1
// if none runs it.
int chunk_of(const Report& report, int stage, int segment, int layer);
// The segments that one chunk of a stage runs, or that the whole stage runs.
std::set<int> segments_of(const Report& report, int stage, int chunk);
std::set<int> segments_of(const Report& report, int stage);
// The units of a chunk: first, and one past the last.
std::pair<int, int> units_of_chunk(const Report& report, int stage, int chunk);

// True if spans of the kind run the op.
bool runs_in(SpanKind kind, const Segment& segment, OpId op);
// True if the collective row counts the span of its stage: a message, or a collective outside of layers.
bool counts_span(const CollectiveValue& row, const Simulation& simulation, const Span& span);
bool is_same(const CollectiveValue& a, const CollectiveValue& b);  // the same row; the numbers may differ

// The memory categories of the op's parameters, outputs and saved tensors. One bit for each: 1 << category.
uint32_t memory_of(const Segment& segment, OpId op);
inline uint32_t bit_of(MemoryCategory category) { return 1u << static_cast<unsigned>(category); }

}  // namespace shardscape::ui
