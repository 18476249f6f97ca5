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
#include <vector>

#include "launch/launch_fields.h"
#include "launch/launch_import.h"
#include "model/model_spec.h"

namespace shardscape {

// The number of GPUs that the person gave, otherwise that of the file (0: not stated). from: where the file
// says it. false: neither says it, and out has the Problem.
bool set_launch_gpus(const LaunchRequest& request, std::optional<int64_t> stated, const std::string& from,
                     LaunchImport& out);

// The commands of the text as a script; its notes go to out. nullopt: out has the Problem.
std::optional<ShellScript> read_script(const LaunchRequest& request, LaunchImport& out);

// A file that the launch names, where it says or next to the launch.
std::optional<std::string> file_beside(const LaunchRequest& request, const std::string& path);
// The command of a launch names a file that is not there. also: other files that would do, or empty.
Problem missing_file(const LaunchRequest& request, const std::string& path, const std::string& also);

// A whole number above zero.
std::optional<int64_t> positive_number(const std::string& text);

// A product of numbers from a file; as large as the largest number if it would be larger.
int64_t capped_product(std::initializer_list<int64_t> factors);

struct NamedModel {
  ModelSpec model;
  std::string name;    // "Qwen3 4B"
  std::string origin;  // "preset qwen3-4b, which has the sizes of Qwen/Qwen3-4B-Instruct-2507"
  int64_t seq = 0;     // usual sequence length; 0: not known
};

// named: the model that the file names, empty if it names none; argument: the field that does. The model of
// the request comes first. A Problem says which models are accepted.
std::variant<NamedModel, Problem> find_model(const LaunchRequest& request, const std::string& named,
                                             const std::string& argument);
// Gives the design the model, and its usual sequence length where `seq` (an argument) is absent.
void take_model(LaunchFields& fields, const LaunchRequest& request, const NamedModel& model,
                const std::string& named, const std::string& argument);

// In the order of the file; fields without a line (0) come last.
void sort_by_line(std::vector<LaunchField>& fields);
// Moves the design and its fields into the import, in the order of the file. lines: of arguments.
void finish_launch(LaunchDesign read, const std::map<std::string, int>& lines, LaunchImport& out);

}  // namespace shardscape
