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
constexpr int kMargin = 12, kSpacing = 8, kHeadingSize = 15;

QLabel* line(const QString& name, QWidget* parent) {
  auto* label = new QLabel(parent);
  label->setObjectName(name);
  label->setWordWrap(true);
  label->setTextInteractionFlags(Qt::TextSelectableByMouse);
  return label;
}

}  // namespace

ProfileWindow::ProfileWindow(Session* session, QWidget* parent)
    : QWidget(parent, Qt::Window), session_(session) {
  setObjectName(QStringLiteral("profile_window"));
  setWindowTitle(tr("Profile"));
  setAttribute(Qt::WA_StyledBackground);
  setAttribute(Qt::WA_DeleteOnClose);
  setMinimumSize(560, 400);
  parts_ = new ProfilePartModel(this);
  collectives_ = new ProfileCollectiveModel(this);
  layers_ = new ProfileLayerModel(this);
  kernels_ = new ProfileKernelModel(this);
  rank_rows_ = new ProfileRankModel(this);
  auto* rows = new QVBoxLayout(this);
  rows->setContentsMargins(kMargin, kMargin, kMargin, kMargin);
  rows->setSpacing(kSpacing);
  rows->addWidget(makeTop());
  stack_ = new QStackedWidget(this);
  stack_->addWidget(makeParts());
  const auto add = [&](Page page, const char* name, const QString& accessible, TableModel* model) {
    tables_[page] = new ChartTable(stack_);
    tables_[page]->setObjectName(QLatin1String(name));
    tables_[page]->setAccessibleName(accessible);
    tables_[page]->setTable(model);
    stack_->addWidget(tables_[page]);
  };
  add(Collectives, "profile_collectives", tr("Collectives of a step"), collectives_);
  add(Layers, "profile_layers", tr("Layers"), layers_);
  add(Kernels, "profile_kernels", tr("Kernels, longest first"), kernels_);
  add(Ranks, "profile_ranks", tr("Profiles of the ranks"), rank_rows_);
  rows->addWidget(stack_, 1);
  resizeOnScreen(this, kFirstSize);
  connect(pages_, &SegmentedControl::chosen, this, [this](int page) { showPage(static_cast<Page>(page)); });
  connect(rank_, &QComboBox::currentIndexChanged, this, &ProfileWindow::compare);
  connect(session_, &Session::estimateChanged, this, &ProfileWindow::compare);
  connect(session_, &Session::unitsChanged, this, &ProfileWindow::compare);
  connect(new QShortcut(QKeySequence::Close, this), &QShortcut::activated, this, &QWidget::close);
}

QWidget* ProfileWindow::makeTop() {
  auto* top = new QWidget(this);
  name_ = new ElidedLabel(top, Theme::instance().uiFont(kHeadingSize, QFont::DemiBold));
  facts_ = new ElidedLabel(top, Theme::instance().uiFont(), QPalette::PlaceholderText);
  verdict_ = line(QStringLiteral("profile_verdict"), top);
  notes_ = line(QStringLiteral("profile_notes"), top);
  notes_->setProperty("role", "caption");
  notes_->setVisible(false);
  pages_ = new SegmentedControl(
      tr("Page"), {tr("Parts"), tr("Collectives"), tr("Layers"), tr("Kernels"), tr("Ranks")}, top);
  pages_->setObjectName(QStringLiteral("profile_pages"));
  rank_ = new QComboBox(top);
  rank_->setObjectName(QStringLiteral("profile_rank"));
  rank_->setAccessibleName(tr("Profile"));
  rank_->setToolTip(
      tr("The profile that is shown. At first, the rank that computes longest: all others wait "
         "for it."));
  auto* tools = new QHBoxLayout;
  tools->addWidget(pages_);
  tools->addStretch(1);
  tools->addWidget(rank_);
  auto* rows = new QVBoxLayout(top);
  rows->setContentsMargins(0, 0, 0, 0);
  rows->setSpacing(5);
  rows->addWidget(name_);
  rows->addWidget(facts_);
  rows->addWidget(verdict_);
  rows->addWidget(notes_);
  rows->addLayout(tools);
  return top;
}

