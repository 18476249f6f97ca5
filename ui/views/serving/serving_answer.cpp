#include "ui/views/serving/serving_answer.h"

#include <QCoreApplication>
#include <QStringList>
#include <algorithm>

#include "report/campaign_report.h"
#include "serving/within_limits.h"
#include "ui/toolkit/value_scale.h"

namespace shardscape::ui {
namespace {

QString tr_answer(const char* text) { return QCoreApplication::translate("ServingAnswer", text); }

}  // namespace

QString limits_words(const ServiceLimits& limits) {
  return text_of(limits_text(limits)).replace(QStringLiteral("<="), QStringLiteral("≤"));
}

QString broken_words(const ServedPoint& point, const ServiceLimits& limits) {
  const bool first = breaks_ttft(point, limits), each = breaks_tpot(point, limits);
  if (first && each) return tr_answer("over both limits");
  return first ? tr_answer("over the TTFT limit") : each ? tr_answer("over the TPOT limit") : QString();
}

QString output_cost_words(const Design& design, const ServedPoint& point) {
  const RunningCost cost = output_cost(design, point);
  QStringList parts;
  if (cost.dollars) parts << text_of(dollars_text(*cost.dollars));
  if (cost.kwh) parts << text_of(significant(*cost.kwh)) + QStringLiteral(" kWh");
  return parts.isEmpty() ? QString()
                         : tr_answer("%1 per million output tokens").arg(parts.join(tr_answer(" and ")));
}

QString answer_words(const ServingSweep& sweep, int64_t context) {
  const auto at = std::find_if(sweep.points.begin(), sweep.points.end(),
                               [&](const ServedPoint& p) { return p.within && p.context == context; });
  if (at == sweep.points.end()) return tr_answer("none");
  QStringList parts{
      counted_text(at->batch, tr_answer("sequence"), tr_answer("sequences")),
      tr_answer("%1 tokens/s per GPU").arg(text_of(significant(at->decode.figures.tokens_per_gpu)))};
  if (const QString cost = output_cost_words(sweep.design, *at); !cost.isEmpty()) parts << cost;
  return parts.join(QStringLiteral(", "));
}

int64_t answered_context(const ServingSweep& sweep, int64_t own) {
  int64_t out = 0;
  for (const auto& [context, batch] : sweep.within) {
    if (context == own) return own;
    if (out == 0 && batch > 0) out = context;
  }
  return out == 0 && !sweep.within.empty() ? sweep.within.front().first : out;
}

}  // namespace shardscape::ui
