#include "ui/shell/window_help.h"

#include <QHBoxLayout>
#include <QShortcut>
#include <QTabBar>
#include <QTabWidget>
#include <QToolButton>

#include "ui/form/config_form.h"
#include "ui/form/gpus_row.h"
#include "ui/form/knob_row.h"
#include "ui/help/help_window.h"
#include "ui/shell/actions.h"
#include "ui/shell/document.h"
#include "ui/shell/examples_dialog.h"
#include "ui/shell/main_window.h"
#include "ui/shell/problems_panel.h"
#include "ui/shell/settings.h"
#include "ui/shell/tour.h"
#include "ui/shell/verdict_strip.h"
#include "ui/toolkit/icons.h"
#include "ui/toolkit/segmented_control.h"
#include "ui/views/architecture/architecture_view.h"
#include "ui/views/communication/communication_view.h"
#include "ui/views/compute/compute_view.h"
#include "ui/views/explore/explore_view.h"
#include "ui/views/memory/memory_view.h"
#include "ui/views/timeline/timeline_view.h"

namespace shardscape::ui {

WindowHelp::WindowHelp(MainWindow* window) : QObject(window), window_(window) {
  const Actions& actions = window->actions();
  connect(actions.documentation, &QAction::triggered, this, &WindowHelp::openFocused);
  connect(actions.examples, &QAction::triggered, this, [this] { openExamples(); });
  connect(actions.tour, &QAction::triggered, this, &WindowHelp::startTour);
}

WindowHelp::~WindowHelp() = default;

ExamplesDialog* WindowHelp::examples() const { return examples_; }

Tour* WindowHelp::tour() const { return tour_; }

HelpTopic WindowHelp::shownTopic() const {
  QWidget* view = window_->tabs()->currentWidget();
  if (qobject_cast<MemoryView*>(view)) return HelpTopic::Memory;
  if (const auto* compute = qobject_cast<ComputeView*>(view))
    return compute->alternativeShown() ? HelpTopic::Roofline : HelpTopic::Flops;
  if (const auto* communication = qobject_cast<CommunicationView*>(view))
    return communication->alternativeShown() ? HelpTopic::Mesh : HelpTopic::Collectives;
  if (qobject_cast<TimelineView*>(view)) return HelpTopic::Timeline;
  if (view == window_->architecture())
    return window_->architecture()->pages()->current() == ArchitectureView::Text ? HelpTopic::Text
                                                                                 : HelpTopic::Layers;
  if (view != window_->explore()) return HelpTopic::Graph;
  switch (static_cast<ExploreView::Page>(window_->explore()->pages()->current())) {
    case ExploreView::Designs: return HelpTopic::Designs;
    case ExploreView::Compare: return HelpTopic::Compare;
    case ExploreView::SensitivityTab: return HelpTopic::Sensitivity;
    case ExploreView::Scaling: return HelpTopic::Scaling;
    case ExploreView::Serving: return HelpTopic::Serving;
    case ExploreView::Requests: return HelpTopic::Requests;
  }
  return HelpTopic::Designs;
}

// A field of the form has its row in the table of knobs.
QString WindowHelp::focusedLink() const {
  QWidget* focused = window_->focusWidget();
  if (window_->problemsPanel()->isAncestorOf(focused)) return helpLink(HelpTopic::Problems);
  if (window_->verdictStrip()->isAncestorOf(focused)) return helpLink(HelpTopic::Verdict);
  if (!window_->form()->isAncestorOf(focused)) return helpLink(shownTopic());
  for (QWidget* at = focused; at && at != window_->form(); at = at->parentWidget()) {
    if (const auto* row = qobject_cast<KnobRow*>(at)) return knobHelpLink(row->knob());
    if (qobject_cast<GpusRow*>(at)) return helpLink(HelpTopic::Gpus);
  }
  return helpLink(HelpTopic::Form);
}

void WindowHelp::openFocused() { openLink(focusedLink()); }

void WindowHelp::openView() { openLink(helpLink(shownTopic())); }

void WindowHelp::openLink(const QString& link) {
  if (!help_) {
    help_ = std::make_unique<HelpWindow>();
    help_->restoreGeometry(settings::helpGeometry());
    help_->restoreSplitter(settings::helpSplitterState());
    connect(help_.get(), &HelpWindow::closed, this, [this] {
      settings::setHelpGeometry(help_->saveGeometry());
      settings::setHelpSplitterState(help_->splitterState());
    });
  }
  help_->open(link);
}

void WindowHelp::addTo(QWidget* dialog, HelpTopic topic) {
  auto* key = new QShortcut(QKeySequence(Qt::Key_F1), dialog);
  connect(key, &QShortcut::activated, this, [this, topic] { openLink(helpLink(topic)); });
}

void WindowHelp::close() {
  if (help_) help_->close();
}

void WindowHelp::openExamples(bool welcomes) {
  if (examples_) return examples_->activateWindow();
  examples_ = new ExamplesDialog(window_->session(), welcomes, window_);
  examples_->setAttribute(Qt::WA_DeleteOnClose);
  addTo(examples_, HelpTopic::Examples);
  connect(examples_, &ExamplesDialog::chosen, window_->document(), &Document::openExample);
  // After the dialog: the window that it leaves active would close a popup.
  connect(
      examples_, &ExamplesDialog::layoutAsked, this, [this] { window_->verdictStrip()->findLayout(); },
      Qt::QueuedConnection);
  // Layouts that a person asked for are not covered by the tour.
  if (welcomes) {
    connect(examples_, &ExamplesDialog::chosen, this, &WindowHelp::startTour);
    connect(examples_, &QDialog::rejected, this, &WindowHelp::startTour);
  }
  examples_->open();
}

void WindowHelp::welcome() {
  if (settings::welcomed()) return;
  settings::setWelcomed(true);
  openExamples(true);
}

void WindowHelp::addButton(QTabWidget* tabs) {
  auto* corner = new QWidget(tabs);
  auto* button = new QToolButton(corner);
  button->setObjectName(QStringLiteral("about_view"));
  button->setProperty("flat", true);
  button->setAccessibleName(tr("About this view"));
  button->setToolTip(tr("The documentation of this view (F1)"));
  setThemedIcon(button, QStringLiteral("help"));
  auto* row = new QHBoxLayout(corner);
  row->setContentsMargins(0, 0, 12, 6);
  row->addWidget(button);
  tabs->setCornerWidget(corner);
  connect(button, &QToolButton::clicked, this, &WindowHelp::openView);
}

void WindowHelp::startTour() {
  delete tour_;
  const Actions& actions = window_->actions();
  actions.form->setChecked(true);
  QTabBar* tabs = window_->tabs()->tabBar();
  QWidget* job = window_->form()->gpus()->parentWidget();
  QVector<TourStep> steps{
      {job,
       {},
       tr("Describe the job"),
       tr("Choose the model above. Type the number of GPUs, the sequence length and the batch here. The "
          "groups "
          "below have every other setting; a blue value is one that you changed.")},
      {window_->verdictStrip(),
       {},
       tr("Read the verdict"),
       tr("It answers at once: whether the design fits, how long a step takes, and what limits it. \"Find a "
          "layout\" searches the parallelism for you.")},
      {tabs,
       {},
       tr("See why"),
       tr("Each view shows one side of the same design. Click a bar, an op or a collective: the inspector on "
          "the right shows its formula, with numbers.")},
      {tabs, tabs->tabRect(static_cast<int>(viewNames().indexOf(QStringLiteral("Explore")))),
       tr("Explore other designs"),
       tr("Choose which settings may vary, then search. Every layout that fits becomes a point that you can "
          "filter, compare and open.")},
      {window_->findChild<QWidget*>(QStringLiteral("export_button")),
       {},
       tr("Take it with you"),
       tr("Export a bundle of traces for ASTRA-sim. The File menu saves the design, a report and pictures. "
          "F1 "
          "explains what has the keyboard focus.")}};
  tour_ = new Tour(steps, window_);
}

}  // namespace shardscape::ui
