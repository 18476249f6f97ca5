// shardscape-cli validate
#include <algorithm>
#include <iostream>
#include <optional>

#include "app/cli/arguments.h"
#include "app/cli/command_list.h"
#include "app/cli/exit_code.h"
#include "app/cli/messages.h"
#include "app/cli/validation_picture.h"
#include "base/atomic_write.h"
#include "timing/simulation.h"
#include "validation/band_coverage.h"
#include "validation/ratio_coverage.h"
#include "validation/validation.h"

namespace shardscape {
namespace {

// Or an exit code, if the problem was printed.
std::variant<Validation, int> validation_of(const std::string& path) {
  const auto set = read_measured_set(path);
  if (const auto* problem = std::get_if<Problem>(&set)) return print_refusal(*problem);
  return validate_set(std::get<MeasuredSet>(set), [](const Report& report) {
    return std::optional<double>(simulate(report)->step_seconds);
  });
}

// --bands: the file of errors, and how many rows the bands of this file contain, by metric and set.
int write_bands(const Arguments& arguments, const std::string& path) {
  std::vector<Validation> all;
  MeasuredErrors errors;
  for (const std::string& set : arguments.operands()) {
    auto read = validation_of(set);
    if (const int* exit_code = std::get_if<int>(&read)) return *exit_code;
    Validation* const made = &std::get<Validation>(read);
    if (std::any_of(all.begin(), all.end(), [&](const Validation& of) { return of.set == made->set; })) {
      print_problem({ProblemCode::OperandMissing, set, "the set " + made->set + " was given twice",
                     "each set once, because its rows count once"});
      return kWrongUsage;
    }
    for (ErrorSample& sample : samples_of(*made)) errors.samples.push_back(std::move(sample));
    for (PairSample& sample : pair_samples_of(*made)) errors.pairs.push_back(std::move(sample));
    all.push_back(std::move(*made));
  }
  if (const auto problem = atomic_write(path, measured_errors_json(errors))) {
    print_problem(*problem);
    return kFileError;
  }
  if (arguments.has("--json"))
    std::cout << "{\"values\": " << coverage_json(all, errors.samples)
              << ", \"ratios\": " << ratio_json(all, errors.pairs) << "}\n";
  else
    std::cout << coverage_text(all, errors.samples) << ratio_text(all, errors.pairs);
  return kDone;
}

int run_validate(const Arguments& arguments) {
  const std::string* bands = arguments.value("--bands");
  const std::vector<std::string>& sets = arguments.operands();
  if (sets.empty() || (sets.size() > 1 && !bands)) {
    print_problem({ProblemCode::OperandMissing, "SET",
                   sets.empty() ? "the file of measured runs is missing" : "only --bands reads several sets",
                   "shardscape-cli validate SET.json, or validate --bands FILE SET.json..."});
    return kWrongUsage;
  }
  if (bands) return write_bands(arguments, *bands);
  const auto made = validation_of(sets.front());
  if (const int* exit_code = std::get_if<int>(&made)) return *exit_code;
  const Validation& validation = std::get<Validation>(made);
  // The file is written before the text: a reader that closes the pipe ends the program.
  const std::string* svg = arguments.value("--svg");
  const auto failure = svg ? atomic_write(*svg, validation_svg(validation)) : std::nullopt;
  std::cout << (arguments.has("--json") ? validation_json(validation) : validation_text(validation));
  if (!failure) return kDone;
  print_problem(*failure);
  return kFileError;
}

}  // namespace

Command validate_command() {
  return {
      "validate",
      "compare this program with measured runs",
      "SET.json... [--svg FILE] [--bands FILE] [--json]",
      "Reads a set of measured runs and builds the design of every row. Of training runs, compares "
      "the measured step time, and the measured peak memory of the worst rank, with the predictions. "
      "Where several runs are layouts of one workload, prints the regret of the predicted best "
      "layout, the rank correlation, and how often the effect of one setting has the right sign. "
      "Where the set lists failed runs, prints which runs are predicted to succeed. Of serving "
      "points, simulates the requests, and compares TTFT, TPOT, ITL, end-to-end time, throughput and "
      "the tokens of the KV cache, where the set has them. Prints the error of every row, the mean "
      "error and the worst error; of serving points also the errors by GPU, model, engine and "
      "precision, and the rank correlation of configurations. Rows that no design can express are "
      "listed with the reason. No row is left out because its error is large. Says how many measured values "
      "lie in the 80 % bands of their predictions, if the bands are made without half of the set's rows, "
      "and without the set. --bands writes the errors of several sets, and of ratios of two runs of one "
      "workload, to the file from which bands are made.",
      {"shardscape-cli validate tests/data/measured/megatron_b200_8gpu.json",
       "shardscape-cli validate set.json --svg scatter.svg --json",
       "shardscape-cli validate --bands resources/accuracy/bands.json tests/data/measured/*.json"},
      {{"--svg", 0, FlagKind::Value, "FILE",
        "Write a picture to this file: predicted values over measured values.", "", Output::File},
       {"--bands", 0, FlagKind::Value, "FILE",
        "Write the errors of all given sets to this file, by accelerator, precision, kind of model and "
        "scale. The file bands.json in resources/accuracy, or in the same folder of the user's data, "
        "holds the errors from which the bands of predictions are made.",
        "", Output::File},
       json_flag()},
      kAnyNumber,
      run_validate};
}

}  // namespace shardscape
