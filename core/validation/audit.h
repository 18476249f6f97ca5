// Audit: a recording of real training code compared line by line with the report of the same design.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "plan/report.h"
#include "validation/mapping.h"
#include "validation/recording.h"

namespace shardscape {

enum class AuditVerdict : uint8_t { Pass, Fail, Note };  // Note: shown, but not judged
const char* verdict_name(AuditVerdict verdict);          // "pass"

// One quantity of a line, for example "count" or "elements".
struct AuditNumber {
  std::string name;
  Wide expected = 0, got = 0;  // recorded, computed here
};

struct AuditLine {
  std::string section;  // "parameters", "FLOPs", "collectives", "saved bytes", "order"
  std::string what;     // "forward all_gather tp bfloat16"
  AuditVerdict verdict = AuditVerdict::Pass;
  std::vector<AuditNumber> numbers;
  std::string expected, got;  // of lines that compare texts
  std::string remark;
};

struct Audit {
  Recording recording;
  Mapping mapping;
  std::vector<Problem> problems;         // why the mapped design has no report
  std::shared_ptr<const Report> report;  // null if the mapped design is invalid
  std::vector<AuditLine> lines;
  bool profile = false;  // the recording is a profile of PyTorch, and the design is given

  // Every field is mapped, the design is valid, at least one line is compared and no line fails.
  bool matches() const;
  size_t count(AuditVerdict verdict) const;
};

Audit audit_recording(Recording recording);

}  // namespace shardscape
