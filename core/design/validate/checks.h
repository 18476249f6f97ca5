// The checks that validate() runs, and their helpers. Private to core/design.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "design/design.h"
#include "design/knobs/knobs.h"
#include "design/validate/validate.h"

namespace shardscape {

struct SectionTemplate;

struct Checks {
  const Design& design;
  std::vector<Problem> problems;
  std::vector<std::string> out_of_range;  // knobs
  bool first_only = false;                // stop at the first violated condition, without texts and fixes
  std::string first{};                    // knob of the first violated condition; empty without one
  ValidatedParts* known = nullptr;        // see first_error()
  std::string_view wanted{};              // of first_only: the knob that counts; empty: every knob

  // Whether the values of all these knobs are in range, so that relations between them can be checked.
  bool in_range(std::initializer_list<std::string_view> ids) const;
  void error(ProblemCode code, std::string where, std::string what, std::string accepted,
             std::vector<Fix> fixes = {});
  // In first_only mode: records the knob of the first violated condition that counts, and returns true.
  // Callers then skip texts and fixes.
  bool record_first(std::string_view where);
  void note(ProblemCode code, std::string where, std::string what, std::string accepted,
            std::vector<Fix> fixes = {});
};

void check_values(Checks& checks);          // every knob on its own; the other checks rely on this one
void check_model(Checks& checks);           // architecture, heads, positions
void check_mixers(Checks& checks);          // state-space mixers
void check_sparse(Checks& checks);          // sparse attention
void check_compressed(Checks& checks);      // compressed keys, output projections in groups
void check_carried(Checks& checks);         // tensors that later layers read
void check_linear_heads(Checks& checks);    // heads of linear attention
void check_tensor(Checks& checks);          // sizes that tp and sequence parallelism split
void check_vision(Checks& checks);          // the vision tower and the images that it reads
void check_context(Checks& checks);         // sizes that context parallelism splits
void check_experts(Checks& checks);         // mixture of experts and the expert mesh
void check_layer_kinds(Checks& checks);     // layer pattern and variants, sizes of each variant
void check_pipeline(Checks& checks);        // stages, their layers, the bubble
void check_interleaving(Checks& checks);    // virtual stages
void check_schedule(Checks& checks);        // requirements of schedules other than 1F1B
void check_sync(Checks& checks);            // policies of gradient sync
void check_precision(Checks& checks);       // quantized matrix products
void check_weight_formats(Checks& checks);  // weights in formats of a checkpoint
void check_recompute(Checks& checks);       // recomputation
void check_offload(Checks& checks);         // offload to the host
void check_batch(Checks& checks);           // division of the batch into replicas and microbatches
void check_inference(Checks& checks);       // decode and the KV cache
void check_without_effect(Checks& checks);  // values without effect in this design (knob_state.h)
void check_cluster(Checks& checks);         // links between accelerators
void check_placement(Checks& checks);       // number of ranks; tensor-parallel groups on nodes

// "set sequence length to 8,192", "set tp to 4", "turn on sequence parallel"
Fix set_to(std::string_view id, int64_t value);
Fix set_to(std::string_view id, const std::string& text);
// One fix with the settings of both.
Fix both(Fix a, const Fix& b);
// " and the head": the ends that count as layers in the even split.
std::string ends_counted_text(const Design& design);
// Adds a fix that sets the knob; does nothing for value 0, which means that no value was found.
void offer(std::vector<Fix>& fixes, std::string_view id, int64_t value);
// Adds a fix that sets the microbatch size, with the nearest batch that it divides. Nothing above the limit.
void offer_microbatch(std::vector<Fix>& fixes, const Checks& checks, int64_t wanted);

std::vector<int64_t> divisors(int64_t n);  // ascending
// Whether a block of the design's architecture has parameters along the axis. An unknown architecture counts
// as Llama.
bool uses_axis(const Design& design, Axis axis);
// The smallest sensible value: 1 for the size of a part that the architecture has, otherwise the minimum of
// the knob.
int64_t least_value(const Design& design, const Knob& knob);
bool has_free_ssm_heads(const Design& design);        // mixers have ssm_heads heads, whatever the expansion
int64_t ssm_channels(const Design& design);           // e·D, or Hm·P with free heads
std::string ssm_channels_text(const Design& design);  // "e D = 4,096 channels"
// The sizes of linear attention that tp and cp split: key heads with a delta rule, norm groups otherwise.
struct LinearSplit {
  int64_t ModelSpec::*size;
  Axis axis;
  const char *id, *name;  // "key heads"
};
inline constexpr LinearSplit kLinearSplits[] = {
    {&ModelSpec::linear_key_heads, Axis::LinearKeyHeads, "linear_key_heads", "key heads"},
    {&ModelSpec::linear_norm_groups, Axis::LinearNormGroups, "linear_norm_groups", "norm groups"}};
// The product of the other degrees; kMaxWorld + 1 for every larger product.
int64_t ranks_without(const Design& design, std::string_view degree);
// Whether tp divides heads, KV heads, FFN, mixers and the sequence, and the number of ranks stays within its
// limit.
bool tp_is_valid(const Design& design, int64_t tp);
// The nearest valid tp at or below the limit, and above the limit; 0 if there is none.
int64_t tp_at_most(const Design& design, int64_t limit);
int64_t tp_above(const Design& design, int64_t limit);
// Whether tp splits the vision tower, if it splits it at all.
bool tp_splits_tower(const Design& design, int64_t tp);
bool has_sinks(const std::string& architecture);          // whether its attention has a learned sink per head
bool picks_blocks(const std::string& architecture);       // whether sparse attention picks blocks of keys
bool has_window_layers(const std::string& architecture);  // whether any layer has sliding-window attention
bool has_window(const SectionTemplate& kind);             // whether layers of this kind have it
std::string schedule_label(ScheduleKind kind);            // the label in the knob table
// The number of microbatches must be a multiple of this, because of the schedule.
int64_t microbatch_multiple(const Design& design);
bool splits_batch(const Design& design, int64_t dp, int64_t microbatch);
// The largest dp, at most the limit, over which the batch splits; 0 if there is none.
int64_t dp_at_most(const Design& design, int64_t limit);

}  // namespace shardscape
