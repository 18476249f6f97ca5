#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/units.h"
#include "bundle/checker.h"

namespace shardscape {
namespace {

std::string place(const Finding& f) {
  std::string text;
  if (f.rank >= 0) text += " rank " + std::to_string(f.rank);
  if (f.node >= 0) text += " node " + std::to_string(f.node);
  return text;
}

}  // namespace

std::string check_text(const CheckReport& report) {
  std::string text;
  for (const Finding& f : report.findings)
    text += std::string(f.error ? "error " : "warning ") + f.code + place(f) + ": " + f.message + "\n";
  const auto errors = std::count_if(report.findings.begin(), report.findings.end(),
                                    [](const Finding& f) { return f.error; });
  const auto warnings = static_cast<int64_t>(report.findings.size()) - errors;
  text += grouped(report.ranks) + " ranks, " + grouped(report.nodes) + " nodes, " +
          grouped(report.collectives) + " collectives, " + grouped(report.sends) + " sends, " +
          format_bytes(report.bytes) + "\n";
  if (report.absent > 0)
    text += "a part of a job of " + grouped(report.ranks + report.absent) +
            " ranks: each trace is checked on its own; collectives and messages between ranks are not, and "
            "nothing is simulated";
  else
    text += report.finished ? "every rank finishes" : "not every rank finishes";
  return text + "; " + (report.ok() ? "the bundle is valid" : "the bundle is not valid") + ": " +
         std::to_string(errors) + " errors, " + std::to_string(warnings) + " warnings\n";
}

std::string check_json(const CheckReport& report) {
  nlohmann::ordered_json j;
  j["ok"] = report.ok();
  j["finished"] = report.finished;
  j["ranks"] = report.ranks;
  if (report.absent > 0) j["absent_ranks"] = report.absent;
  j["nodes"] = report.nodes;
  j["collectives"] = report.collectives;
  j["sends"] = report.sends;
  j["bytes"] = report.bytes;
  j["findings"] = nlohmann::ordered_json::array();
  for (const Finding& f : report.findings) {
    nlohmann::ordered_json entry;
    entry["severity"] = f.error ? "error" : "warning";
    entry["code"] = f.code;
    if (f.rank >= 0) entry["rank"] = f.rank;
    if (f.node >= 0) entry["node"] = f.node;
    entry["message"] = f.message;
    j["findings"].push_back(std::move(entry));
  }
  return j.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace shardscape
