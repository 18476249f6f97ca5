#include "ui/views/requests/service_figures.h"

#include <QLabel>

#include "report/campaign_report.h"
#include "ui/plot/missing_cost_line.h"
#include "ui/toolkit/flow_layout.h"
#include "ui/toolkit/value_scale.h"

namespace shardscape::ui {
namespace {

constexpr int kGap = 14;
constexpr const char* kCaption = "caption";

QString rate_text(double rate) { return text_of(significant(rate)); }

}  // namespace

ServiceFigures::ServiceFigures(QWidget* parent) : QWidget(parent) {
  setObjectName(QStringLiteral("service_figures"));
  auto* line = new FlowLayout(kGap, this);
  setLayout(line);
  add(QStringLiteral("throughput"), tr("Answered"), tr("Answered requests per second"));
  add(QStringLiteral("goodput"), tr("Goodput"),
      tr("Requests per second that keep all limits of the service level"));
  add(QStringLiteral("output"), tr("Output"), tr("Output tokens per second, of all engines"));
  add(QStringLiteral("input"), tr("Prompts"), tr("Prompt tokens per second, of all engines"));
  add(QStringLiteral("cache"), tr("Cache"),
      tr("Share of the blocks of the KV cache that is in use: on average, and at most"));
  add(QStringLiteral("prefix_hits"), tr("Prefix hits"),
      tr("Share of the prompt tokens that were found in the cache"));
  add(QStringLiteral("preemptions"), tr("Preemptions"),
      tr("How often a running request lost its blocks and started again"));
  add(QStringLiteral("acceptance"), tr("Acceptance length"),
      tr("Tokens per step and sequence with speculative decoding: one and the accepted draft tokens"));
  add(QStringLiteral("dollars"), tr("Cost"), {});
  add(QStringLiteral("energy"), tr("Energy"), {});
  add(QStringLiteral("refused"), tr("Refused"), tr("Requests that can never run"));
}

void ServiceFigures::add(const QString& name, const QString& caption, const QString& tip) {
  auto* label = new QLabel(this);
  label->setObjectName(QStringLiteral("figure_") + name);
  label->setProperty(kCaption, caption);
  label->setProperty("role", "small");
  label->setTextFormat(Qt::RichText);
  label->setToolTip(tip);
  label->setTextInteractionFlags(Qt::TextSelectableByMouse);
  labels_ << label;
  layout()->addWidget(label);
}

QLabel* ServiceFigures::figure(const QString& name) const {
  return findChild<QLabel*>(QStringLiteral("figure_") + name);
}

void ServiceFigures::set(const QString& name, const QString& value, bool shown) {
  QLabel* label = figure(name);
  const QString caption = label->property(kCaption).toString();
  label->setText(QStringLiteral("%1 <b>%2</b>").arg(caption.toHtmlEscaped(), value.toHtmlEscaped()));
  label->setAccessibleName(caption + u' ' + value);
  label->setVisible(shown);
}

void ServiceFigures::setRun(const ServiceRun& run) {
  const ServiceResults& r = run.results;
  set(QStringLiteral("throughput"), tr("%1 requests/s").arg(rate_text(r.requests_per_second)));
  set(QStringLiteral("goodput"), tr("%1 requests/s").arg(rate_text(r.goodput)),
      request_limits(run.spec).any());
  set(QStringLiteral("output"), tr("%1 tokens/s").arg(rate_text(r.output_per_second)));
  set(QStringLiteral("input"), tr("%1 tokens/s").arg(rate_text(r.input_per_second)));
  set(QStringLiteral("cache"),
      tr("%1, at most %2").arg(percent_text(r.mean_cache), percent_text(r.peak_cache)),
      run.simulation.usable_blocks > 0);
  set(QStringLiteral("prefix_hits"), percent_text(r.prefix_hits));
  set(QStringLiteral("preemptions"), grouped_text(r.preemptions));
  set(QStringLiteral("acceptance"), text_of(significant(r.acceptance_length)), r.acceptance_length > 0);
  const ClusterSpec& cluster = run.design.cluster;
  set(QStringLiteral("dollars"),
      run.cost.dollars ? tr("%1 per million output tokens").arg(text_of(dollars_text(*run.cost.dollars)))
                       : tr("-"));
  figure(QStringLiteral("dollars"))->setToolTip(missingCostTip(cluster, "price_per_hour"));
  set(QStringLiteral("energy"),
      run.cost.kwh ? tr("%1 kWh per million output tokens").arg(rate_text(*run.cost.kwh)) : tr("-"));
  figure(QStringLiteral("energy"))->setToolTip(missingCostTip(cluster, "board_power"));
  set(QStringLiteral("refused"), grouped_text(r.refused), r.refused > 0);
}

}  // namespace shardscape::ui
