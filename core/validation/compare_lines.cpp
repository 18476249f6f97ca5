#include "validation/compare_lines.h"

#include <algorithm>

namespace shardscape {

AuditLine exact_line(std::string section, std::string what, std::vector<AuditNumber> numbers) {
  const bool same = std::all_of(numbers.begin(), numbers.end(),
                                [](const AuditNumber& n) { return n.expected == n.got; });
  return {std::move(section),
          std::move(what),
          same ? AuditVerdict::Pass : AuditVerdict::Fail,
          std::move(numbers),
          "",
          "",
          ""};
}

AuditLine near_line(std::string what, Wide expected, Wide got) {
  const Wide off = got > expected ? got - expected : expected - got;
  const bool same = 100 * off <= expected;
  return {"saved bytes",
          std::move(what),
          same ? AuditVerdict::Pass : AuditVerdict::Fail,
          {{"bytes", expected, got}},
          "",
          "",
          same && off != 0 ? "within 1 %" : ""};
}

AuditLine order_line(std::string what, const std::vector<std::string>& expected,
                     const std::vector<std::string>& got) {
  const auto [e, g] = std::mismatch(expected.begin(), expected.end(), got.begin(), got.end());
  AuditLine line{"order", std::move(what), AuditVerdict::Pass, {}, "", "", ""};
  if (e == expected.end() && g == got.end()) {
    line.expected = line.got = std::to_string(expected.size()) + " in the same order";
    return line;
  }
  line.verdict = AuditVerdict::Fail;
  line.expected = e == expected.end() ? "end" : *e;
  line.got = g == got.end() ? "end" : *g;
  line.remark = "first difference at number " + std::to_string(e - expected.begin() + 1);
  return line;
}

void compare_volumes(const Volumes& expected, const Volumes& got, std::vector<AuditLine>& lines) {
  Volumes all = expected;
  all.insert(got.begin(), got.end());
  for (const auto& [key, unused] : all) {
    const auto e = expected.find(key), g = got.find(key);
    const Volume ev = e == expected.end() ? Volume{} : e->second, gv = g == got.end() ? Volume{} : g->second;
    lines.push_back(exact_line("collectives", key,
                               {{"count", ev.count, gv.count},
                                {"elements", ev.elements, gv.elements},
                                {"bytes", ev.bytes, gv.bytes}}));
    if (e == expected.end()) lines.back().remark = "not recorded";
    if (g == got.end()) lines.back().remark = "not computed";
  }
  if (all.empty()) lines.push_back(exact_line("collectives", "none", {{"count", 0, 0}}));
}

}  // namespace shardscape
