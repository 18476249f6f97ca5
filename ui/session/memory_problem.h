// The problem "does not fit in memory". validate() does not report it. The list of problems and the verdict
// both use it.
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

// For a report whose memory does not fit. The fixes are the advice that makes the design fit, the least step
// time first.
Problem memoryProblem(const Report& report, const std::vector<MemoryAdvice>& advice, UnitSystem units);

// For a report that fits, but not under every setting of the allocator.
Problem memoryNote(const std::string& warning);

// "−64.3 GiB, +31.9 % time": breaks only after the comma.
QString adviceEffect(const MemoryAdvice& advice, UnitSystem units);

}  // namespace shardscape::ui
