#include "ui/views/requests/request_inspection.h"

#include <QCoreApplication>

#include "ui/toolkit/value_scale.h"

namespace shardscape::ui {
namespace {

QString tr(const char* text) { return QCoreApplication::translate("RequestInspection", text); }
using Row = QPair<QString, QString>;

const RequestRecord& record_of(const ServiceRun& run, int request) {
  return run.simulation.requests[static_cast<size_t>(request)];
}

QString name_of(int request) { return tr("Request %1").arg(grouped_text(request + 1)); }

double cache_share(const ServiceRun& run, int64_t blocks) {
  const int64_t usable = run.simulation.usable_blocks;
  return usable > 0 ? static_cast<double>(blocks) / static_cast<double>(usable) : 0;
}

QString in_steps(int64_t some, int64_t all) {
  return some == all ? tr("in each of %1").arg(counted_text(all, tr("step"), tr("steps")))
                     : tr("in %1 of %2 steps").arg(grouped_text(some), grouped_text(all));
}

QString cache_words(const EngineSettings& engine) {
  const QString blocks = grouped_text(allocated_blocks(engine));
  const int32_t size = cache_block_size(engine);
  return size == 1 ? tr("%1 tokens").arg(blocks)
                   : tr("%1 blocks of %2 tokens").arg(blocks, grouped_text(size));
}

// "512 cached tokens were loaded from host memory for 30 ms"; empty: nothing was loaded before the first
// chunk.
QString load_words(const RequestRecord& record) {
  if (record.load_end == 0) return {};
  QStringList from;
  if (record.from_host > 0) from << tr("host memory");
  if (record.from_disk > 0) from << tr("disk");
  return tr("%1 were loaded from %2 for %3")
      .arg(counted_text(record.from_host + record.from_disk, tr("cached token"), tr("cached tokens")),
           from.join(tr(" and ")), seconds_text(record.load_seconds));
}

}  // namespace

QString wait_words(const ServiceRun& run, const RequestWait& wait) {
  switch (wait.reason) {
    case WaitReason::None: return {};
    case WaitReason::RunningStep: return tr("it waited for the end of the running step");
    case WaitReason::Sequences:
      return tr("all %1 sequences ran, %2")
          .arg(grouped_text(most_sequences(run.spec.engine)), in_steps(wait.sequences, wait.steps));
    case WaitReason::Tokens:
      return tr("the %1 tokens of a step were used up, %2")
          .arg(grouped_text(most_step_tokens(run.spec.engine)), in_steps(wait.tokens, wait.steps));
    case WaitReason::Blocks:
      return tr("the free cache blocks did not suffice, %1; up to %2 of the cache was in use")
          .arg(in_steps(wait.blocks, wait.steps), percent_text(cache_share(run, wait.most_blocks)));
    case WaitReason::Load:
      return tr("cached tokens came from host memory or disk, %1").arg(in_steps(wait.load, wait.steps));
    case WaitReason::Receipt:
      return tr("the engine looks for new requests every %1 steps, %2")
          .arg(grouped_text(run.spec.engine.sglang.scheduler_recv_interval),
               in_steps(wait.receipt, wait.steps));
  }
  return {};
}

QString request_line(const ServiceRun& run, const RequestWait& wait, int request) {
  const RequestRecord& record = record_of(run, request);
  if (record.end != RequestEnd::Finished)
    return tr("%1: refused, %2").arg(name_of(request), text_of(end_text(record.end)));
  QStringList reasons{wait_words(run, wait), load_words(record)};
  reasons.removeAll(QString());
  const QString why = reasons.join(tr("; "));
  return tr("%1: queued %2%3 · TTFT %4 · end to end %5")
      .arg(name_of(request), seconds_text(record.scheduled - record.arrival),
           why.isEmpty() ? QString() : tr(" (%1)").arg(why),
           seconds_text(record.first_token - record.arrival),
           seconds_text(record.last_token - record.arrival));
}

Inspection inspect_request(const ServiceRun& run, const RequestWait& wait, int request) {
  const RequestRecord& record = record_of(run, request);
  const Request& asked = run.workload.requests[static_cast<size_t>(request)];
  Inspection out;
  out.title = name_of(request);
  out.subtitle = tr("%1 prompt tokens, %2 output tokens")
                     .arg(grouped_text(asked.prompt), grouped_text(asked.output));
  out.rows << Row{tr("Arrival"), seconds_text(record.arrival)};
  if (record.end != RequestEnd::Finished) {
    out.rows << Row{tr("Refused"), text_of(end_text(record.end))};
    return out;
  }
  const double ttft = record.first_token - record.arrival, e2e = record.last_token - record.arrival;
  out.figures << Row{tr("TTFT"), seconds_text(ttft)};
  if (asked.output > 1) out.figures << Row{tr("TPOT"), seconds_text((e2e - ttft) / (asked.output - 1))};
  out.figures << Row{tr("End to end"), seconds_text(e2e)};
  out.rows << Row{tr("Queueing"), seconds_text(record.scheduled - record.arrival)}
           << Row{tr("First chunk"), seconds_text(record.scheduled)}
           << Row{tr("Chunks of the prompt"), grouped_text(record.chunks)}
           << Row{tr("First token"), seconds_text(record.first_token)}
           << Row{tr("Last token"), seconds_text(record.last_token)}
           << Row{tr("Cached prompt tokens"), grouped_text(record.cached)};
  if (record.from_host > 0)
    out.rows << Row{tr("From host memory"), counted_text(record.from_host, tr("token"), tr("tokens"))};
  if (record.from_disk > 0)
    out.rows << Row{tr("From disk"), counted_text(record.from_disk, tr("token"), tr("tokens"))};
  if (record.load_seconds > 0) out.rows << Row{tr("Load of the cache"), seconds_text(record.load_seconds)};
  out.rows << Row{tr("Preemptions"), grouped_text(record.preemptions)};
  if (run.spec.replicas > 1) out.rows << Row{tr("Engine"), grouped_text(record.replica + 1)};
  if (record.prefill_replica >= 0)
    out.rows << Row{tr("Prefill engine"), grouped_text(record.prefill_replica + 1)}
             << Row{tr("Wait for the transfer"), seconds_text(record.transfer_begin - record.prefilled)}
             << Row{tr("KV transfer"), seconds_text(record.transfer_end - record.transfer_begin)};
  if (record.restarts > 0) out.rows << Row{tr("Restarts after failures"), grouped_text(record.restarts)};
  QStringList reasons{wait_words(run, wait), load_words(record)};
  reasons.removeAll(QString());
  if (reasons.isEmpty()) return out;
  out.why_title = tr("Why did it wait?");
  const QString why = reasons.join(tr("; "));
  out.why = why.left(1).toUpper() + why.mid(1) + u'.';
  if (wait.steps > 0) {
    out.more_title = tr("While it was queued");
    out.more << Row{tr("Steps without it"), grouped_text(wait.steps)}
             << Row{tr("Most sequences"),
                    tr("%1 of %2")
                        .arg(grouped_text(wait.most_running), grouped_text(most_sequences(run.spec.engine)))};
    if (run.simulation.usable_blocks > 0)
      out.more << Row{tr("Most of the cache"), percent_text(cache_share(run, wait.most_blocks))};
  }
  return out;
}

QString step_line(const ServiceRun& run, size_t step) {
  const StepRecord& of = run.simulation.steps[step];
  QStringList parts;
  if (of.prefill_tokens > 0)
    parts << counted_text(of.prefill_tokens, tr("prompt token"), tr("prompt tokens"));
  if (of.decode_sequences > 0)
    parts << tr("%1 decode").arg(counted_text(of.decode_sequences, tr("sequence"), tr("sequences")));
  return tr("Step at %1, %2: %3").arg(seconds_text(of.begin), seconds_text(of.seconds), parts.join(tr(", ")));
}

Inspection inspect_engine_step(const ServiceRun& run, size_t step) {
  const StepRecord& of = run.simulation.steps[step];
  const StepBatch batch = batch_of(run.simulation, step);
  Inspection out;
  out.title = tr("Engine step");
  out.subtitle = run.spec.replicas > 1 ? tr("Engine %1 at %2").arg(of.replica + 1).arg(seconds_text(of.begin))
                                       : tr("At %1").arg(seconds_text(of.begin));
  out.figures << Row{tr("Duration"), seconds_text(of.seconds)};
  out.rows << Row{tr("Prompt tokens"), grouped_text(of.prefill_tokens)}
           << Row{tr("Chunks of prompts"), grouped_text(static_cast<Wide>(batch.chunks.size()))}
           << Row{tr("Decode sequences"), grouped_text(of.decode_sequences)};
  if (of.decode_sequences > 0)
    out.rows << Row{tr("Mean context"),
                    counted_text(of.decode_context / of.decode_sequences, tr("token"), tr("tokens"))};
  out.rows << Row{
      tr("Running sequences"),
      tr("%1 of %2").arg(grouped_text(of.running), grouped_text(most_sequences(run.spec.engine)))};
  if (run.simulation.usable_blocks > 0)
    out.rows << Row{tr("Cache in use"), percent_text(cache_share(run, of.blocks))};
  out.why_title = tr("What does this step compute?");
  out.why = tr(
      "One forward over the chunks and the decode sequences. \"Open\" shows the timeline and the graph "
      "of either part, as the design of one engine.");
  return out;
}

Inspection inspect_service(const ServiceRun& run, UnitSystem units) {
  Inspection out;
  const ServiceResults& r = run.results;
  out.title = tr("Requests to a service");
  out.subtitle = tr("%1, %2").arg(counted_text(run.spec.replicas, tr("engine"), tr("engines")),
                                  counted_text(run.accelerators, tr("GPU"), tr("GPUs")));
  out.rows << Row{tr("Answered"), grouped_text(r.finished)} << Row{tr("Refused"), grouped_text(r.refused)}
           << Row{tr("Duration"), seconds_text(r.seconds)}
           << Row{tr("Engine steps"), grouped_text(run.simulation.step_count)}
           << Row{tr("Cache of an engine"), cache_words(run.spec.engine)};
  if (const CacheCapacity& cache = run.cache; cache.cache > 0) {
    out.more_title = tr("Memory of an accelerator");
    out.more << Row{tr("Usable"), bytes_text(cache.usable, units)}
             << Row{tr("Weights"), bytes_text(cache.states, units)}
             << Row{tr("Largest step"), bytes_text(cache.activations, units)}
             << Row{tr("Runtime"), bytes_text(cache.runtime, units)}
             << Row{tr("KV cache"), bytes_text(cache.cache, units)};
  }
  out.why_title = tr("What is simulated?");
  out.why = tr("The engines of the current design answer requests over time, step by step, as the scheduler "
               "of "
               "%1 does. The seconds of a step follow from the graph and the kernels of the design. Select "
               "a request in the timeline to see why it waited.")
                .arg(text_of(engine_name(run.spec.engine.engine)));
  return out;
}

}  // namespace shardscape::ui
