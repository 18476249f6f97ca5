// The checks that validate() runs, and what they share. Private to core/design.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "design/design.h"
#include "design/knobs.h"
#include "design/validate.h"

namespace shardscape {

struct Checks {
  const Design& design;
  std::vector<Problem> problems;
  std::vector<std::string> broken;  // knobs whose value alone is wrong
  bool first_only = false;          // nobody reads problems: the first violated condition is all that is asked for
  std::string first{};              // its knob; empty while there is none

  // Whether relations between these knobs can be judged.
  bool sound(std::initializer_list<std::string_view> ids) const;
  void error(std::string where, std::string what, std::string accepted, std::vector<Fix> fixes = {});
  // Where only the first is asked for: takes it, before texts and fixes are made.
  bool stops_at(std::string_view where);
  void note(std::string where, std::string what, std::string accepted, std::vector<Fix> fixes = {});
};

void check_values(Checks& checks);       // every knob by itself; the others rely on it
void check_model(Checks& checks);        // architecture, heads, positions
void check_mixers(Checks& checks);       // state-space mixers
void check_tensor(Checks& checks);       // what tp and sequence parallelism split
void check_context(Checks& checks);      // what context parallelism splits
void check_experts(Checks& checks);      // mixture of experts, and the mesh of experts
void check_pipeline(Checks& checks);     // stages, layers of each, bubble
void check_interleaving(Checks& checks); // virtual stages
void check_schedule(Checks& checks);     // what the other schedules want
void check_sync(Checks& checks);         // policy of gradient sync
void check_precision(Checks& checks);    // quantized products, optimizer states
void check_recompute(Checks& checks);    // what is made again for the backward
void check_offload(Checks& checks);      // what waits on the host
void check_batch(Checks& checks);        // batch into replicas and microbatches
void check_inference(Checks& checks);    // what decoding and the cache of keys and values ask
void check_idle(Checks& checks);          // values that mean nothing for this design (knob_state.h)
void check_cluster(Checks& checks);      // links between accelerators
void check_placement(Checks& checks);    // number of ranks, groups and nodes

// "set sequence length to 8,192", "set tp to 4", "turn on sequence parallel"
Fix set_to(std::string_view id, int64_t value);
Fix set_to(std::string_view id, const std::string& text);
// Settings of a as well as of b.
Fix both(Fix a, const Fix& b);
// " and the head": what counts as a layer beside the layers.
std::string counted_ends(const Design& design);
// Nothing when the value is 0: no value was found.
void offer(std::vector<Fix>& fixes, std::string_view id, int64_t value);

std::vector<int64_t> divisors(int64_t n);                  // ascending
// Whether a block of the design's architecture has parameters along the axis; of an unknown one, whether a Llama has.
bool uses_axis(const Design& design, Axis axis);
// The smallest value that makes sense: 1 for the size of something that the architecture has, whatever the knob allows.
int64_t least_value(const Design& design, const Knob& knob);
int64_t ssm_channels(const Design& design);                // e·D
int64_t ranks_without(const Design& design, std::string_view degree);  // product of the other degrees
// Whether heads, KV heads, FFN, sequence and the number of ranks all allow this tp.
bool tp_works(const Design& design, int64_t tp);
// The nearest such tp at or below, and above (0 when there is none).
int64_t tp_at_most(const Design& design, int64_t limit);
int64_t tp_above(const Design& design, int64_t limit);
bool has_sinks(const std::string& architecture);          // whether its attention has a learned sink per head
bool has_window_layers(const std::string& architecture);  // whether any of its layers slides over a window
std::string schedule_label(ScheduleKind kind);              // as the knob table has it
// The schedule takes microbatches in multiples of this.
int64_t microbatch_multiple(const Design& design);
bool splits_batch(const Design& design, int64_t dp, int64_t microbatch);
// The largest dp at most the limit over which the batch splits; 0 when there is none.
int64_t dp_at_most(const Design& design, int64_t limit);

}  // namespace shardscape
