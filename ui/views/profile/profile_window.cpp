#include "ui/views/profile/profile_window.h"

#include <QBoxLayout>
#include <QComboBox>
#include <QFileInfo>
#include <QLabel>
#include <QPushButton>
#include <QShortcut>
#include <QSplitter>
#include <QStackedWidget>

#include "hardware/accelerator.h"
#include "ui/plot/chart_table.h"
#include "ui/session/session.h"
#include "ui/toolkit/elided_label.h"
#include "ui/toolkit/screen_room.h"
#include "ui/toolkit/segmented_control.h"
#include "ui/toolkit/theme.h"
#include "ui/toolkit/value_scale.h"
#include "ui/views/profile/profile_bars.h"
#include "ui/views/profile/profile_models.h"

namespace shardscape::ui {
namespace {

constexpr QSize kFirstSize(1020, 680);

QLabel* line(const QString& name, QWidget* parent) {
  auto* label = new QLabel(parent);
  label->setObjectName(name);
  label->setWordWrap(true);
  label->setTextInteractionFlags(Qt::TextSelectableByMouse);
  return label;
}

}  // namespace

ProfileWindow::ProfileWindow(Session* session, QWidget* parent)
    : FileWindow(QStringLiteral("profile"), tr("Profile"),
                 {tr("Parts"), tr("Collectives"), tr("Layers"), tr("Kernels"), tr("Ranks")}, parent),
      session_(session) {
  parts_ = new ProfilePartModel(this);
  collectives_ = new ProfileCollectiveModel(this);
  layers_ = new ProfileLayerModel(this);
  kernels_ = new ProfileKernelModel(this);
  rank_rows_ = new ProfileRankModel(this);
  addHead();
  stack()->addWidget(makeParts());
  const auto add = [&](Page page, const QString& name, const QString& accessible, TableModel* model) {
    tables_[page] = makeTable(name, accessible, model, stack());
    stack()->addWidget(tables_[page]);
  };
  add(Collectives, QStringLiteral("collectives"), tr("Collectives of a step"), collectives_);
  add(Layers, QStringLiteral("layers"), tr("Layers"), layers_);
  add(Kernels, QStringLiteral("kernels"), tr("Kernels, longest first"), kernels_);
  add(Ranks, QStringLiteral("ranks"), tr("Profiles of the ranks"), rank_rows_);
  resizeOnScreen(this, kFirstSize);
  connect(pages(), &SegmentedControl::chosen, this, [this](int page) { showPage(static_cast<Page>(page)); });
  connect(rankChoice(), &QComboBox::currentIndexChanged, this, &ProfileWindow::compare);
  connect(session_, &Session::estimateChanged, this, &ProfileWindow::compare);
  connect(session_, &Session::unitsChanged, this, &ProfileWindow::compare);
}

void ProfileWindow::addHead() {
  verdict_ = line(QStringLiteral("profile_verdict"), this);
  notes_ = line(QStringLiteral("profile_notes"), this);
  notes_->setProperty("role", "caption");
  notes_->setVisible(false);
  const int tools_at = head()->count() - 1;
  head()->insertWidget(tools_at, verdict_);
  head()->insertWidget(tools_at + 1, notes_);
  rankChoice()->setAccessibleName(tr("Profile"));
  rankChoice()->setToolTip(
      tr("The profile that is shown. At first, the rank that computes longest: all others wait "
         "for it."));
}

QWidget* ProfileWindow::makeParts() {
  auto* page = new QSplitter(Qt::Vertical, this);
  page->setChildrenCollapsible(false);
  bars_ = new ProfileBars(page);
  tables_[Parts] = makeTable(QStringLiteral("parts"), tr("Parts of the step"), parts_, page);
  page->addWidget(bars_);
  page->addWidget(tables_[Parts]);
  page->setStretchFactor(0, 1);
  page->setStretchFactor(1, 1);
  connect(bars_, &ProfileBars::rowSelected, this, [this](int row) { tables_[Parts]->showRow(row); });
  connect(tables_[Parts], &ChartTable::rowSelected, this, [this](int row) { bars_->setSelected(row); });
  return page;
}

void ProfileWindow::open(const QStringList& paths) {
  showReading(paths.front(), tr("%1 – profile"));
  verdict_->setText(QString());
  std::vector<std::string> files;
  for (const QString& path : paths) files.push_back(path.toStdString());
  job_.start([this, files](const NewestJob::Post& post, const std::stop_token& stop) {
    auto result = std::make_shared<Result<std::vector<RankProfile>>>(profiled_ranks(
        files, 0, [&](double part) { post([this, part] { showProgress(part); }); }, stop));
    post([this, result] {
      if (const auto* problem = std::get_if<Problem>(result.get())) {
        facts()->setText(QString());
        verdict_->setText(text_of(to_string(*problem)));
        return;
      }
      read(std::get<0>(std::move(*result)));
    });
  });
}

void ProfileWindow::read(std::vector<RankProfile> ranks) {
  ranks_ = std::move(ranks);
  {
    const QSignalBlocker quiet(rankChoice());
    rankChoice()->clear();
    for (const RankProfile& rank : ranks_) rankChoice()->addItem(rank_text(rank));
    rankChoice()->setCurrentIndex(static_cast<int>(longest_computing(ranks_)));
  }
  rankChoice()->setVisible(ranks_.size() > 1);
  pages()->button(Ranks)->setVisible(ranks_.size() > 1);
  rank_rows_->setRanks(ranks_);
  tables_[Ranks]->fitColumns();
  compare();
  Q_EMIT opened();
}

const RankProfile& ProfileWindow::shown() const {
  return ranks_[static_cast<size_t>(std::max(0, rankChoice()->currentIndex()))];
}

void ProfileWindow::compare() {
  if (ranks_.empty()) return;
  comparison_.reset();
  const auto estimate = session_->estimate();
  if (session_->estimated() && estimate->simulation && trains(estimate->report->design)) {
    const RankProfile& profile = shown();
    comparison_ = compare_profile(profile, *estimate->report, *estimate->simulation);
    accelerator_ = text_of(estimate->simulation->machine.accelerator->name);
  }
  fill();
}

void ProfileWindow::fill() {
  const RankProfile& profile = shown();
  const ProfiledStep& step = profile.step;
  const ProfileComparison* compared = comparison();
  QStringList known;
  if (profile.rank)
    known << (profile.ranks ? tr("rank %1 of %2").arg(*profile.rank).arg(*profile.ranks)
                            : tr("rank %1").arg(*profile.rank));
  known << (profile.device.empty() ? tr("a device without a name") : text_of(profile.device))
        << counted_text(step.steps, tr("step"), tr("steps")) +
               (step.annotated ? QString() : tr(" (the whole trace)"))
        << tr("busy %1").arg(percent_text(step.busy / step.seconds))
        << tr("%1 of the kernels' time has a known kind").arg(percent_text(step.classified));
  facts()->setText(known.join(QStringLiteral(" · ")));
  verdict_->setText(verdictText());
  QStringList notes;
  if (compared)
    for (const std::string& note : compared->notes) notes << text_of(note);
  notes_->setText(notes.join(u'\n'));
  notes_->setVisible(!notes.isEmpty());
  const std::vector<ComparedTime> parts = compared ? compared->parts : measured_parts(step);
  const ComparedTime whole = compared ? compared->step : ComparedTime{"step", "Step", step.seconds, 0};
  bars_->setParts(parts, compared != nullptr);
  parts_->setParts(parts, whole, compared != nullptr);
  collectives_->setCollectives(step, compared, session_->units());
  layers_->setLayers(step, compared);
  kernels_->setKernels(step);
  for (ChartTable* table : tables_) table->fitColumns();
  const bool layers = !step.layers.empty();
  pages()->button(Layers)->setEnabled(layers);
  pages()->button(Layers)->setToolTip(
      layers
          ? text_of(step.layer_ranges)
          : tr("The profile has no ranges of layers. Record it with with_modules=True, or annotate layers."));
}

QString ProfileWindow::verdictText() const {
  const ProfileComparison* compared = comparison();
  if (!compared)
    return tr("The run takes %1 per step. The design has no training step to compare with.")
        .arg(time_text(shown().step.seconds));
  const double more = compared->step.difference();
  QString out = tr("The run takes %1 per step, the design %2 (stage %3 of %4 on %5): %6.")
                    .arg(time_text(compared->step.measured), time_text(compared->step.predicted))
                    .arg(compared->stage)
                    .arg(text_of(session_->design().name), accelerator_, difference_text(more));
  if (!compared->parts.empty())
    out += tr(" Largest difference: %1, %2.")
               .arg(text_of(compared->parts.front().label),
                    difference_text(compared->parts.front().difference()));
  return out;
}

void ProfileWindow::showPage(Page page) { setCurrentPage(page); }

}  // namespace shardscape::ui
