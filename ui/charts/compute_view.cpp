#include "ui/charts/compute_view.h"

#include <QButtonGroup>
#include <QHBoxLayout>
#include <QPushButton>

#include "ui/charts/compute_inspection.h"
#include "ui/charts/flops_bars.h"
#include "ui/charts/stage_chart.h"

namespace shardscape::ui {

ComputeView::ComputeView(Session* session, QWidget* parent)
    : ChartPage(session, tr("Compute of one rank in a step, by stage"), QStringLiteral("compute"), parent),
      model_(new FlopsModel(this)) {
  auto* choice = new QButtonGroup(this);
  const auto add = [&](const QString& text, const QString& tip, FlopsConvention convention) {
    auto* button = new QPushButton(text, this);
    button->setCheckable(true);
    button->setToolTip(tip);
    choice->addButton(button);
    controls()->addWidget(button);
    connect(button, &QPushButton::clicked, this, [this, convention] { setConvention(convention); });
    return button;
  };
  counted_ = add(tr("Counted"), tr("What the kernels execute: full products, scores computed again in the backward pass"),
                 FlopsConvention::Counted);
  useful_ =
      add(tr("Useful"), tr("Without what the causal mask discards and kernels compute again"), FlopsConvention::Useful);
  counted_->setChecked(true);
  start(model_, {FlopsModel::Stage});
}

void ComputeView::setConvention(FlopsConvention convention) {
  counted_->setChecked(convention == FlopsConvention::Counted);
  useful_->setChecked(convention == FlopsConvention::Useful);
  if (convention == convention_) return;
  convention_ = convention;
  refresh(true);
}

BarData ComputeView::bars(const Report& report) const {
  BarData data = flops_bars(report, convention_);
  data.title = convention_ == FlopsConvention::Counted ? tr("Counted FLOPs of one rank in a step, by stage")
                                                       : tr("Useful FLOPs of one rank in a step, by stage");
  return data;
}

void ComputeView::fillTable(const Report& report) { model_->setReport(report, session()->stage(), convention_); }

QString ComputeView::caption(const Report& report) const {
  const StageReport& stage = report.stages[static_cast<size_t>(session()->stage())];
  return tr("Stage %1: %2 counted, %3 useful")
      .arg(QString::number(stage.stage), flops_text(stage.flops_total), flops_text(stage.useful_flops_total));
}

QString ComputeView::csv(const Report& report) const {
  FlopsModel all;
  all.setReport(report, FlopsModel::kAllStages, convention_);
  return csv_text(all);
}

Inspection ComputeView::inspectBar(const Report& report, int stage, int series) const {
  const StageReport& of = report.stages[static_cast<size_t>(stage)];
  if (series == StageChart::kWholeStage) return inspect_stage_flops(report, of);
  return inspect_flops_segment(report, of, flops_segments(report, convention_)[static_cast<size_t>(series)]);
}

Inspection ComputeView::inspectRow(const Report& report, int row) const {
  const StageReport& stage = report.stages[static_cast<size_t>(session()->stage())];
  return inspect_flops(stage, stage.flops[static_cast<size_t>(row)]);
}

}  // namespace shardscape::ui
