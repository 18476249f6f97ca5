#include <nlohmann/json.hpp>

#include "base/json_text.h"
#include "base/units.h"
#include "bundle/checker.h"

namespace shardscape {

std::string finding_place(const Finding& f) {
  std::string text;
  if (f.rank >= 0) text += " rank " + std::to_string(f.rank);
  if (f.node >= 0) text += " node " + std::to_string(f.node);
  return text;
}

std::string check_text(const CheckReport& report) {
  std::string text;
  for (const Finding& f : report.findings)
    text += std::string(f.error ? "error " : "warning ") + f.code + finding_place(f) + ": " + f.message +
            "\n";
  const int64_t errors = finding_count(report.findings, true),
                warnings = finding_count(report.findings, false);
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
         grouped(errors) + " errors, " + grouped(warnings) + " warnings\n";
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
  j["errors"] = finding_count(report.findings, true);
  j["warnings"] = finding_count(report.findings, false);
  j["findings"] = nlohmann::ordered_json::array();
  for (const Finding& f : report.findings) {
    nlohmann::ordered_json entry;
    entry["severity"] = f.error ? "error" : "warning";
    entry["code"] = f.code;
    if (f.rank >= 0) entry["rank"] = f.rank;
    if (f.node >= 0) entry["node"] = f.node;
    entry["message"] = f.message;
    if (f.count > 1) entry["count"] = f.count;
    j["findings"].push_back(std::move(entry));
  }
  return json_document(j);
}

}  // namespace shardscape
