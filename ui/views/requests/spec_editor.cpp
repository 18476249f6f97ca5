#include "ui/views/requests/spec_editor.h"

#include <QPushButton>
#include <QVBoxLayout>
#include <optional>
#include <utility>

#include "ui/toolkit/setting_row.h"
#include "ui/toolkit/value_scale.h"

namespace shardscape::ui {
namespace {

constexpr int kWidth = 228;
constexpr int kMargin = 10;  // around the fields

}  // namespace

SpecEditor::SpecEditor(QWidget* parent) : QScrollArea(parent) {
  setObjectName(QStringLiteral("request_settings"));
  setAccessibleName(tr("Settings of the service"));
  setFrameShape(QFrame::NoFrame);
  setFocusPolicy(Qt::NoFocus);
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  setWidgetResizable(true);
  setFixedWidth(kWidth);
  auto* content = new QWidget(this);
  auto* rows = new QVBoxLayout(content);
  rows->setContentsMargins(kMargin, kMargin / 2, kMargin, kMargin);
  rows->setSpacing(6);
  for (const SettingGroup group :
       {SettingGroup::Requests, SettingGroup::Limits, SettingGroup::Engine, SettingGroup::Fleet})
    addSection(group, content);
  rows->addStretch(1);
  setWidget(content);
  setFolded(SettingGroup::Engine, true);
  setFolded(SettingGroup::Fleet, true);
  showEngine();
}

// Hides the settings of other engines. Their refused texts have no effect.
void SpecEditor::showEngine() {
  for (const auto& [id, row] : rows_) {
    const bool own = !check_engine(spec_, row->setting());
    row->setVisible(own);
    if (own || refused_.erase(id) == 0) continue;
    row->setProblem(nullptr);
    row->show(text_of(row->setting().text(spec_)));
  }
}

void SpecEditor::addSection(SettingGroup group, QWidget* content) {
  Section& section = sections_[group];
  section.header = new QPushButton(content);
  section.header->setObjectName(QStringLiteral("section_header"));
  section.header->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
  section.body = new QWidget(content);
  auto* rows = new QVBoxLayout(section.body);
  rows->setContentsMargins(2, 0, 0, 6);
  rows->setSpacing(5);
  for (const ServiceSetting& setting : service_settings()) {
    if (setting.group != group) continue;
    auto* row = new SettingRow(setting, section.body);
    row->show(text_of(setting.text(spec_)));
    rows->addWidget(row);
    rows_[setting.id] = row;
    connect(row, &SettingRow::edited, this, [this, row](const QString& text) { edit(row, text); });
  }
  content->layout()->addWidget(section.header);
  content->layout()->addWidget(section.body);
  connect(section.header, &QPushButton::clicked, this,
          [this, group] { setFolded(group, !sections_[group].body->isHidden()); });
  setFolded(group, false);
}

void SpecEditor::setFolded(SettingGroup group, bool folded) {
  const Section& section = sections_[group];
  section.body->setVisible(!folded);
  const QString name = text_of(group_label(group));
  section.header->setText((folded ? QStringLiteral("▸  ") : QStringLiteral("▾  ")) + name);
  section.header->setAccessibleName(name);
  section.header->setAccessibleDescription(folded ? tr("folded, press Space to open")
                                                  : tr("open, press Space to fold"));
}

void SpecEditor::edit(SettingRow* row, const QString& text) {
  const ServiceSetting& setting = row->setting();
  if (check_engine(spec_, setting)) return;  // of another engine: typed before that one was chosen
  ServiceSpec spec = spec_;
  std::optional<Problem> problem = set_setting(spec, setting, text.trimmed().toStdString());
  if (!problem) problem = check_spec(spec);
  row->setProblem(problem ? &*problem : nullptr);
  if (marked_ == row) marked_ = nullptr;
  if (problem) {
    refused_.insert(setting.id);
  } else {
    refused_.erase(setting.id);
    spec_ = std::move(spec);
    row->show(text_of(setting.text(spec_)));
    showEngine();
  }
  Q_EMIT changed();
}

void SpecEditor::setSpec(const ServiceSpec& spec) {
  if (spec == spec_ && refused_.empty()) return;
  spec_ = spec;
  refused_.clear();
  marked_ = nullptr;
  for (const auto& [id, row] : rows_) {
    row->show(text_of(row->setting().text(spec)));
    row->setProblem(nullptr);
  }
  showEngine();
}

SettingRow* SpecEditor::rowOf(const Problem& problem) const {
  if (const auto it = rows_.find(problem.where); it != rows_.end()) return it->second;
  // Problems of a file name its path, or its name and a line.
  for (const auto& [id, row] : rows_) {
    if (row->setting().kind != SettingKind::File) continue;
    const std::string path = row->setting().text(spec_), name = path.substr(path.rfind('/') + 1);
    if (!name.empty() && (problem.where.starts_with(path) || problem.where.starts_with(name))) return row;
  }
  return nullptr;
}

void SpecEditor::focusField(const std::string& id) {
  SettingRow* row = rows_.at(id);
  Q_EMIT fieldShown();
  setFolded(row->setting().group, false);
  row->field()->setFocus(Qt::ShortcutFocusReason);
  // A section that unfolds has its height after the next layout.
  QMetaObject::invokeMethod(
      this, [this, row] { ensureWidgetVisible(row); }, Qt::QueuedConnection);
}

bool SpecEditor::showProblem(const Problem* problem) {
  if (SettingRow* before = std::exchange(marked_, nullptr);
      before && !refused_.contains(before->setting().id))
    before->setProblem(nullptr);
  SettingRow* row = problem ? rowOf(*problem) : nullptr;
  if (!row) return false;
  marked_ = row;
  Q_EMIT fieldShown();
  setFolded(row->setting().group, false);
  row->setProblem(problem);
  return true;
}

}  // namespace shardscape::ui
