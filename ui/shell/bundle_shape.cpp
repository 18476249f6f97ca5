#include "ui/shell/bundle_shape.h"

#include <QCheckBox>
#include <QComboBox>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QSpinBox>
#include <tuple>

#include "astra_sim/packet_network.h"
#include "chakra/granularity.h"
#include "ui/toolkit/value_scale.h"

namespace shardscape::ui {
namespace {

constexpr int kMostSteps = 1000;
// What a compute node covers.
QString label(Granularity granularity) {
  switch (granularity) {
    case Granularity::Op: return BundleShape::tr("an op");
    case Granularity::Block: return BundleShape::tr("a block of a layer");
    case Granularity::Layer: return BundleShape::tr("a layer");
    case Granularity::Pass: return BundleShape::tr("a pass of a microbatch");
    case Granularity::BetweenCommunications: return BundleShape::tr("all compute between two communications");
  }
  return {};
}

}  // namespace

BundleShape::BundleShape(QWidget* parent)
    : QWidget(parent),
      granularity_(new QComboBox(parent)),
      steps_(new QSpinBox(parent)),
      ranks_(new QLineEdit(parent)),
      stages_(new QLineEdit(parent)),
      compact_(new QCheckBox(tr("Compact: one trace per rank class (shardscape-cli expand makes the bundle)"),
                             parent)),
      part_(new QWidget(parent)),
      networks_(new QWidget(parent)) {
  hide();  // its fields are in the form of the dialog
  granularity_->setObjectName("export_granularity");
  for (int i = 0; i <= static_cast<int>(Granularity::BetweenCommunications); ++i)
    granularity_->addItem(label(static_cast<Granularity>(i)), i);
  granularity_->setToolTip(
      tr("What a compute node covers. Coarser nodes make smaller traces with the same totals."));
  steps_->setObjectName("export_step_count");
  steps_->setRange(1, kMostSteps);
  steps_->setButtonSymbols(QAbstractSpinBox::NoButtons);  // arrow keys step
  steps_->setToolTip(tr("Steps in each trace, one after the other"));
  ranks_->setObjectName("export_ranks");
  ranks_->setPlaceholderText(tr("all"));
  ranks_->setToolTip(tr("Only the traces of these ranks, such as 0-1023 or 0,8,16"));
  stages_->setObjectName("export_stages");
  stages_->setPlaceholderText(tr("all"));
  stages_->setToolTip(tr("Only the traces of the ranks of these pipeline stages, such as 3 or 0-1"));
  compact_->setObjectName("export_compact");
  compact_->setToolTip(tr("The size does not grow with the number of replicas"));
  auto* line = new QHBoxLayout(part_);
  line->setContentsMargins(0, 0, 0, 0);
  line->setSpacing(8);
  for (const auto& [name, field] : {std::pair{tr("&Ranks"), ranks_}, {tr("Sta&ges"), stages_}}) {
    auto* label = new QLabel(name, part_);
    label->setBuddy(field);
    line->addWidget(label);
    line->addWidget(field, 1);
  }
  auto* backends = new QHBoxLayout(networks_);
  backends->setContentsMargins(0, 0, 0, 0);
  for (int i = 0; i < kPacketBackendCount; ++i) {
    const auto backend = static_cast<PacketBackend>(i);
    auto* box = new QCheckBox(text_of(backend_label(backend)), networks_);
    box->setObjectName("export_network_" + text_of(backend_name(backend)));
    box->setToolTip(tr(kNetworksHelp));
    connect(box, &QCheckBox::toggled, this, &BundleShape::changed);
    backends->addWidget(box);
    backends_.push_back(box);
  }
  backends->addStretch();
  connect(granularity_, &QComboBox::currentIndexChanged, this, &BundleShape::changed);
  connect(steps_, &QSpinBox::valueChanged, this, &BundleShape::changed);
  connect(ranks_, &QLineEdit::textChanged, this, &BundleShape::changed);
  connect(stages_, &QLineEdit::textChanged, this, &BundleShape::changed);
  connect(compact_, &QCheckBox::toggled, this, &BundleShape::changed);
}

void BundleShape::addRows(QFormLayout* form) {
  form_ = form;
  form->addRow(tr("&Node covers"), granularity_);
  form->addRow(tr("&Steps"), steps_);
  form->addRow(tr("Only"), part_);
  form->addRow(QString(), compact_);
  form->addRow(tr("Network files"), networks_);
}

std::optional<Problem> BundleShape::apply(const Report& report, ExportOptions& options) const {
  options.granularity = static_cast<Granularity>(granularity_->currentData().toInt());
  options.steps = steps_->value();
  options.compact = compact_->isChecked();
  for (size_t i = 0; i < backends_.size(); ++i)
    if (backends_[i]->isChecked()) options.networks.push_back(static_cast<PacketBackend>(i));
  const auto stages = static_cast<int64_t>(report.stages.size());
  const std::tuple<const QLineEdit*, const char*, int64_t, IndexRanges*> parts[] = {
      {ranks_, "ranks", report.ranks, &options.part.ranks},
      {stages_, "stages", stages, &options.part.stages}};
  for (const auto& [field, what, count, ranges] : parts) {
    const std::string text = field->text().simplified().remove(u' ').toStdString();
    if (text.empty()) continue;
    auto parsed = parse_index_ranges(text, field == ranks_ ? "Ranks" : "Stages", what, count);
    if (auto* problem = std::get_if<Problem>(&parsed)) return std::move(*problem);
    *ranges = std::get<IndexRanges>(std::move(parsed));
  }
  return std::nullopt;
}

void BundleShape::setAvailable(bool on) {
  for (QWidget* field : std::initializer_list<QWidget*>{granularity_, steps_, part_, compact_, networks_})
    field->setEnabled(on);
}

void BundleShape::setShown(bool on) {
  for (QWidget* field : std::initializer_list<QWidget*>{granularity_, steps_, part_, compact_, networks_}) {
    field->setVisible(on);
    if (QWidget* label = form_->labelForField(field)) label->setVisible(on);
  }
}

}  // namespace shardscape::ui
