// What of a step belongs together: layers and chunks, ops and the spans that run them, the collectives they
// are, the memory they fill.
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "plan/report.h"
#include "timing/simulation.h"

namespace shardscape::ui {

// Units as the graph view counts them: 0 the embedding, 1 + i layer i, last the head.
int unit_of(const Report& report, int segment, int layer);  // layer -1: outside of layers
int segment_of_unit(const Report& report, int unit);
int units_in(const Report& report);

// The chunk of a stage that runs this layer of the model (-1: outside of layers, of that segment); -1: none.
int chunk_of(const Report& report, int stage, int segment, int layer);
// Segments that a chunk of a stage runs, and all of a stage.
std::set<int> segments_of(const Report& report, int stage, int chunk);
std::set<int> segments_of(const Report& report, int stage);
// The units of a chunk: first, and one past the last.
std::pair<int, int> units_of_chunk(const Report& report, int stage, int chunk);

// Whether spans of that kind run the op.
bool runs_in(SpanKind kind, const Segment& segment, OpId op);
// Whether a row of collectives counts the op.
bool is_behind(const Segment& segment, const Op& op, const CollectiveValue& row);
// Whether a span of that name, of the data-parallel stream, is what a row counts.
bool is_of_collective(const std::string& span_name, const CollectiveValue& row);
bool is_same(const CollectiveValue& a, const CollectiveValue& b);  // as rows, whatever their numbers

// Categories of memory that hold what the op reads for good, makes or keeps: a bit for each, 1 << category.
uint32_t memory_of(const Segment& segment, OpId op);
inline uint32_t bit_of(MemoryCategory category) { return 1u << static_cast<unsigned>(category); }

}  // namespace shardscape::ui
