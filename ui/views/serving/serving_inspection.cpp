#include "ui/views/serving/serving_inspection.h"

#include <QCoreApplication>
#include <algorithm>

#include "report/campaign_report.h"
#include "serving/within_limits.h"
#include "ui/session/comparisons.h"
#include "ui/toolkit/value_scale.h"
#include "ui/views/serving/serving_answer.h"

namespace shardscape::ui {
namespace {

QString tr_serving(const char* text) { return QCoreApplication::translate("ServingInspection", text); }
QString seconds(double value) { return text_of(format_seconds(value)); }
QString rate(double value) { return text_of(significant(value)); }
QString whole(double value) { return grouped_text(static_cast<Wide>(value)); }

using Row = QPair<QString, QString>;
using Rows = QVector<Row>;

void add_memory(Rows& rows, const SweptPhase& of, UnitSystem units) {
  rows << Row{tr_serving("Memory"),
              bytes_text(of.memory, units) + (of.fits ? QString() : tr_serving(", does not fit"))}
       << Row{tr_serving("Sequences of a microbatch"), grouped_text(of.microbatch)};
}

// ", over the limit of 50 ms"
QString over(double value, const std::optional<double>& limit) {
  return limit && value > *limit ? tr_serving(", over the limit of %1").arg(text_of(limit_text(*limit)))
                                 : QString();
}

Rows decode_rows(const ServedPoint& point, const ServingCanvas& canvas, UnitSystem units) {
  const SweptPhase& of = point.decode;
  if (!of.valid()) return {{tr_serving("Decode"), text_of(of.problem->what)}};
  Rows rows{{tr_serving("Time per output token"),
             seconds(of.figures.seconds) + over(of.figures.seconds, canvas.limits().tpot)},
            {tr_serving("Tokens/s to each sequence"), rate(1 / of.figures.seconds)},
            {tr_serving("Tokens/s"), whole(of.figures.tokens_per_second)},
            {tr_serving("Tokens/s per GPU"), rate(of.figures.tokens_per_gpu)},
            {tr_serving("KV cache"), bytes_text(of.figures.kv_cache_bytes, units)}};
  const RunningCost cost = output_cost(canvas.served(), point);
  if (cost.dollars)
    rows << Row{tr_serving("Dollars per million tokens"), text_of(dollars_text(*cost.dollars))};
  if (cost.kwh) rows << Row{tr_serving("kWh per million tokens"), rate(*cost.kwh)};
  add_memory(rows, of, units);
  return rows;
}

Rows prefill_rows(const ServedPoint& point, const ServingCanvas& canvas, UnitSystem units) {
  const SweptPhase& of = point.prefill;
  if (!of.valid()) return {{tr_serving("Prefill"), text_of(of.problem->what)}};
  Rows rows{{tr_serving("Time to first token, last prompt"),
             seconds(of.figures.seconds) + over(of.figures.seconds, canvas.limits().ttft)}};
  if (of.figures.first_seconds < 0.999 * of.figures.seconds)
    rows << Row{tr_serving("Time to first token, first prompts"), seconds(of.figures.first_seconds)};
  rows << Row{tr_serving("Prompt tokens/s"), whole(of.figures.tokens_per_second)}
       << Row{tr_serving("Prompt tokens/s per GPU"), rate(of.figures.tokens_per_gpu)};
  add_memory(rows, of, units);
  return rows;
}

}  // namespace

Inspection inspect_served_point(const ServingCanvas& canvas, int at, Mode mode, UnitSystem units) {
  const ServedPoint& p = canvas.point(at);
  const bool decodes = mode == Mode::Decode;
  Inspection out;
  out.title = tr_serving("%1 sequences of %2 tokens").arg(grouped_text(p.batch), grouped_text(p.context));
  const auto& now = canvas.present();
  if (now && now->batch == p.batch && now->context == p.context)
    out.subtitle = tr_serving("batch and context of the current design");
  else if (p.within)
    out.subtitle = tr_serving("the largest batch of this context within the limits");
  else if (p.largest)
    out.subtitle = tr_serving("the largest decode batch of this context that fits");
  const Rows decode = decode_rows(p, canvas, units), prefill = prefill_rows(p, canvas, units);
  out.rows = decodes ? decode : prefill;
  for (const ServingCanvas::OtherDesign& other : canvas.others()) {
    const auto same = std::find_if(
        other.sweep->points.begin(), other.sweep->points.end(),
        [&](const ServedPoint& o) { return o.batch == p.batch && o.context == p.context; });
    const SweptPhase* theirs = same == other.sweep->points.end() ? nullptr
                               : decodes                         ? &same->decode
                                                                 : &same->prefill;
    const QString letter = Comparisons::letter(other.member);
    if (!theirs || !theirs->valid())
      out.rows << Row{letter, tr_serving("no point with this batch")};
    else
      out.rows << Row{letter,
                      tr_serving("%1, %2 tokens/s per GPU")
                          .arg(seconds(theirs->figures.seconds), rate(theirs->figures.tokens_per_gpu))};
  }
  out.more_title = decodes ? tr_serving("Prefill of these prompts") : tr_serving("Decode of these sequences");
  out.more = decodes ? prefill : decode;
  return out;
}

Inspection inspect_sweep(const ServingSweep& sweep, Mode mode) {
  Inspection out;
  out.title = tr_serving("Largest decode batch");
  out.subtitle = tr_serving("by context length");
  for (const auto& [context, batch] : sweep.largest)
    out.rows << Row{tr_serving("%1 tokens").arg(grouped_text(context)),
                    batch > 0 ? tr_serving("%1 sequences").arg(grouped_text(batch)) : tr_serving("none")};
  for (const auto& [context, batch] : sweep.within)
    out.more << Row{tr_serving("%1 tokens").arg(grouped_text(context)), answer_words(sweep, context)};
  if (!out.more.isEmpty())
    out.more_title = tr_serving("Largest batch with %1").arg(limits_words(sweep.limits));
  out.why_title = tr_serving("What is swept?");
  out.why = mode == Mode::Decode
                ? tr_serving(
                      "Every batch with every context: the time per output token, and the tokens per second. "
                      "Select a point for its figures; Enter makes the point the current design.")
                : tr_serving(
                      "Every batch of prompts with every length: the time to first token of the last prompt. "
                      "Select a point for its figures; Enter makes the point the current design.");
  out.why += QLatin1Char(' ') +
             tr_serving(
                 "TTFT is the time to the first token of the last prompt when all prompts of the batch "
                 "arrive at once. Prompts that arrive one after the other wait for fewer others.");
  return out;
}

}  // namespace shardscape::ui
