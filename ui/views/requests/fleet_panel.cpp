#include "ui/views/requests/fleet_panel.h"

#include <QHBoxLayout>
#include <QLineEdit>
#include <utility>

#include "explore/fleet_candidates.h"
#include "explore/values.h"
#include "report/fleet_report.h"
#include "ui/session/page_settings.h"
#include "ui/session/session.h"
#include "ui/toolkit/file_slug.h"
#include "ui/views/requests/answer_models.h"
#include "ui/views/requests/bar_list.h"
#include "ui/views/requests/varied_settings.h"

namespace shardscape::ui {
namespace {

constexpr const char* kEngineGpus = "engine_gpus";  // where fleet_candidates() finds a mistake

QString entry_text(const FleetEntry& entry) {
  QStringList parts{accelerator_text(entry), text_of(entry.candidate.layout)};
  if (!entry.candidate.settings.empty()) parts << text_of(entry.candidate.settings);
  return parts.join(QStringLiteral(" · "));
}

QString gpus_text(int64_t accelerators) {
  return counted_text(accelerators, FleetPanel::tr("GPU"), FleetPanel::tr("GPUs"));
}

}  // namespace

FleetPanel::FleetPanel(Session* session, PageSettings* pages, QWidget* parent)
    : AnswerPanel(
          {QStringLiteral("fleet"), tr("Size the fleet"),
           tr("Finds, for each accelerator and layout of an engine, the least number of replicas that "
              "keeps the limits of the service level"),
           tr("The design becomes one engine of the selected fleet, in decode, and the settings get its "
              "replicas; one undo step"),
           tr("Cost of fleets")},
          session, pages, parent),
      varied_(new VariedSettings(pages->pages().service, this)),
      model_(new FleetModel(this)) {
  const auto field = [&](const char* name, const QString& label, const QString& hint, int width) {
    auto* line = new QLineEdit(this);
    line->setObjectName(QString::fromLatin1(name));
    line->setAccessibleName(label);
    line->setPlaceholderText(hint);
    line->setToolTip(label);
    line->setMinimumWidth(width);
    return line;
  };
  accelerators_ = field("fleet_accelerators", tr("Accelerators, separated by commas"),
                        tr("Accelerator of the design"), 190);
  engine_gpus_ = field("fleet_gpus", tr("GPUs of an engine, such as 1,2,4,8"), tr("Usual GPUs"), 100);
  tools()->insertWidget(0, accelerators_, 2);
  tools()->insertWidget(1, engine_gpus_, 1);
  addFields(varied_);
  connect(pages, &PageSettings::changed, varied_,
          [this] { varied_->setSpec(this->pages()->pages().service); });
  setTable(model_);
}

AnswerPanel::Compute FleetPanel::question() {
  FleetSpace space;
  for (const QString& id : accelerators_->text().split(u',', Qt::SkipEmptyParts))
    space.accelerators.push_back(id.trimmed().toStdString());
  space.settings = varied_->values();
  const std::string sizes = engine_gpus_->text().trimmed().toStdString();
  return [this, space, sizes, design = session()->design(), spec = pages()->pages().service,
          plans = session()->plans()](std::stop_token stop, const Progress& progress) -> Result<Show> {
    FleetSpace of = space;
    if (!sizes.empty()) {
      auto read = sweep_values(*find_knob("tp"), sizes);
      if (auto* problem = std::get_if<Problem>(&read)) {
        problem->where = kEngineGpus;
        return *std::move(problem);
      }
      of.engine_gpus = std::get<0>(std::move(read));
    }
    auto candidates = fleet_candidates(design, spec, of, stop);
    if (auto* problem = std::get_if<Problem>(&candidates)) return *std::move(problem);
    auto made = search_fleet(std::move(std::get<0>(candidates).list), spec, {}, stop, plans, progress);
    if (auto* problem = std::get_if<Problem>(&made)) return *std::move(problem);
    return Show([this, fleet = std::get<0>(std::move(made))] { show(fleet); });
  };
}

void FleetPanel::show(std::shared_ptr<const FleetSearch> fleet) {
  fleet_ = std::move(fleet);
  std::vector<BarRow> rows;
  bool priced = fleet_->sized > 0;
  for (size_t i = 0; i < fleet_->sized; ++i) priced = priced && fleet_->entries[i].dollars_per_hour;
  for (size_t i = 0; i < fleet_->sized; ++i) {
    const FleetEntry& entry = fleet_->entries[i];
    const double gpus = static_cast<double>(entry.accelerators);
    rows.push_back(
        {entry_text(entry),
         priced ? tr("$%1 per hour, %2")
                      .arg(text_of(significant(*entry.dollars_per_hour)), gpus_text(entry.accelerators))
                : gpus_text(entry.accelerators),
         priced ? *entry.dollars_per_hour : gpus, entry.monotone});
  }
  bars()->setRows(priced ? tr("Dollars per hour of fleets that keep the limits")
                         : tr("GPUs of fleets that keep the limits"),
                  std::move(rows));
  bars()->setMessage(tr("No kind of engine keeps the limits. The table has the reasons."));
  model_->setFleet(*fleet_);
}

QString FleetPanel::summary() const {
  if (fleet_->sized == 0) return tr("No kind of engine keeps the limits.");
  const FleetEntry& best = fleet_->entries.front();
  return tr("%1 with %2 on %3 is the cheapest fleet within %4.")
      .arg(entry_text(best), counted_text(best.replicas, tr("replica"), tr("replicas")),
           gpus_text(best.accelerators), text_of(level_text(promised_level(fleet_->spec))));
}

QString FleetPanel::reasonOf(int row) const {
  const FleetEntry& entry = fleet_->entries[static_cast<size_t>(row)];
  if (entry.end == FleetEnd::Sized) return {};
  return tr("%1: %2.").arg(entry_text(entry), end_words(entry));
}

QWidget* FleetPanel::fieldOf(const Problem& problem) const {
  if (problem.where == "accelerator") return accelerators_;
  if (problem.where == kEngineGpus) return engine_gpus_;
  return varied_->field(problem.where);
}

std::optional<AnswerPanel::Applied> FleetPanel::applied(int row) const {
  if (!fleet_ || row < 0 || row >= static_cast<int>(fleet_->sized)) return std::nullopt;
  const FleetEntry& entry = fleet_->entries[static_cast<size_t>(row)];
  Applied out{session()->design(), entry.candidate.spec, tr("fleet of %1").arg(entry_text(entry))};
  out.design.cluster = entry.candidate.design.cluster;
  out.design.parallel = entry.candidate.design.parallel;
  // Of one engine, in decode: the layout is valid there.
  out.design.workload = entry.candidate.design.workload;
  out.spec.replicas = entry.replicas;
  return out;
}

Picture FleetPanel::picture() const {
  const QString name = text_of(session()->design().name);
  Picture picture = bars()->picture(tr("%1, fleets").arg(name), slug(name) + QStringLiteral("-fleets"));
  if (fleet_) {
    picture.csv = [fleet = fleet_] { return text_of(fleet_csv(*fleet)); };
    picture.json = [fleet = fleet_] { return QByteArray::fromStdString(fleet_json(*fleet)); };
  }
  return picture;
}

}  // namespace shardscape::ui
