#include "ui/views/requests/varied_settings.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QPushButton>
#include <algorithm>

#include "explore/fleet_candidates.h"
#include "ui/toolkit/flow_layout.h"
#include "ui/toolkit/value_scale.h"

namespace shardscape::ui {
namespace {

constexpr int kFieldWidth = 130;

// "128, 256, 512" of 256; all choices of a choice.
QString usual_values(const ServiceSetting& setting, const ServiceSpec& spec) {
  const QString now = text_of(setting.text(spec));
  switch (setting.kind) {
    case SettingKind::Switch: return QStringLiteral("false, true");
    case SettingKind::Choice: {
      QStringList all;
      for (const char* choice : setting.choices) all << QString::fromLatin1(choice);
      return all.join(QStringLiteral(", "));
    }
    case SettingKind::Whole:
      if (const int64_t value = now.toLongLong(); value > 1)
        return QStringLiteral("%1, %2, %3").arg(value / 2).arg(value).arg(2 * value);
      break;
    case SettingKind::Number:
    case SettingKind::Numbers:
    case SettingKind::Seconds:
    case SettingKind::Level:
    case SettingKind::File: break;
  }
  return now;
}

}  // namespace

VariedSettings::VariedSettings(const ServiceSpec& spec, QWidget* parent) : QWidget(parent), spec_(spec) {
  setLayout(new FlowLayout(8, this));
  add_ = new QPushButton(tr("Vary a setting"), this);
  add_->setObjectName(QStringLiteral("fleet_vary"));
  add_->setProperty("link", true);
  add_->setToolTip(tr("Tries all combinations of the values of these settings for each engine"));
  menu_ = new QMenu(add_);
  connect(menu_, &QMenu::aboutToShow, this, &VariedSettings::fillMenu);
  connect(add_, &QPushButton::clicked, this,
          [this] { menu_->popup(add_->mapToGlobal(QPoint(0, add_->height()))); });
  layout()->addWidget(add_);
}

void VariedSettings::fillMenu() {
  menu_->clear();
  for (const ServiceSetting& setting : service_settings())
    if (fleet_varies(setting) && !check_engine(spec_, setting) && !field(setting.id))
      menu_->addAction(text_of(setting.label), this, [this, &setting] {
        QLineEdit* line = add(setting);
        line->setFocus(Qt::ShortcutFocusReason);
        line->selectAll();
      });
}

QLineEdit* VariedSettings::add(const ServiceSetting& setting) {
  if (QLineEdit* known = field(setting.id)) return known;
  Row row{&setting, new QWidget(this), nullptr};
  auto* line = new QHBoxLayout(row.widget);
  line->setContentsMargins(0, 0, 0, 0);
  line->setSpacing(4);
  row.values = new QLineEdit(usual_values(setting, spec_), row.widget);
  row.values->setObjectName(QStringLiteral("vary_") + QString::fromLatin1(setting.id));
  row.values->setAccessibleName(tr("Values of %1").arg(text_of(setting.label)));
  row.values->setToolTip(QStringLiteral("<p>%1</p><p>%2</p>")
                             .arg(text_of(setting.help).toHtmlEscaped(),
                                  tr("Values, separated by commas: %1").arg(text_of(setting.accepted()))));
  row.values->setMinimumWidth(kFieldWidth);
  auto* label = new QLabel(text_of(setting.label), row.widget);
  label->setBuddy(row.values);
  auto* drop = new QPushButton(QString(QChar(0x00D7)), row.widget);
  drop->setAccessibleName(tr("Do not vary %1").arg(text_of(setting.label)));
  drop->setToolTip(drop->accessibleName());
  drop->setProperty("narrow", true);
  connect(
      drop, &QPushButton::clicked, this, [this, id = std::string(setting.id)] { remove(id); },
      Qt::QueuedConnection);
  line->addWidget(label);
  line->addWidget(row.values);
  line->addWidget(drop);
  // The button stays last.
  layout()->removeWidget(add_);
  layout()->addWidget(row.widget);
  layout()->addWidget(add_);
  row.widget->show();
  rows_ << row;
  return row.values;
}

void VariedSettings::remove(const std::string& id) {
  const auto row = std::find_if(rows_.begin(), rows_.end(),
                                [&](const Row& r) { return r.setting->id == id; });
  if (row == rows_.end()) return;
  delete row->widget;
  rows_.erase(row);
  updateGeometry();
}

QLineEdit* VariedSettings::field(const std::string& id) const {
  const auto row = std::find_if(rows_.begin(), rows_.end(),
                                [&](const Row& r) { return r.setting->id == id; });
  return row == rows_.end() ? nullptr : row->values;
}

std::vector<std::pair<std::string, std::vector<std::string>>> VariedSettings::values() const {
  std::vector<std::pair<std::string, std::vector<std::string>>> out;
  for (const Row& row : rows_) {
    auto& values = out.emplace_back(row.setting->id, std::vector<std::string>{}).second;
    for (const QString& value : row.values->text().split(u',', Qt::SkipEmptyParts))
      values.push_back(value.trimmed().toStdString());
  }
  return out;
}

}  // namespace shardscape::ui
