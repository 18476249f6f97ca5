// shardscape-cli calibrate
#include <iostream>
#include <nlohmann/json.hpp>

#include "app/cli/arguments.h"
#include "app/cli/command_list.h"
#include "app/cli/exit_code.h"
#include "app/cli/messages.h"
#include "app/cli/text.h"
#include "base/atomic_write.h"
#include "base/data_dir.h"
#include "base/json_text.h"
#include "base/units.h"
#include "performance/calibrate.h"
#include "profile/profile_ops.h"

namespace shardscape {
namespace {

using Json = nlohmann::ordered_json;

std::string accelerator_ids() {
  std::string out;
  for (const Accelerator& a : accelerators()) out += (out.empty() ? "" : ", ") + a.id;
  return out;
}

std::string error_text(const CalibrationResult& result) {
  std::vector<std::vector<std::string>> rows{
      {"", "rows", "median error", "90 % below", "held out: rows", "median error", "90 % below"}};
  const auto percent = [](double value) { return significant(value, 3) + " %"; };
  for (const CalibrationError& e : result.errors) {
    const bool held = e.held_out.rows > 0;
    rows.push_back({e.what, grouped(e.rows), percent(e.median_percent), percent(e.p90_percent),
                    held ? grouped(e.held_out.rows) : "-", held ? percent(e.held_out.median_percent) : "-",
                    held ? percent(e.held_out.p90_percent) : "-"});
  }
  std::string out = text_table(rows, {Align::Left, Align::Right, Align::Right, Align::Right, Align::Right,
                                      Align::Right, Align::Right});
  if (const size_t curves = result.calibration.collectives.size(); curves > 0) {
    out += std::to_string(curves) + (curves == 1 ? " curve" : " curves") +
           " of collectives, used as measured\n";
  }
  return out;
}

Json error_json(const CalibrationResult& result) {
  Json list = Json::array();
  for (const CalibrationError& e : result.errors) {
    list.push_back({{"what", e.what},
                    {"rows", e.rows},
                    {"median_percent", e.median_percent},
                    {"p90_percent", e.p90_percent},
                    {"held_out_rows", e.held_out.rows},
                    {"held_out_median_percent", e.held_out.median_percent},
                    {"held_out_p90_percent", e.held_out.p90_percent}});
  }
  return {{"accelerator", result.calibration.accelerator},
          {"errors", list},
          {"collective_curves", result.calibration.collectives.size()}};
}

Result<MeasuredOps> ops_of_profiles(const std::vector<std::string>& files) {
  ProfileOps ops;
  for (const std::string& file : files) {
    const auto read = read_profile(file);
    if (const auto* problem = std::get_if<Problem>(&read)) return *problem;
    const Profile& profile = std::get<Profile>(read);
    ops.add(profile);
    std::cerr << file << ": " << (profile.device.empty() ? "a device without a name" : profile.device)
              << "\n";
  }
  MeasuredOps out = ops.ops();
  if (ops.without_shape() > 0)
    std::cerr << grouped(ops.without_shape())
              << " matrix products and attentions are left out: the profile does not record their shapes or "
                 "masks, or PyTorch has no plain kernel for them\n";
  if (out.rows() == 0)
    return Problem(ProblemCode::ProfileFormat, files.front(), "the profile has no op to fit",
                   "a trace that was recorded with record_shapes=True");
  return out;
}

// From one table, or from profiles.
Result<MeasuredOps> ops_of(const std::vector<std::string>& operands) {
  auto files = profile_files(operands);
  if (auto* problem = std::get_if<Problem>(&files)) return std::move(*problem);
  const auto& paths = std::get<std::vector<std::string>>(files);
  if (looks_like_profile(paths.front())) return ops_of_profiles(paths);
  if (paths.size() > 1)
    return Problem(ProblemCode::ProfileFormat, paths[1], "a table of measured ops stands alone",
                   "one table, or any number of profiles");
  auto text = read_text(paths.front());
  if (auto* problem = std::get_if<Problem>(&text)) return std::move(*problem);
  return read_measured_ops(std::get<std::string>(text), paths.front());
}

int run_calibrate(const Arguments& arguments) {
  if (arguments.operands().empty()) {
    print_problem({ProblemCode::OperandMissing, "FILE", "the table of measured ops is missing",
                   "shardscape-cli calibrate ops.csv --accelerator h100"});
    return kWrongUsage;
  }
  const std::string* id = arguments.value("--accelerator");
  const Accelerator* accelerator = id ? find_accelerator(*id) : nullptr;
  if (!accelerator) {
    print_problem({ProblemCode::UnknownAccelerator, "--accelerator",
                   id ? "\"" + *id + "\" is not in the catalogue" : "the measured accelerator is missing",
                   accelerator_ids()});
    return kWrongUsage;
  }
  const std::string& path = arguments.operands().front();
  const auto ops = ops_of(arguments.operands());
  if (const auto* problem = std::get_if<Problem>(&ops)) return print_refusal(*problem);
  if (const auto problem = impossible_row(std::get<MeasuredOps>(ops), *accelerator, path)) {
    print_problem(*problem);
    return kNegativeAnswer;
  }
  const std::string* source = arguments.value("--source");
  const CalibrationResult result = calibrate(*accelerator, std::get<MeasuredOps>(ops),
                                             source ? *source : "measured: " + path);
  // The file is written before the text: a reader that closes the pipe ends the program.
  const std::string* output = arguments.value("--output");
  const auto failure = output ? atomic_write(*output, calibration_json(result.calibration)) : std::nullopt;
  std::cout << (arguments.has("--json") ? json_document(error_json(result)) : error_text(result));
  if (failure) {
    print_problem(*failure);
    return kFileError;
  }
  if (output) std::cerr << "wrote the calibration to " << *output << "\n";
  return kDone;
}

}  // namespace

Command calibrate_command() {
  return {
      "calibrate",
      "make a calibration file from measured ops",
      "FILE.csv | PROFILE.. --accelerator ID [-o OUT.json] [--source TEXT] [--json]",
      "Fits a table of measured kernels and collectives and writes a calibration file. Prints the errors of "
      "the fit: over all rows, and over half of the rows after a fit of the other half. In the folder "
      "~/.local/share/shardscape/resources/calibration/, the file replaces the built-in sections of the same "
      "kind and type. The first line of the table names the columns, in any order. A column that no row "
      "needs may be missing, and a field in brackets may be empty. Lines that begin with # are skipped. "
      "Every row has op and us (microseconds). op matmul: m, n, k of a product of m x k by k x n, [batch] "
      "products in one kernel, [dtype] of the operands (bfloat16 if empty). op attention: batch, heads, "
      "[kv_heads], queries, [keys], head_dim, [value_dim], [causal] 0 or 1, [backward], [window] in keys, "
      "[dtype]. op memory: bytes read and written. op all_reduce, all_gather, reduce_scatter, all_to_all, "
      "broadcast, reduce or send_recv: ranks, [per_domain] ranks in each scale-up domain, bytes of the full "
      "buffer (gathered output, full input of a reduction, whole send buffer). PROFILE: traces of the "
      "PyTorch "
      "profiler with record_shapes, one per rank, or a folder. Their matrix products and attention, copies "
      "inside the device, and collectives of known size become rows: the median of the calls of a shape, and "
      "of collectives the shortest call, because the others wait for late ranks.",
      {"shardscape-cli calibrate ops.csv --accelerator h100 -o my-h100.json",
       "shardscape-cli calibrate ops.csv --accelerator mi300x --source \"our cluster, ROCm 6.3\" -o "
       "mi300x.json",
       "shardscape-cli calibrate traces/ --accelerator h100 -o my-h100.json"},
      {{"--accelerator", 0, FlagKind::Value, "ID", "The measured accelerator: " + accelerator_ids() + ".",
        ""},
       {"--output", 'o', FlagKind::Value, "OUT", "Write the calibration to this file.", "", Output::File},
       {"--source", 0, FlagKind::Value, "TEXT",
        "The source of the numbers, which estimates will print; default: the path of FILE.", ""},
       json_flag()},
      kAnyNumber,
      run_calibrate};
}

}  // namespace shardscape
