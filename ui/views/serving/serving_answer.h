// The largest batch within the limits of a service, in words. No widgets.
#pragma once

#include <QString>

#include "serving/inference.h"

namespace shardscape::ui {

QString limits_words(const ServiceLimits& limits);  // "TTFT ≤ 2 s and TPOT ≤ 50 ms"
// "over the TTFT limit", "over both limits"; empty: the point keeps the limits.
QString broken_words(const ServedPoint& point, const ServiceLimits& limits);
// "$1.23 and 0.42 kWh per million output tokens"; empty: neither price nor power is known.
QString output_cost_words(const Design& design, const ServedPoint& point);
// "96 sequences, 41.2 tokens/s per GPU, $1.23 and 0.42 kWh per million output tokens"; "none".
QString answer_words(const ServingSweep& sweep, int64_t context);
// The context of the design if the sweep has it, else the first with an answer. 0: the sweep has no limits.
int64_t answered_context(const ServingSweep& sweep, int64_t own);

}  // namespace shardscape::ui