QWidget* ProfileWindow::makeParts() {
  auto* page = new QSplitter(Qt::Vertical, this);
  page->setChildrenCollapsible(false);
  bars_ = new ProfileBars(page);
  tables_[Parts] = new ChartTable(page);
  tables_[Parts]->setObjectName(QStringLiteral("profile_parts"));
  tables_[Parts]->setAccessibleName(tr("Parts of the step"));
  tables_[Parts]->setTable(parts_);
  page->addWidget(bars_);
  page->addWidget(tables_[Parts]);
  page->setStretchFactor(0, 1);
  page->setStretchFactor(1, 1);
  connect(bars_, &ProfileBars::rowSelected, this, [this](int row) { tables_[Parts]->showRow(row); });
  connect(tables_[Parts], &ChartTable::rowSelected, this, [this](int row) { bars_->setSelected(row); });
  return page;
}

void ProfileWindow::open(const QStringList& paths) {
  const QString name = QFileInfo(paths.front()).fileName();
  setWindowTitle(tr("%1 – profile").arg(name));
  name_->setText(name);
  facts_->setText(tr("Reading…"));
  verdict_->setText(QString());
  std::vector<std::string> files;
  for (const QString& path : paths) files.push_back(path.toStdString());
  job_.start([this, files](const NewestJob::Post& post, const std::stop_token& stop) {
    auto result = std::make_shared<Result<std::vector<RankProfile>>>(profiled_ranks(
        files, 0,
        [&](double part) {
          post([this, part] { facts_->setText(tr("Reading: %1 %").arg(static_cast<int>(100 * part))); });
        },
        stop));
    post([this, result] {
      if (const auto* problem = std::get_if<Problem>(result.get())) {
        facts_->setText(QString());
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
    const QSignalBlocker quiet(rank_);
    rank_->clear();
    for (const RankProfile& rank : ranks_) rank_->addItem(rank_text(rank));
    rank_->setCurrentIndex(static_cast<int>(longest_computing(ranks_)));
  }
  rank_->setVisible(ranks_.size() > 1);
  pages_->button(Ranks)->setVisible(ranks_.size() > 1);
  rank_rows_->setRanks(ranks_);
  tables_[Ranks]->fitColumns();
  compare();
  Q_EMIT opened();
}

const RankProfile& ProfileWindow::shown() const {
  return ranks_[static_cast<size_t>(std::max(0, rank_->currentIndex()))];
}

void ProfileWindow::compare() {
  if (ranks_.empty()) return;
  comparison_.reset();
  const auto estimate = session_->estimate();
  if (session_->estimated() && estimate->simulation && trains(estimate->report->design)) {
    const RankProfile& profile = shown();
    comparison_ = compare_profile(profile.step, profile.rank, profile.ranks, *estimate->report,
                                  *estimate->simulation);
    accelerator_ = text_of(estimate->simulation->machine.accelerator->name);
  }
  fill();
}

void ProfileWindow::fill() {
  const RankProfile& profile = shown();
  const ProfiledStep& step = profile.step;
  const ProfileComparison* compared = comparison();
  QStringList facts;
  if (profile.rank)
    facts << (profile.ranks ? tr("rank %1 of %2").arg(*profile.rank).arg(*profile.ranks)
                            : tr("rank %1").arg(*profile.rank));
  facts << (profile.device.empty() ? tr("a device without a name") : text_of(profile.device))
        << counted_text(step.steps, tr("step"), tr("steps")) +
               (step.annotated ? QString() : tr(" (the whole trace)"))
        << tr("busy %1").arg(percent_text(step.busy / step.seconds))
        << tr("%1 of the kernels' time has a known kind").arg(percent_text(step.classified));
  facts_->setText(facts.join(QStringLiteral(" · ")));
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
  pages_->button(Layers)->setEnabled(layers);
  pages_->button(Layers)->setToolTip(
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

void ProfileWindow::showPage(Page page) {
  pages_->setCurrent(page);
  stack_->setCurrentIndex(page);
}

}  // namespace shardscape::ui
