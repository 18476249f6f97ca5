#include "ui/views/explore/service_fields.h"

#include <QPushButton>
#include <QVBoxLayout>
#include <utility>

#include "ui/session/page_settings.h"
#include "ui/toolkit/setting_row.h"
#include "ui/toolkit/value_scale.h"

namespace shardscape::ui {
namespace {

// What most searches change; the page Requests has the rest. The search finds the rate.
constexpr const char* kFields[] = {"slo",    "ttft_limit", "tpot_limit", "e2e_limit",
                                   "engine", "requests",   "input_len",  "output_len"};

}  // namespace

ServiceFields::ServiceFields(PageSettings* pages, QWidget* parent) : QWidget(parent), pages_(pages) {
  setObjectName(QStringLiteral("goodput_service"));
  auto* rows = new QVBoxLayout(this);
  rows->setContentsMargins(0, 0, 0, 0);
  rows->setSpacing(5);
  for (const char* id : kFields) {
    auto* row = new SettingRow(*find_setting(id), this);
    rows->addWidget(row);
    rows_[id] = row;
    connect(row, &SettingRow::edited, this, [this, row](const QString& text) { edit(row, text); });
  }
  all_ = new QPushButton(tr("All settings of the service"), this);
  all_->setObjectName(QStringLiteral("goodput_all_settings"));
  all_->setProperty("link", true);
  all_->setToolTip(tr("Opens the page Requests. The search takes its requests and engine settings"));
  connect(all_, &QPushButton::clicked, this, &ServiceFields::allSettingsRequested);
  rows->addWidget(all_, 0, Qt::AlignLeft);
  connect(pages_, &PageSettings::changed, this, &ServiceFields::follow);
  follow();
}

const ServiceSpec& ServiceFields::spec() const { return pages_->pages().service; }

SettingRow* ServiceFields::row(const std::string& id) const {
  const auto it = rows_.find(id);
  return it == rows_.end() ? nullptr : it->second;
}

bool ServiceFields::showProblem(const Problem& problem) {
  SettingRow* at = row(problem.where);
  if (at) at->setProblem(&problem);
  return at != nullptr;
}

void ServiceFields::edit(SettingRow* row, const QString& text) {
  ServiceSpec spec = this->spec();
  std::optional<Problem> problem = set_setting(spec, row->setting(), text.trimmed().toStdString());
  if (!problem) problem = check_spec(spec);
  row->setProblem(problem ? &*problem : nullptr);
  if (problem) {
    refused_.insert(row->setting().id);
  } else {
    refused_.erase(row->setting().id);
    pages_->setService(spec);
    row->show(text_of(row->setting().text(spec)));
  }
  Q_EMIT edited();
}

// The page Requests, or another document, has other settings. A refused text stays until it is corrected.
void ServiceFields::follow() {
  for (const auto& [id, row] : rows_) {
    if (refused_.contains(id)) continue;
    row->show(text_of(row->setting().text(spec())));
    row->setProblem(nullptr);
  }
  Q_EMIT edited();
}

}  // namespace shardscape::ui
