#include "app/cli/audit_output.h"
#include "base/json_text.h"
#include "design/document.h"
#include "symbolic/json_value.h"

namespace shardscape {
namespace {

using Json = nlohmann::ordered_json;

Json line_json(const AuditLine& line) {
  Json out{{"section", line.section}, {"what", line.what}, {"pass", line.verdict != AuditVerdict::Fail}};
  for (const AuditNumber& n : line.numbers) {
    const std::string name = n.name.empty() ? "value" : n.name;
    out["expected"][name] = json_number(n.expected);
    out["got"][name] = json_number(n.got);
  }
  if (line.numbers.empty()) {
    out["expected"] = line.expected;
    out["got"] = line.got;
  }
  if (!line.remark.empty()) out["remark"] = line.remark;
  return out;
}

Json recording_json(const Audit& audit) {
  Json unmapped = Json::array(), problems = Json::array(), lines = Json::array();
  for (const UnmappedField& u : audit.mapping.unmapped)
    unmapped.push_back({{"field", u.field}, {"value", u.value}, {"reason", u.reason}});
  for (const Problem& p : audit.problems)
    problems.push_back(
        {{"code", code_text(p.code)}, {"where", p.where}, {"what", p.what}, {"accepted", p.accepted}});
  for (const AuditLine& line : audit.lines) lines.push_back(line_json(line));
  return {{"recording", audit.recording.name},
          {"code", code_base_label(audit.mapping.code)},
          {"matches", audit.matches()},
          {"not_mapped", unmapped},
          {"problems", problems},
          {"stage", audit.mapping.stage},
          {"design", is_sync_only(audit.mapping.code) ? Json() : Json::parse(to_json(audit.mapping.design))},
          {"lines", lines}};
}

}  // namespace

std::string audit_json(const std::vector<Audit>& audits) {
  Json list = Json::array();
  size_t matching = 0;
  for (const Audit& audit : audits) {
    list.push_back(recording_json(audit));
    matching += audit.matches();
  }
  return json_document(Json{{"matching", matching}, {"recordings", list}});
}

}  // namespace shardscape
