#include "performance/collective_table.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/data_dir.h"
#include "hardware/accelerator.h"
#include "model/json_reader.h"

namespace shardscape {
namespace {

using json = nlohmann::ordered_json;

std::vector<double> numbers(const JsonFile& file, const json& row, const std::string& key) {
  std::vector<double> out;
  for (const json& value : file.array(row, key)) {
    if (!value.is_number() || !(value.get<double>() > 0))
      file.fail(ProblemCode::DataValue, key, value.dump() + " in \"" + key + "\" is not a positive number",
                "numbers above 0");
    out.push_back(value.get<double>());
  }
  return out;
}

TimedRow read_row(const JsonFile& file, const json& entry) {
  if (!entry.is_object())
    file.fail(ProblemCode::DataValue, "collectives", entry.dump() + " is not a measured collective",
              "an object in braces");
  file.only(entry, {"op", "ranks", "per_domain", "in_network", "bytes", "us"});
  const std::string op = file.text(entry, "op");
  const std::optional<CollectiveKind> kind = find_collective_kind(op);
  if (!kind) {
    std::string accepted = "one of";
    for (int k = 0; k < kCollectiveKindCount; ++k)
      accepted += " " + std::string(collective_kind_name(static_cast<CollectiveKind>(k)));
    file.fail(ProblemCode::DataValue, op, "\"" + op + "\" is not a collective", accepted);
  }
  TimedRow row{.op = *kind};
  row.ranks = file.integer(entry, "ranks");
  row.per_domain = file.integer_or(entry, "per_domain", row.ranks);
  const std::string what = op + " of " + std::to_string(row.ranks) + " ranks";
  if (row.ranks < 2) file.fail(ProblemCode::DataValue, "ranks", what + " moves no data", "2 ranks or more");
  if (row.per_domain < 1 || row.per_domain > row.ranks || row.ranks % row.per_domain != 0)
    file.fail(ProblemCode::DataValue, "per_domain",
              what + " with " + std::to_string(row.per_domain) + " in a domain", "a divisor of the ranks");
  if (entry.contains("in_network"))
    (file.boolean_or(entry, "in_network", true) ? row.by_ranks : row.in_network) = false;
  row.bytes = numbers(file, entry, "bytes");
  row.us = numbers(file, entry, "us");
  if (row.bytes.size() != row.us.size() || row.bytes.size() < 2)
    file.fail(ProblemCode::DataValue, "bytes",
              what + " has " + std::to_string(row.bytes.size()) + " sizes and " +
                  std::to_string(row.us.size()) + " times",
              "as many sizes as times, at least 2");
  if (std::adjacent_find(row.bytes.begin(), row.bytes.end(), std::greater_equal<>()) != row.bytes.end())
    file.fail(ProblemCode::DataValue, "bytes", "the sizes of " + what + " do not ascend", "ascending sizes");
  return row;
}

// Runs `read`. A DataError becomes a problem, and the data concerned is left out.
template <class F>
void guarded(std::vector<Problem>& problems, F&& read) {
  try {
    read();
  } catch (const DataError& error) {
    problems.push_back(error.problem);
  }
}

std::vector<TimedRow> read_rows(const JsonFile& file, std::vector<Problem>& problems) {
  std::vector<TimedRow> rows;
  if (!file.root().contains("collectives")) return rows;
  for (const json& entry : file.array(file.root(), "collectives"))
    guarded(problems, [&] { rows.push_back(read_row(file, entry)); });
  return rows;
}

bool same_case(const TimedRow& a, const TimedRow& b) {
  return a.op == b.op && a.ranks == b.ranks && a.per_domain == b.per_domain && a.in_network == b.in_network &&
         a.by_ranks == b.by_ranks;
}

struct Tables {
  struct Draft {
    SourcedRows nccl, engine;
    double scaleup_gbps = 0;
  };
  std::map<std::string, CollectiveTable, std::less<>> tables;
  std::vector<Problem> problems;

  Tables() {
    std::map<std::string, Draft> drafts;
    for (const auto& path : data_files("resources/calibration"))
      guarded(problems, [&] { read(path, drafts); });
    for (auto& [id, draft] : drafts) {
      if (draft.nccl.rows.empty()) continue;
      const Accelerator* known = find_accelerator(id);
      const double gbps = draft.scaleup_gbps > 0 ? draft.scaleup_gbps : known ? known->scaleup_gbps : 0;
      tables.emplace(id, CollectiveTable(draft.nccl.rows, gbps, draft.nccl.source, std::move(draft.engine)));
    }
  }

