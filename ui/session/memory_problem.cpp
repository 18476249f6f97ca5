#include "ui/session/memory_problem.h"

#include <QCoreApplication>
#include <algorithm>
#include <cmath>

#include "memory/memory_timeline.h"
#include "ui/toolkit/value_scale.h"

namespace shardscape::ui {
namespace {

QString tr(const char* text) { return QCoreApplication::translate("MemoryProblem", text); }

QString unbroken(QString text) { return text.replace(u' ', QChar(0xA0)); }

}  // namespace

Problem memoryNote(const std::string& warning) {
  return Problem::note(ProblemCode::MemoryMayNotFit, "memory", warning,
                       tr("another allocator setting, or a design that needs less memory").toStdString());
}

QString adviceEffect(const MemoryAdvice& advice, UnitSystem units) {
  const QString minus(QChar(0x2212));
  const QString saved = minus + unbroken(rank_bytes_text(advice.saved, units));
  if (!advice.time_percent) return saved;
  const double percent = *advice.time_percent;
  if (std::abs(percent) < 0.05) return saved + QStringLiteral(", ") + unbroken(tr("same time"));
  return saved + QStringLiteral(", ") + (percent < 0 ? minus : QStringLiteral("+")) +
         unbroken(tr("%1 % time")).arg(QString::number(std::abs(percent), 'f', 1));
}

Problem memoryProblem(const Report& report, const std::vector<MemoryAdvice>& advice, UnitSystem units) {
  const MemoryTimeline& memory = *report.memory;
  const StageMemory& worst = memory.stages[static_cast<size_t>(memory.peak_stage)];
  const QString machine = report.accelerator ? text_of(report.accelerator->name) : tr("accelerator");
  const QString stage = memory.stages.size() > 1 ? tr("stage %1").arg(memory.peak_stage) : tr("the design");
  const ValueScale scale = byte_scale(to_double(memory.capacity), units);
  Problem problem(ProblemCode::MemoryExceeded, "memory",
                  tr("does not fit: %1 needs %2 per GPU, %3 more than one %4 has")
                      .arg(stage, with_unit(worst.in_use, scale),
                           with_unit(worst.in_use - memory.capacity, scale), machine)
                      .toStdString(),
                  tr("at most %1").arg(capacity_text(memory.capacity, units)).toStdString());
  std::vector<MemoryAdvice> enough = advice;
  std::erase_if(enough, [](const MemoryAdvice& a) { return !a.fits; });
  std::stable_sort(enough.begin(), enough.end(), [](const MemoryAdvice& a, const MemoryAdvice& b) {
    return a.time_percent.value_or(0) < b.time_percent.value_or(0);
  });
  for (const MemoryAdvice& a : enough)
    problem.fixes.push_back(
        {QStringLiteral("%1 (%2)").arg(QString::fromStdString(a.what), adviceEffect(a, units)).toStdString(),
         a.settings});
  return problem;
}

}  // namespace shardscape::ui
