#include "ui/inspector/memory_inspection.h"

#include <QCoreApplication>
#include <algorithm>

#include "memory/memory_timeline.h"
#include "ui/inspector/inspected_quantity.h"
#include "ui/toolkit/stage_text.h"
#include "ui/toolkit/value_scale.h"

namespace shardscape::ui {
namespace {

QString tr_memory(const char* text) { return QCoreApplication::translate("MemoryInspection", text); }

QString in_flight_reason(const Report& report, const StageReport& stage) {
  const int64_t pp = static_cast<int64_t>(report.stages.size());
  const ScheduleKind schedule = schedule_of(report.design.parallel);
  if (splits_backward(schedule)) {
    return tr_memory(
               "The schedule splits backward passes: the input gradient is computed at once, weight "
               "gradients follow later. Stage %1 therefore holds %2 until the last weight gradient. The "
               "formula counts, at the peak, layers times microbatches that wait for their backward pass "
               "(Lf), and layers times microbatches with deferred weight gradients (Lz), which keep the "
               "tensors that the weight gradients read. For the embedding these are nfe and nze, for the "
               "head nfh and nzh.")
        .arg(stage.stage)
        .arg(in_flight_text(stage));
  }
  if (schedule == ScheduleKind::OneFOneBPairs) {
    return tr_memory(
               "A forward pass runs at the same time as the backward pass of an earlier microbatch, so that "
               "each hides the all-to-all of the other. This needs one more forward pass in advance than "
               "1F1B, so stage %1 holds %2.")
        .arg(stage.stage)
        .arg(in_flight_text(stage));
  }
  if (schedule == ScheduleKind::Flexible) {
    return tr_memory(
               "The flexible schedule takes microbatches in groups through one virtual stage after the "
               "other, so that stage %1 holds %2. The formula counts, at the peak, layers times microbatches "
               "(Lf), and microbatches on the embedding (nfe) and on the head (nfh).")
        .arg(stage.stage)
        .arg(in_flight_text(stage));
  }
  if (stage.chunks.size() > 1) {
    return tr_memory(
               "Interleaved 1F1B takes microbatches in groups of pp = %1 through one virtual stage after the "
               "other. Before its first backward pass stage %2 runs 2 (pp - p - 1) + (v - 1) pp = %3 forward "
               "passes of one chunk each%5, so that it holds %4. The formula counts, at the peak, layers "
               "times microbatches (Lf), and microbatches on the embedding (nfe) and on the head (nfh).")
        .arg(pp)
        .arg(stage.stage)
        .arg(2 * (pp - stage.stage - 1) + (static_cast<int64_t>(stage.chunks.size()) - 1) * pp)
        .arg(in_flight_text(stage), schedule == ScheduleKind::OneFOneBForwardsFirst
                                        ? tr_memory(" (all of them where m = pp)")
                                        : QString());
  }
  const QString held = counted_text(stage.in_flight, tr_memory("microbatch"), tr_memory("microbatches"));
  if (schedule == ScheduleKind::GPipe) {
    return tr_memory(
               "GPipe runs the forward passes of all m = %1 microbatches before the first backward pass, so "
               "this stage holds the activations of %2 at once.")
        .arg(grouped_text(report.microbatches), held);
  }
  if (pp == 1) {
    return tr_memory(
               "Without pipeline stages each microbatch runs forward and backward before the next one "
               "starts, so the stage holds the activations of %1 at a time.")
        .arg(held);
  }
  if (schedule != ScheduleKind::OneFOneB)
    return tr_memory("Under this schedule stage %1 holds the activations of %2 at once.")
        .arg(stage.stage)
        .arg(held);
  return tr_memory(
             "Under 1F1B stage %1 starts nf = min(pp - p, m) = min(%2 - %1, %3) = %4 before its first "
             "backward pass frees one, so it holds the activations of %5 at once. The first stage holds the "
             "most, the last stage the fewest.")
      .arg(stage.stage)
      .arg(grouped_text(pp), grouped_text(report.microbatches),
           counted_text(stage.in_flight, tr_memory("forward pass"), tr_memory("forward passes")), held);
}

QString parameters_reason(const Report& report, const StageReport& stage) {
  const StageShape& shape = report.model->shapes[static_cast<size_t>(stage.shape)];
  QStringList parts;
  if (shape.first.tower_alone()) parts.append(tr_memory("the vision tower"));
  if (shape.first.embedding) parts.append(tr_memory("the embedding"));
  if (stage.layers > 0) parts.append(counted_text(stage.layers, tr_memory("layer"), tr_memory("layers")));
  if (shape.last) parts.append(tr_memory("the output head"));
  QString text = tr_memory("Stage %1 has %2: %3 parameters on one rank, stored as %4.")
                     .arg(QString::number(stage.stage), parts.join(tr_memory(" and ")),
                          grouped_text(stage.parameters.value),
                          text_of(dtype_name(report.design.workload.dtype)));
  const int64_t tp = report.design.parallel.tp;
  if (tp > 1)
    text += tr_memory(" Tensor parallelism splits the matrices over tp = %1 ranks; small vectors stay whole.")
                .arg(tp);
  if (report.design.parallel.dp > 1)
    text += tr_memory(" Each of the dp = %1 replicas has its own copy.").arg(report.design.parallel.dp);
  return text;
}

QString reason(const Report& report, const StageReport& stage, MemoryCategory category) {
  const WorkloadSpec& workload = report.design.workload;
  switch (category) {
    case MemoryCategory::Parameters: return parameters_reason(report, stage);
    case MemoryCategory::Gradients:
      return tr_memory(
                 "One gradient for each parameter of the rank, accumulated as %1 over the m = %2 "
                 "microbatches of the step, so it is there from the first backward pass to the optimizer.")
          .arg(text_of(dtype_name(workload.grad_dtype)), grouped_text(report.microbatches));
    case MemoryCategory::Optimizer:
      return tr_memory(
          "Mixed-precision Adam updates a master copy of each parameter with two moments; all three are kept "
          "between steps, whatever the batch.");
    case MemoryCategory::Activations: return in_flight_reason(report, stage);
    case MemoryCategory::Logits:
      if (stage.memory[static_cast<int>(category)].value == 0)
        return tr_memory("Only the last stage has the output head and the loss.");
      return tr_memory(
          "The output head of the last stage makes one score per token and vocabulary entry; the loss needs "
          "them until the backward pass of the same microbatch.");
    case MemoryCategory::KvCache:
      return trains(report.design)
                 ? tr_memory("Training has no KV cache.")
                 : tr_memory(
                       "The data that attention and mixers store about earlier tokens of every served "
                       "sequence: keys and values, compressed latents, or states of fixed size.");
    case MemoryCategory::Buffers:
      return tr_memory(
          "Short-lived tensors at the peak: results of running ops, activation gradients, gathered tensors, "
          "messages. Also workspaces, which stay allocated after their first use.");
    case MemoryCategory::Runtime:
      return tr_memory(
          "Memory outside of tensors: the device context with its kernels, communicator buffers, and memory "
          "that the allocator has reserved in segments but not handed out.");
  }
  return {};
}

void add_segments(Inspection& inspection, const Fragmentation& fragmentation, UnitSystem units) {
  const auto add = [&](const QString& name, const AllocatorUse& use) {
    QString text = tr_memory("%1, %2 unused")
                       .arg(rank_bytes_text(use.reserved, units), rank_bytes_text(use.unused(), units));
    if (!use.fits)
      text += tr_memory("; out of memory");
    else if (use.retries > 0)
      text += tr_memory("; the allocator empties its cache");
    inspection.rows.append({name, text});
  };
  add(tr_memory("Reserved, native segments"), fragmentation.native);
  add(tr_memory("Reserved, expandable segments"), fragmentation.expandable);
}

QString stage_subtitle(const StageReport& stage) {
  return layers_text(stage) + QStringLiteral(", ") + in_flight_text(stage);
}

}  // namespace

Inspection inspect_memory(const Report& report, const StageReport& stage, MemoryCategory category,
                          UnitSystem units) {
  const auto index = static_cast<size_t>(category);
  const StageMemory& memory = report.memory->stages[static_cast<size_t>(stage.stage)];
  const QString label = text_of(memory_category_label(category));
  const ValueScale scale = rank_memory_scale(static_cast<double>(memory.at_peak[index]), units);
  Inspection inspection;
  inspection.title = tr_memory("%1, stage %2").arg(label).arg(stage.stage);
  inspection.subtitle = category == MemoryCategory::Activations
                            ? tr_memory("saved for backward, %1").arg(in_flight_text(stage))
                            : tr_memory("on one rank, %1 of its memory")
                                  .arg(percent_text(static_cast<double>(memory.at_peak[index]) /
                                                    std::max<double>(1, static_cast<double>(memory.in_use))));
  if (index < kMemoryCategoryCount) {
    const Quantity& quantity = stage.memory[index];
    inspection.values.append(
        inspectedQuantity(label, quantity, stage.binding, rank_bytes_text(quantity.value, units)));
    for (const PartValue& part : stage.parts[index])
      inspection.rows.append({words(part.name), with_unit(part.bytes.value, scale)});
    inspection.rows.append({tr_memory("At the peak"), with_unit(memory.at_peak[index], scale)});
  } else {
    for (const MemoryContributor& contributor : memory.contributors)
      if (contributor.category == category)
        inspection.rows.append({words(contributor.name), with_unit(contributor.bytes, scale)});
  }
  inspection.why_title = tr_memory("Why this much?");
  inspection.why = reason(report, stage, category);
  return inspection;
}

Inspection inspect_stage_memory(const Report& report, const StageReport& stage, UnitSystem units,
                                const Fragmentation* segments) {
  Inspection inspection;
  inspection.title = tr_memory("Memory of stage %1").arg(stage.stage);
  inspection.subtitle = stage_subtitle(stage);
  inspection.values.append(inspectedQuantity(tr_memory("Parameters of one rank"), stage.parameters,
                                             stage.binding, grouped_text(stage.parameters.value)));
  const StageMemory& memory = report.memory->stages[static_cast<size_t>(stage.stage)];
  const ValueScale scale = rank_memory_scale(static_cast<double>(memory.in_use),
                                             units);  // parts and total in one unit
  for (int i = 0; i < kAllMemoryCategories; ++i) {
    inspection.rows.append({text_of(memory_category_label(static_cast<MemoryCategory>(i))),
                            with_unit(memory.at_peak[static_cast<size_t>(i)], scale)});
  }
  inspection.rows.append({tr_memory("Total"), with_unit(memory.in_use, scale)});
  inspection.rows.append({tr_memory("Allocated by tensors"), with_unit(memory.allocated, scale)});
  if (segments) add_segments(inspection, *segments, units);
  inspection.rows.append({tr_memory("Time of the peak"), text_of(memory.peak_text)});
  for (const PartValue& part : stage.host_memory)
    inspection.rows.append(
        {tr_memory("On the host: %1").arg(words(part.name)), bytes_text(part.bytes.value, units)});
  for (const HostValue& value : stage.host)
    inspection.rows.append(
        {tr_memory("Host: %1 %2, %3")
             .arg(text_of(host_op_name(value.op)), words(value.what), words(phase_name(value.phase))),
         tr_memory("%1 a step").arg(bytes_text(value.bytes.value, units))});
  inspection.why_title = tr_memory("Does it fit?");
  if (!report.accelerator) {
    inspection.why = tr_memory("The accelerator is not in the catalogue, so its capacity is not known.");
    return inspection;
  }
  const Wide capacity = report.accelerator->memory_bytes;
  const Wide free = capacity - memory.in_use;
  inspection.rows.append({tr_memory("Capacity"), capacity_text(capacity, units)});
  const Wide distance = free < 0 ? -free : free;
  const QString room = rank_bytes_text(distance, units);
  inspection.rows.append({free < 0 ? tr_memory("Missing") : tr_memory("Free"), room});
  const QString name = QString::fromStdString(report.accelerator->name);
  inspection
      .why = free < 0 ? tr_memory("No. Each GPU of this stage needs %1 more than one %2 has.").arg(room, name)
                      : tr_memory("Yes. %1 of one %2 stay free on each GPU of this stage.").arg(room, name);
  const auto largest = static_cast<int>(std::max_element(memory.at_peak.begin(), memory.at_peak.end()) -
                                        memory.at_peak.begin());
  const QString label = text_of(memory_category_label(static_cast<MemoryCategory>(largest)));
  inspection.why += tr_memory(" The largest part is %1, with %2.")
                        .arg(label.toLower(),
                             percent_text(static_cast<double>(memory.at_peak[static_cast<size_t>(largest)]) /
                                          std::max(1.0, static_cast<double>(memory.in_use))));
  return inspection;
}

}  // namespace shardscape::ui