  void read(const std::filesystem::path& path, std::map<std::string, Draft>& drafts) {
    auto text = read_text(path);
    if (auto* problem = std::get_if<Problem>(&text)) throw DataError{*problem};
    // Files without collectives are skipped: calibration_file.cpp reports their mistakes.
    if (std::get<std::string>(text).find("\"collectives\"") == std::string::npos) return;
    const JsonFile file(std::get<std::string>(text), path.string());
    if (path.parent_path().filename() == "collectives")
      file.only(file.root(), {"note", "source", "inference", "accelerator", "accelerators", "scaleup_gbps",
                              "collectives"});
    std::vector<std::string> ids;
    if (file.root().contains("accelerator"))
      ids.push_back(file.text(file.root(), "accelerator"));
    else
      for (const json& id : file.array(file.root(), "accelerators")) {
        if (!id.is_string())
          file.fail(ProblemCode::DataValue, "accelerators", id.dump() + " is not an accelerator's id",
                    "a string in quotes");
        ids.push_back(id.get<std::string>());
      }
    double gbps = 0;
    if (const auto it = file.root().find("scaleup_gbps"); it != file.root().end()) {
      gbps = it->is_number() ? it->get<double>() : 0;
      if (!(gbps > 0))
        file.fail(ProblemCode::DataValue, "scaleup_gbps", it->dump() + " is not a bandwidth",
                  "a number above 0");
    }
    const bool inference = file.boolean_or(file.root(), "inference", false);
    const std::vector<TimedRow> rows = read_rows(file, problems);
    for (const std::string& name : ids) {
      const Accelerator* known = find_accelerator(name);
      Draft& draft = drafts[known ? known->id : name];
      if (gbps > 0) draft.scaleup_gbps = gbps;
      auto& [all, source] = inference ? draft.engine : draft.nccl;
      source = file.text_or(file.root(), "source", path.filename().string());
      for (const TimedRow& row : rows) {
        const auto it = std::find_if(all.begin(), all.end(),
                                     [&](const TimedRow& r) { return same_case(r, row); });
        if (it == all.end())
          all.push_back(row);
        else
          *it = row;
      }
    }
  }
};

const Tables& tables() {
  static const Tables instance;
  return instance;
}

}  // namespace

TimeCurve::TimeCurve(TimedRow row) : row_(std::move(row)) {
  std::vector<double> us = row_.us;
  for (size_t i = us.size(); i-- > 1;) us[i - 1] = std::min(us[i - 1], us[i]);
  for (size_t i = 0; i < us.size(); ++i) {
    log_bytes_.push_back(std::log2(row_.bytes[i]));
    log_us_.push_back(std::log2(us[i]));
  }
  // Rate between the last two sizes; if they take the same time, the mean rate of the last size.
  const size_t last = us.size() - 1;
  const double more = us[last] - us[last - 1];
  rate_ = (more > 0 ? (row_.bytes[last] - row_.bytes[last - 1]) / more : row_.bytes[last] / us[last]) * 1e6;
}

double TimeCurve::seconds(double bytes) const {
  if (bytes <= row_.bytes.front()) return std::exp2(log_us_.front()) * 1e-6;
  if (bytes >= row_.bytes.back())
    return std::exp2(log_us_.back()) * 1e-6 + (bytes - row_.bytes.back()) / rate_;
  const double x = std::log2(bytes);
  const auto next = static_cast<size_t>(std::upper_bound(log_bytes_.begin() + 1, log_bytes_.end() - 1, x) -
                                        log_bytes_.begin());
  const double part = (x - log_bytes_[next - 1]) / (log_bytes_[next] - log_bytes_[next - 1]);
  return std::exp2(log_us_[next - 1] + part * (log_us_[next] - log_us_[next - 1])) * 1e-6;
}

CollectiveTable::CollectiveTable(const std::vector<TimedRow>& rows, double scaleup_gbps, std::string source,
                                 SourcedRows engine)
    : scaleup_gbps_(scaleup_gbps), source_(std::move(source)), engine_source_(std::move(engine.source)) {
  for (const TimedRow& row : rows) curves_.emplace_back(row);
  for (const TimedRow& row : engine.rows) engine_curves_.emplace_back(row);
  std::stable_sort(curves_.begin(), curves_.end(), [](const TimeCurve& a, const TimeCurve& b) {
    return a.row().op != b.row().op ? a.row().op < b.row().op : a.row().ranks < b.row().ranks;
  });
}

CollectiveTable::Nearest CollectiveTable::nearest(CollectiveKind op, bool in_network, int64_t ranks,
                                                  int64_t per_domain) const {
  Nearest found;  // of equal groups, the last one counts: the user's rows come last
  for (const TimeCurve& curve : curves_) {
    const TimedRow& row = curve.row();
    if (row.op != op || !(in_network ? row.in_network : row.by_ranks)) continue;
    if (row.per_domain != (per_domain == 0 ? row.ranks : per_domain) ||
        (per_domain != 0 && row.ranks == row.per_domain))
      continue;
    if (row.ranks <= ranks) found.below = &curve;
    if (row.ranks >= ranks && (!found.above || row.ranks == found.above->row().ranks)) found.above = &curve;
  }
  return found;
}

const TimeCurve* CollectiveTable::engine_kernel(CollectiveKind op, int64_t ranks) const {
  const auto it = std::find_if(engine_curves_.begin(), engine_curves_.end(), [&](const TimeCurve& curve) {
    const TimedRow& row = curve.row();
    return row.op == op && row.ranks == ranks && row.per_domain == ranks;
  });
  return it == engine_curves_.end() ? nullptr : &*it;
}

const CollectiveTable* collective_table(const std::string& accelerator) {
  const auto it = tables().tables.find(accelerator);
  return it == tables().tables.end() ? nullptr : &it->second;
}

const std::vector<Problem>& collective_table_problems() { return tables().problems; }

std::vector<TimedRow> read_collective_rows(const std::string& text, const std::string& name,
                                           std::vector<Problem>& problems) {
  std::vector<TimedRow> rows;
  guarded(problems, [&] {
    const JsonFile file(text, name);
    file.array(file.root(), "collectives");
    rows = read_rows(file, problems);
  });
  return rows;
}

}  // namespace shardscape
