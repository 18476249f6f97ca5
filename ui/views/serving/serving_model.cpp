#include "ui/views/serving/serving_model.h"

#include <algorithm>

#include "serving/within_limits.h"
#include "ui/plot/comparison_cells.h"
#include "ui/views/serving/serving_answer.h"

namespace shardscape::ui {
namespace {

enum Column {
  Context,
  Batch,
  Largest,
  First,
  Last,
  PromptRate,
  PromptRatePerGpu,
  PromptMicrobatch,
  PromptMemory,
  PromptFits,
  PerToken,
  Rate,
  RatePerGpu,
  Microbatch,
  Memory,
  Fits,
  Cache,
  Dollars,
  Energy,
  Breaks,
  Within,
  Remark
};

QString rate_text(double value) { return text_of(significant(value)); }
QString whole_text(double value) { return grouped_text(static_cast<Wide>(value)); }

QString remark_of(const ServedPoint& p, const ServiceLimits& limits, Mode mode) {
  if (const auto problem = point_problem(p)) return text_of(problem->what);
  if (!p.decode.fits && !p.prefill.fits) return ServingModel::tr("does not fit");
  if (!p.decode.fits) return ServingModel::tr("decode does not fit");
  if (!p.prefill.fits) return ServingModel::tr("prefill does not fit");
  if (const QString over = broken_words(p, limits); !over.isEmpty()) return over;
  if (p.within) return ServingModel::tr("largest within the limits");
  if (p.largest && mode == Mode::Decode) return ServingModel::tr("largest that fits");
  return {};
}

std::vector<TableColumn> own_columns(const std::vector<std::string>& raw) {
  const QString labels[] = {ServingModel::tr("Context"),
                            ServingModel::tr("Batch"),
                            ServingModel::tr("Largest"),
                            ServingModel::tr("TTFT\nfirst"),
                            ServingModel::tr("TTFT\nlast"),
                            ServingModel::tr("Prompt\ntokens/s"),
                            ServingModel::tr("Prompt\ntokens/s\nper GPU"),
                            ServingModel::tr("Prompt\nb"),
                            ServingModel::tr("Prompt\nmemory"),
                            ServingModel::tr("Prompts\nfit"),
                            ServingModel::tr("TPOT"),
                            ServingModel::tr("Tokens/s"),
                            ServingModel::tr("Tokens/s\nper GPU"),
                            ServingModel::tr("b"),
                            ServingModel::tr("Memory"),
                            ServingModel::tr("Fits"),
                            ServingModel::tr("KV cache"),
                            ServingModel::tr("$ per\nMtoken"),
                            ServingModel::tr("kWh per\nMtoken"),
                            ServingModel::tr("Over"),
                            ServingModel::tr("Within"),
                            ServingModel::tr("Remark")};
  const QString tips[] = {
      ServingModel::tr("Tokens of each sequence"),
      ServingModel::tr("Sequences at once, over all replicas"),
      {},
      ServingModel::tr("Time to first token of the first prompts"),
      ServingModel::tr("Time to first token of the last prompt, if all prompts arrive at once"),
      {},
      ServingModel::tr("Prompt tokens per second per GPU"),
      {},
      {},
      {},
      ServingModel::tr("Time per output token"),
      ServingModel::tr("Output tokens per second of the whole job"),
      ServingModel::tr("Output tokens per second per GPU"),
      ServingModel::tr("Sequences of a microbatch of decode"),
      ServingModel::tr("Highest memory in use of all ranks, in decode"),
      {},
      ServingModel::tr("Largest KV cache of all ranks"),
      ServingModel::tr("Dollars per million output tokens, at the price of CLUSTER"),
      ServingModel::tr("Energy per million output tokens"),
      {},
      {},
      {}};
  std::vector<TableColumn> columns;
  for (size_t c = 0; c < raw.size(); ++c)
    columns.push_back(
        {labels[c], text_of(raw[c]),
         c != Remark && c != Largest && c != Fits && c != PromptFits && c != Breaks && c != Within, tips[c]});
  return columns;
}

}  // namespace

QList<int> ServingModel::leftOut(Mode mode) {
  QList<int> out{Largest, PromptRate, PromptFits, Rate, Fits, Breaks, Within};
  return out << (mode == Mode::Decode ? QList<int>{PromptMicrobatch, PromptMemory}
                                      : QList<int>{Microbatch, Memory, Dollars, Energy});
}

void ServingModel::setSweep(const ServingSweep& sweep, Mode mode,
                            const std::vector<ServingCanvas::OtherDesign>& others, UnitSystem units) {
  const std::vector<std::vector<std::string>> raw = sweep_table(sweep);
  Rows rows;
  for (size_t r = 0; r < sweep.points.size(); ++r) {
    const ServedPoint& p = sweep.points[r];
    const SweptPhase &read = p.prefill, &made = p.decode, &shown = mode == Mode::Decode ? made : read;
    std::vector<TableCell> row(raw[r + 1].size(), no_cell());
    const auto put = [&](Column column, double sort, const QString& text) {
      row[column] = real_cell(sort, text);
    };
    put(Context, static_cast<double>(p.context), grouped_text(p.context));
    put(Batch, static_cast<double>(p.batch), grouped_text(p.batch));
    row[Largest] = text_cell(p.largest ? tr("yes") : QString());
    if (read.valid()) {
      put(First, read.figures.first_seconds, seconds_text(read.figures.first_seconds));
      put(Last, read.figures.seconds, seconds_text(read.figures.seconds));
      put(PromptRate, read.figures.tokens_per_second, whole_text(read.figures.tokens_per_second));
      put(PromptRatePerGpu, read.figures.tokens_per_gpu, rate_text(read.figures.tokens_per_gpu));
      put(PromptMicrobatch, static_cast<double>(read.microbatch), grouped_text(read.microbatch));
      put(PromptMemory, static_cast<double>(read.memory), bytes_text(read.memory, units));
      row[PromptMemory].alarm = !read.fits;
      row[Last].alarm = breaks_ttft(p, sweep.limits);
      row[PromptFits] = text_cell(read.fits ? tr("fits") : tr("does not fit"));
    }
    if (made.valid()) {
      put(PerToken, made.figures.seconds, seconds_text(made.figures.seconds));
      put(Rate, made.figures.tokens_per_second, whole_text(made.figures.tokens_per_second));
      put(RatePerGpu, made.figures.tokens_per_gpu, rate_text(made.figures.tokens_per_gpu));
      put(Microbatch, static_cast<double>(made.microbatch), grouped_text(made.microbatch));
      put(Memory, static_cast<double>(made.memory), bytes_text(made.memory, units));
      put(Cache, static_cast<double>(made.figures.kv_cache_bytes),
          bytes_text(made.figures.kv_cache_bytes, units));
      row[Memory].alarm = !made.fits;
      row[PerToken].alarm = breaks_tpot(p, sweep.limits);
      const RunningCost cost = output_cost(sweep.design, p);
      if (cost.dollars) put(Dollars, *cost.dollars, rate_text(*cost.dollars));
      if (cost.kwh) put(Energy, *cost.kwh, rate_text(*cost.kwh));
      row[Fits] = text_cell(made.fits ? tr("fits") : tr("does not fit"));
    }
    for (const Column column : {Breaks, Within}) row[column] = text_cell(text_of(raw[r + 1][column]));
    row[Remark] = text_cell(remark_of(p, sweep.limits, mode));
    for (size_t c = 0; c < row.size(); ++c) row[c].raw = text_of(raw[r + 1][c]);
    for (const ServingCanvas::OtherDesign& other : others) {
      const auto same = std::find_if(
          other.sweep->points.begin(), other.sweep->points.end(),
          [&](const ServedPoint& o) { return o.context == p.context && o.batch == p.batch; });
      const SweptPhase* theirs = same == other.sweep->points.end() ? nullptr
                                 : mode == Mode::Decode            ? &same->decode
                                                                   : &same->prefill;
      const auto rate = [](const SweptPhase* of) {
        return of && of->valid() ? std::optional(of->figures.tokens_per_gpu) : std::nullopt;
      };
      for (TableCell& cell : comparisonCells(rate(&shown), rate(theirs), rate_text))
        row.push_back(std::move(cell));
    }
    rows.push_back(std::move(row));
  }
  std::vector<TableColumn> columns = own_columns(raw.front());
  for (const ServingCanvas::OtherDesign& other : others)
    for (TableColumn& column :
         comparisonColumns(other.member, tr("tokens/s"), QStringLiteral("tokens per second and GPU"),
                           tr("Per GPU, with the same batch and context")))
      columns.push_back(std::move(column));
  assign(std::move(columns), std::move(rows));
}

}  // namespace shardscape::ui
