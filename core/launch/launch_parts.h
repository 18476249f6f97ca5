// Parts that the readers of several frameworks share: the number of GPUs, and the model that a name stands
// for.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "launch/launch_fields.h"
#include "launch/launch_import.h"
#include "model/library.h"

namespace shardscape {

// The number of GPUs that the person gave, otherwise that of the file. from: where the file says it. false:
// neither says it, and out has the Problem.
bool settle_gpus(const LaunchRequest& request, std::optional<int64_t> stated, const std::string& from,
                 LaunchImport& out);

// A whole number above zero.
std::optional<int64_t> positive_number(const std::string& text);

// A product of numbers from a file; as large as the largest number if it would be larger.
int64_t capped_product(std::initializer_list<int64_t> factors);

struct NamedModel {
  ModelSpec model;
  std::string origin;  // "preset qwen3-4b, which has the sizes of Qwen/Qwen3-4B-Instruct-2507"
  int64_t seq = 0;     // usual sequence length; 0: not known
};

// The preset that has the sizes of a model: a preset's id or name, or a name of the Hugging Face hub, whose
// owner and endings such as "-Instruct" do not count. Null: the library has no such model.
const Preset* preset_of_name(std::string_view name);
// Its id; empty: none.
std::string preset_id_of_name(std::string_view name);
// named: the model that the file names, empty if it names none; argument: the field that does. The model of
// the request comes first. A Problem says which models are accepted.
std::variant<NamedModel, Problem> find_model(const LaunchRequest& request, const std::string& named,
                                             const std::string& argument);
// Gives the design the model, and its usual sequence length where `seq` (an argument) is absent.
void take_model(LaunchFields& fields, const LaunchRequest& request, const NamedModel& model,
                const std::string& named, const std::string& argument);

// Moves the design and its fields into the import. lines: of arguments.
void answer(LaunchDesign read, const std::map<std::string, int>& lines, LaunchImport& out);

}  // namespace shardscape
