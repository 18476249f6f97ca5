// What one rank of real training code was recorded to do: read from a recording's JSON, no judgement yet.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/problem.h"

namespace shardscape {

// A setting of the recorded run, "config.hidden" or "parallel.tp"; nested ones with dots. Nothing where it
// says null.
struct RecordedField {
  std::string name;
  std::variant<std::monostate, bool, int64_t, double, std::string> value;
};
std::string field_text(const RecordedField& field);  // "4096", "true", "flash-attn 2.5.8", "null"

struct RecordedTensor {
  std::string name;
  std::vector<int64_t> shape;
};

struct RecordedCollective {
  std::string phase, type, group;  // "sched", "all_gather", "pp(p2p, default group)"
  int64_t group_size = 0;          // 0: not recorded
  std::string dtype;
  int64_t elements = 0, bytes = 0;
};

// A storage alive for backward at the end of forward.
struct RecordedStorage {
  std::string scope;  // module path
  std::vector<int64_t> shape;
  std::string dtype;
  int64_t bytes = 0;
};

// By part of the model: "embedding", "layer0", "chunk1.layer0", "final_norm", "head_and_loss".
using RecordedParts = std::map<std::string, int64_t>;

struct Recording {
  std::string name, source;
  std::vector<RecordedField> fields;  // in the order of the file
  std::optional<int64_t> parameters;  // on this rank
  std::optional<int64_t> full_model_parameters;
  std::vector<RecordedTensor> tensors;
  std::optional<int64_t> forward_flops, backward_flops, recompute_flops;  // of a step
  RecordedParts part_parameters, part_forward_flops, part_backward_flops, part_recompute_flops;
  RecordedParts part_saved;                     // bytes kept for backward
  std::vector<RecordedStorage> saved;           // what they are; may be left out
  std::vector<RecordedCollective> collectives;  // in order of issue
  std::string schedule;  // "FFBFBB": forward and backward in order; empty where not recorded

  const RecordedField* field(const std::string& name) const;
};

// A Problem names the file, the line and what was expected there.
std::variant<Recording, Problem> read_recording(const std::filesystem::path& path);
std::variant<Recording, Problem> recording_from_json(std::string text, const std::string& name);

// The last layer among the parts ("chunk1.layer0" behind "chunk0.layer3"); empty where no layer is named.
// Layer 0 also pays for what all layers share.
std::string last_layer(const RecordedParts& parts);
bool is_layer_part(const std::string& part);

// Where whole layers are recomputed, what each one keeps stands among other rows: those that occur once per
// layer.
std::optional<int64_t> checkpointed_bytes_per_layer(const Recording& recording, int64_t layers);

}  // namespace shardscape
