// Functional tests of Megatron-LM (tests/functional_tests/test_cases): launch arguments, and the peak of
// allocated bytes of the last rank, which writes TensorBoard's values.
#include "launch/megatron/megatron_arguments.h"
#include "validation/measured_mapping.h"

namespace shardscape {
namespace {

// "24", "true", "1e-2": texts and numbers as on a command line.
std::string argument_text(const MeasuredJson& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

// The text of a member; empty if there is none.
std::string member_text(const MeasuredJson& object, const char* name) {
  const auto it = object.is_object() ? object.find(name) : object.end();
  return it != object.end() && it->is_string() ? it->get<std::string>() : "";
}

std::string workspace_config(const RowMapper& m) {
  return m.has("env") ? member_text(m.row()["env"], "CUBLAS_WORKSPACE_CONFIG") : "";
}

// Why no design can stand for the run; empty if the arguments decide.
std::string why_not(RowMapper& m, const MeasuredJson& arguments) {
  const std::string family = m.text("family"), hardware = m.text("hardware");
  if (hardware != "h100" && hardware != "gb200")
    return "the golden values of " + hardware + " may be older than the launch arguments";
  if (arguments.contains("--perform-rl-step")) return "the run is reinforcement learning, not pre-training";
  if (arguments.contains("--num-experts"))
    return "an untrained router decides how many tokens, and so how many bytes, the last rank has";
  if (family == "hybrid") return "hybrid layer patterns are not read";
  if (family != "gpt") return "the model family is " + family + ", not gpt";
  if (member_text(arguments, "--transformer-impl") == "local")
    return "local attention keeps a permanent buffer of scores, which no kernel profile has";
  if (hardware == "gb200" && workspace_config(m).empty())
    return "the size of cuBLAS workspaces on GB200 depends on the version of PyTorch, which the row lacks";
  if (!m.has("nodes") || !m.has("gpus_per_node")) return "the number of GPUs is not known";
  return "";
}

}  // namespace

void map_megatron_golden(const MeasuredJson& set, MeasuredSet& out) {
  for (const MeasuredJson& row : set["rows"]) {
    RowMapper m(row, "");
    m.out().name = m.text("test") + " " + m.text("platform");
    static const MeasuredJson none = MeasuredJson::object();
    const MeasuredJson& arguments = row.contains("args") && row["args"].is_object() ? row["args"] : none;
    if (m.has("mem_max_allocated_bytes") && row["mem_max_allocated_bytes"].is_object()) {
      const RowMapper bytes(row["mem_max_allocated_bytes"], "");
      m.out().bytes = bytes.measured("max", 1, m.out().no_bytes);
    }
    m.out().no_seconds = "steps of tiny test runs are not compared";
    if (const std::string why = why_not(m, arguments); !why.empty()) {
      m.refuse(why);
    } else {
      LaunchArguments launch;
      for (const auto& [name, value] : arguments.items()) launch[name] = argument_text(value);
      // Slower kernels, and another order of messages: only memory is compared.
      for (const char* argument : {"--deterministic-mode", "--overlap-p2p-communication-warmup-flush"})
        launch.erase(argument);
      const int64_t node = m.integer("gpus_per_node", 1);
      LaunchDesign read = read_megatron_arguments(launch, m.integer("nodes", 1) * node);
      m.out().design = std::move(read.design);
      for (const auto& [argument, reason] : read.unmapped) m.refuse(argument + ": " + reason);
      m.set("accelerator", m.text("hardware"));
      m.set("gpus_per_node", node);
      if (workspace_config(m) == ":4096:8") m.set("cublas_workspace", 32);  // 8 x 4,096 KiB
      m.out().stage = static_cast<int>(m.out().design.parallel.pp) - 1;     // the last rank logs its peak
    }
    m.out().design.name = m.out().name;
    out.rows.push_back(m.finish());
  }
}

}  // namespace shardscape
