#include "ui/views/requests/answer_panel.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPointer>
#include <QPushButton>
#include <QVBoxLayout>
#include <algorithm>
#include <utility>

#include "ui/plot/chart_table.h"
#include "ui/plot/table_model.h"
#include "ui/session/design_command.h"
#include "ui/session/page_settings.h"
#include "ui/session/session.h"
#include "ui/session/staleness.h"
#include "ui/toolkit/issue_line.h"
#include "ui/toolkit/page_splitter.h"
#include "ui/views/requests/bar_list.h"

namespace shardscape::ui {
namespace {

// A change of the design that also changes the settings of the service.
class ServiceCommand : public DesignCommand {
 public:
  ServiceCommand(Session* session, PageSettings* pages, Design design, ServiceSpec spec, const QString& text)
      : DesignCommand(session, std::move(design), text),
        pages_(pages),
        spec_before_(pages->pages().service),
        spec_after_(std::move(spec)) {}
  void undo() override {
    put(spec_before_);
    DesignCommand::undo();
  }
  void redo() override {
    put(spec_after_);
    DesignCommand::redo();
  }

 private:
  void put(const ServiceSpec& spec) {
    if (pages_) pages_->setService(spec);
  }
  QPointer<PageSettings> pages_;
  ServiceSpec spec_before_, spec_after_;
};

}  // namespace

AnswerPanel::AnswerPanel(const Texts& texts, Session* session, PageSettings* pages, QWidget* parent)
    : QWidget(parent), session_(session), pages_(pages) {
  setObjectName(texts.name);
  auto* rows = new QVBoxLayout(this);
  rows->setContentsMargins(0, 0, 0, 0);
  rows->setSpacing(4);
  tools_ = new QHBoxLayout;
  tools_->setSpacing(8);
  const auto button = [&](const QString& text, const QString& name, const QString& tip) {
    auto* out = new QPushButton(text, this);
    out->setObjectName(texts.name + name);
    out->setToolTip(tip);
    tools_->addWidget(out);
    return out;
  };
  start_ = button(texts.ask, QStringLiteral("_start"), texts.ask_tip);
  stop_ = button(tr("Cancel"), QStringLiteral("_stop"), {});
  apply_ = button(tr("Apply"), QStringLiteral("_apply"), texts.apply_tip);
  tools_->addStretch(1);
  rows->addLayout(tools_);
  issue_ = new IssueLine(this);
  issue_->setVisible(false);
  rows->addWidget(issue_);
  caption_ = new QLabel(this);
  caption_->setObjectName(texts.name + QStringLiteral("_caption"));
  caption_->setWordWrap(true);
  rows->addWidget(caption_);
  auto* splitter = new PageSplitter(texts.name, this);
  bars_ = new BarList(texts.name + QStringLiteral("_bars"), texts.table, splitter);
  table_ = new ChartTable(splitter);
  table_->setAccessibleName(texts.table);
  table_->setSelectionMode(QAbstractItemView::SingleSelection);
  splitter->addWidget(bars_);
  splitter->addWidget(table_);
  rows->addWidget(splitter, 1);
  connect(start_, &QPushButton::clicked, this, &AnswerPanel::start);
  connect(stop_, &QPushButton::clicked, this, &AnswerPanel::stop);
  connect(apply_, &QPushButton::clicked, this, [this] { applyRow(bars_->selected()); });
  connect(bars_, &BarList::rowActivated, this, &AnswerPanel::applyRow);
  connect(bars_, &BarList::rowSelected, this, [this](int row) {
    row_ = row;
    table_->showRow(row);
    showState();
  });
  connect(table_, &ChartTable::rowSelected, this, [this](int row) {
    row_ = row;
    bars_->setSelected(row);
    showState();
  });
  connect(table_, &ChartTable::doubleClicked, this, [this] { applyRow(bars_->selected()); });
  connect(session_, &Session::designChanged, this, &AnswerPanel::showState);
  connect(pages_, &PageSettings::changed, this, &AnswerPanel::showState);
  QMetaObject::invokeMethod(this, &AnswerPanel::showState, Qt::QueuedConnection);
}

void AnswerPanel::addFields(QWidget* fields) { static_cast<QVBoxLayout*>(layout())->insertWidget(1, fields); }

void AnswerPanel::setTable(TableModel* model) { table_->setTable(model); }

bool AnswerPanel::current() const {
  return any() && !working_ && asked_design_ == session_->design() && asked_spec_ == pages_->pages().service;
}

void AnswerPanel::start() {
  const Design design = session_->design();
  const ServiceSpec spec = pages_->pages().service;
  issue_->setVisible(false);
  working_ = true;
  done_ = of_ = 0;
  job_.start([this, design, spec, compute = question()](const NewestJob::Post& post, std::stop_token stop) {
    auto made = compute(stop, [&](size_t done, size_t of) {
      post([this, done, of] {
        done_ = done;
        of_ = of;
        showState();
      });
    });
    if (stop.stop_requested()) return;
    post([this, design, spec, made = std::move(made)] {
      working_ = false;
      if (const auto* problem = std::get_if<Problem>(&made)) {
        showProblem(*problem);
      } else {
        asked_design_ = design;
        asked_spec_ = spec;
        row_ = -1;
        std::get<Show>(made)();
      }
      showState();
    });
  });
  showState();
}

// Next to the problem: a button that leads to the field with the mistake.
void AnswerPanel::showProblem(const Problem& problem) {
  QWidget* field = fieldOf(problem);
  const ServiceSetting* setting = field ? nullptr : find_setting(problem.where);
  const QString name = field     ? field->accessibleName().section(u',', 0, 0)
                       : setting ? text_of(setting->label)
                                 : QString();
  const QString what = name.isEmpty() ? text_of(problem.what) : tr("%1: %2").arg(name, text_of(problem.what));
  issue_->show(what, text_of(problem.accepted), name.isEmpty() ? QString() : tr("Show the field"),
               [this, field, id = QString::fromStdString(problem.where)] {
                 if (field)
                   field->setFocus(Qt::ShortcutFocusReason);
                 else
                   Q_EMIT settingRequested(id);
               });
  if (setting) Q_EMIT settingRefused(problem);
}

void AnswerPanel::stop() {
  job_.stop();
  working_ = false;
  showState();
}

void AnswerPanel::applyRow(int row) {
  if (!current()) return;
  auto next = applied(row);
  if (!next) return;
  session_->endEdit();
  session_->undoStack()->push(
      new ServiceCommand(session_, pages_, std::move(next->design), std::move(next->spec), next->what));
}

void AnswerPanel::showState() {
  stop_->setVisible(working_);
  start_->setEnabled(!working_);
  const bool is_current = current();
  apply_->setEnabled(is_current && bars_->selected() >= 0 && applied(bars_->selected()).has_value());
  setDimmed(bars_, any() && !is_current);
  setDimmed(table_, any() && !is_current);
  table_->setVisible(any());
  const QString reason = any() && row_ >= 0 ? reasonOf(row_) : QString();
  caption_->setText(working_ ? of_ > 0 ? tr("Computing: %1 of %2").arg(done_).arg(of_) : tr("Computing…")
                    : !any() ? start_->toolTip()
                    : !is_current      ? tr("The answer is for an earlier design or earlier settings.")
                    : reason.isEmpty() ? summary()
                                       : reason);
}

}  // namespace shardscape::ui
