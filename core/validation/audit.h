// A recording against what this program says of the same design, line by line.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "plan/report.h"
#include "validation/mapping.h"
#include "validation/recording.h"

namespace shardscape {

enum class Verdict : uint8_t { Pass, Fail, Note };  // Note: shown, not judged
const char* verdict_name(Verdict verdict);          // "pass"

// One quantity of a line: "count", "elements"; expected is what was recorded.
struct AuditNumber {
  std::string name;
  Wide expected = 0, got = 0;
};

struct AuditLine {
  std::string section;  // "parameters", "FLOPs", "collectives", "saved bytes", "order"
  std::string what;     // "forward all_gather tp bfloat16"
  Verdict verdict = Verdict::Pass;
  std::vector<AuditNumber> numbers;
  std::string expected, got;  // lines that compare texts
  std::string remark;
};

struct Audit {
  Recording recording;
  Mapping mapping;
  std::vector<Problem> problems;         // why the mapped design has no report
  std::shared_ptr<const Report> report;  // nothing where it has none
  std::vector<AuditLine> lines;

  // Every field mapped, the design valid, something compared, no line failed.
  bool matches() const;
  size_t count(Verdict verdict) const;
};

Audit audit_recording(Recording recording);

}  // namespace shardscape
