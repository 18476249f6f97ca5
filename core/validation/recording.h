// A recording: the operations of one rank of real training code, read from JSON without interpretation.
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

// A setting of the recorded run, "config.hidden" or "parallel.tp"; dots separate nested keys. A JSON null has
// no value.
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

// A storage that is alive for the backward at the end of the forward.
struct RecordedStorage {
  std::string scope;  // module path
  std::vector<int64_t> shape;
  std::string dtype;
  int64_t bytes = 0;
};

// Values by part of the model: "embedding", "layer0", "chunk1.layer0", "final_norm", "head_and_loss".
using RecordedParts = std::map<std::string, int64_t>;

struct Recording {
  std::string name, source;
  std::vector<RecordedField> fields;  // in file order
  std::optional<int64_t> parameters;  // on this rank
  std::optional<int64_t> full_model_parameters;
  std::vector<RecordedTensor> tensors;
  std::optional<int64_t> forward_flops, backward_flops, recompute_flops;  // of a step
  RecordedParts part_parameters, part_forward_flops, part_backward_flops, part_recompute_flops;
  RecordedParts part_saved;                     // bytes saved for the backward
  std::vector<RecordedStorage> saved;           // storages behind part_saved; optional
  std::vector<RecordedCollective> collectives;  // in issue order
  std::string schedule;  // "FFBFBB": order of forwards and backwards; empty: not recorded

  const RecordedField* field(const std::string& name) const;
};

// A Problem names the file, the line and the expected content.
Result<Recording> read_recording(const std::filesystem::path& path);
Result<Recording> recording_from_json(std::string text, const std::string& name);

// The name of the last layer among the parts ("chunk1.layer0" follows "chunk0.layer3"); empty if no part is a
// layer. Storages that all layers share count for layer 0, so the last layer has only storages of its own.
std::string last_layer(const RecordedParts& parts);
bool is_layer_part(const std::string& part);

// Bytes that each layer saves under full recomputation: storages that the module of the layers saves once per
// layer. Empty if the recording has none.
std::optional<int64_t> checkpointed_bytes_per_layer(const Recording& recording, int64_t layers);

}  // namespace shardscape
