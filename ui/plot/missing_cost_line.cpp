#include "ui/plot/missing_cost_line.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <algorithm>

#include "design/knobs/knobs.h"
#include "ui/session/session.h"
#include "ui/toolkit/display_text.h"

namespace shardscape::ui {
namespace {

QString sentence(const MissingCost& missing) { return capitalized(QString::fromStdString(missing.what)); }

}  // namespace

QString missingCostText(const MissingCost& missing) {
  return MissingCostLine::tr("%1: set \"%2\" in Cluster")
      .arg(sentence(missing), QString::fromStdString(find_knob(missing.knob)->label));
}

QString missingCostTip(const ClusterSpec& cluster, const std::string& knob) {
  for (const MissingCost& missing : missing_costs({cluster}))
    if (missing.knob == knob) return missingCostText(missing);
  return {};
}

MissingCostLine::MissingCostLine(Session* session, QWidget* parent)
    : QWidget(parent), text_(new QLabel(this)) {
  setObjectName(QStringLiteral("missing_cost"));
  text_->setProperty("role", "small");
  text_->setWordWrap(true);
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(0, 0, 0, 0);
  row->setSpacing(8);
  row->addWidget(text_, 1);
  for (const char* id : {"price_per_hour", "board_power"}) {
    const QString knob = QString::fromLatin1(id);
    auto* field = new QPushButton(tr("Set %1").arg(QString::fromStdString(find_knob(id)->label).toLower()),
                                  this);
    field->setObjectName(QStringLiteral("set_") + knob);
    field->setProperty("link", true);
    field->setToolTip(tr("Goes to the field in Cluster"));
    field->setCursor(Qt::PointingHandCursor);
    connect(field, &QPushButton::clicked, session, [session, knob] { session->requestField(knob); });
    row->addWidget(field);
    fields_.push_back(field);
  }
  setVisible(false);
}

void MissingCostLine::setClusters(const std::vector<ClusterSpec>& clusters,
                                  const std::vector<ClusterSpec>& settable) {
  QStringList words;
  for (const MissingCost& missing : missing_costs(clusters)) words << sentence(missing);
  text_->setText(words.join(QStringLiteral(". ")));
  const std::vector<MissingCost> by_fields = missing_costs(settable);
  for (QPushButton* field : fields_)
    field->setVisible(std::any_of(by_fields.begin(), by_fields.end(), [&](const MissingCost& missing) {
      return field->objectName() == QStringLiteral("set_") + QString::fromStdString(missing.knob);
    }));
  setVisible(!words.isEmpty());
}

QString MissingCostLine::text() const { return text_->text(); }

}  // namespace shardscape::ui
