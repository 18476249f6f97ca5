// shardscape-cli validate
#include <fstream>
#include <iostream>

#include "app/cli/arguments.h"
#include "app/cli/command_list.h"
#include "app/cli/exit_code.h"
#include "app/cli/messages.h"
#include "app/cli/validation_picture.h"
#include "timing/simulation.h"
#include "validation/validation.h"

namespace shardscape {
namespace {

int run(const Arguments& arguments) {
  if (arguments.operands().empty()) {
    print_problem({ProblemCode::OperandMissing, "SET", "the file of measured runs is missing",
                   "shardscape-cli validate SET.json"});
    return kWrongUsage;
  }
  const auto set = read_measured_set(arguments.operands().front());
  if (const auto* problem = std::get_if<Problem>(&set)) {
    print_problem(*problem);
    return kFileError;
  }
  const Validation validation = validate_set(std::get<MeasuredSet>(set), [](const Report& report) {
    return std::optional<double>(simulate(report)->step_seconds);
  });
  std::cout << (arguments.has("--json") ? validation_json(validation) : validation_text(validation));
  if (!arguments.has("--svg")) return kDone;
  const std::string path = *arguments.value("--svg");
  std::ofstream picture(path);
  picture << validation_svg(validation);
  if (picture.flush()) return kDone;
  print_problem(
      {ProblemCode::FileNotWritable, path, "the picture cannot be written", "a file in a writable folder"});
  return kFileError;
}

}  // namespace

Command validate_command() {
  return {"validate",
          "compare this program with measured runs",
          "SET.json [--svg FILE] [--json]",
          "Reads a set of measured runs and builds the design of every row. Of training runs, compares "
          "the measured step time, and the measured peak memory of the worst rank, with the predictions. "
          "Where several runs are layouts of one workload, prints the regret of the predicted best "
          "layout, the rank correlation, and how often the effect of one setting has the right sign. "
          "Where the set lists failed runs, prints which runs are predicted to succeed. Of serving "
          "points, simulates the requests, and compares TTFT, TPOT, ITL, end-to-end time, throughput and "
          "the tokens of the KV cache, where the set has them. Prints the error of every row, the mean "
          "error and the worst error; of serving points also the errors by GPU, model, engine and "
          "precision, and the rank correlation of configurations. Rows that no design can express are "
          "listed with the reason. No row is left out because its error is large.",
          {"shardscape-cli validate tests/data/measured/megatron_b200_8gpu.json",
           "shardscape-cli validate set.json --svg scatter.svg --json"},
          {{"--svg", 0, FlagKind::Value, "FILE",
            "Write a picture to this file: predicted values over measured values.", ""},
           json_flag()},
          1,
          run};
}

}  // namespace shardscape
