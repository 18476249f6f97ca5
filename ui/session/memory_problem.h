// That a design does not fit, as a problem of its own kind besides those of validate(): the list of problems
// and the verdict agree.
#pragma once

#include <QString>
#include <vector>

#include "base/problem.h"
#include "base/units.h"
#include "memory/memory_advice.h"
#include "plan/report.h"

namespace shardscape::ui {

inline bool isMemoryProblem(const Problem& problem) { return problem.code == ProblemCode::MemoryExceeded; }
inline bool isOfMemory(const Problem& problem) {
  return isMemoryProblem(problem) || problem.code == ProblemCode::MemoryMayNotFit;
}

// Of a report whose memory does not fit. Fixes are the advice that makes it fit, the one that costs least
// time first.
Problem memoryProblem(const Report& report, const std::vector<MemoryAdvice>& advice, UnitSystem units);

// Of one that fits, but not under every setting of the allocator.
Problem memoryNote(const std::string& warning);

// "−64.3 GiB, +31.9 % time": breaks only after the comma.
QString adviceEffect(const MemoryAdvice& advice, UnitSystem units);

}  // namespace shardscape::ui
