#include "app/cli/audit_output.h"
#include "app/cli/text.h"
#include "base/units.h"

namespace shardscape {
namespace {

// "5 x 167,772,160" for a collective; a plain number for other lines.
std::string numbers_text(const AuditLine& line, Wide AuditNumber::*side) {
  if (line.numbers.empty()) return side == &AuditNumber::expected ? line.expected : line.got;
  std::string out = grouped(line.numbers[0].*side);
  if (line.numbers.size() > 1) out += " x " + grouped(line.numbers[1].*side);
  return out;
}

// If counts are equal and sums of elements differ, the sizes differ; the table shows the sums.
std::string table(const Audit& audit) {
  std::vector<std::vector<std::string>> rows{{"", "", "recorded", "computed", ""}};
  for (const AuditLine& line : audit.lines)
    rows.push_back({line.section, line.what, numbers_text(line, &AuditNumber::expected),
                    numbers_text(line, &AuditNumber::got), verdict_name(line.verdict)});
  return text_table(rows, {Align::Left, Align::Left, Align::Right, Align::Right, Align::Left});
}

std::string verdict(const Audit& audit) {
  if (audit.matches())
    return "matches: " + std::to_string(audit.count(AuditVerdict::Pass)) + " of " +
           std::to_string(audit.lines.size()) + " lines pass";
  std::string out = "does not match: " + std::to_string(audit.count(AuditVerdict::Fail)) + " of " +
                    std::to_string(audit.lines.size()) + " lines fail";
  if (!audit.mapping.complete())
    out += ", " + std::to_string(audit.mapping.unmapped.size()) + " fields not mapped";
  if (audit.lines.empty()) out += ", no line could be compared";
  return out;
}

}  // namespace

std::string audit_text(const Audit& audit) {
  std::string out = audit.recording.name + " (" +
                    (audit.profile ? "profile" : code_base_label(audit.mapping.code)) + ")\n";
  for (const UnmappedField& u : audit.mapping.unmapped)
    out += wrapped("not mapped: " + u.field + (u.value.empty() ? "" : " = " + u.value) + ": " + u.reason, 4) +
           "\n";
  for (const Problem& p : audit.problems) out += wrapped("invalid: " + to_string(p), 4) + "\n";
  if (!audit.lines.empty()) out += table(audit);
  for (const AuditLine& line : audit.lines)
    if (!line.remark.empty() && line.verdict != AuditVerdict::Pass)
      out += wrapped(line.section + ", " + line.what + ": " + line.remark, 4) + "\n";
  return out + verdict(audit) + "\n";
}

std::string audit_summary(const std::vector<Audit>& audits) {
  std::vector<std::vector<std::string>> rows{{"recording", "pass", "fail", "not mapped", ""}};
  size_t matching = 0;
  for (const Audit& audit : audits) {
    matching += audit.matches();
    std::string why = audit.matches() ? "matches" : "";
    if (why.empty() && !audit.mapping.complete())
      why = audit.mapping.unmapped.front().field + ": " + audit.mapping.unmapped.front().reason;
    if (why.empty() && !audit.problems.empty()) why = to_string(audit.problems.front());
    for (const AuditLine& line : audit.lines)
      if (why.empty() && line.verdict == AuditVerdict::Fail) why = line.section + ", " + line.what;
    rows.push_back({audit.recording.name, std::to_string(audit.count(AuditVerdict::Pass)),
                    std::to_string(audit.count(AuditVerdict::Fail)),
                    std::to_string(audit.mapping.unmapped.size()), why});
  }
  return text_table(rows, {Align::Left, Align::Right, Align::Right, Align::Right, Align::Left}) +
         std::to_string(matching) + " of " + std::to_string(audits.size()) + " recordings match\n";
}

}  // namespace shardscape
