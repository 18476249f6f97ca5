#include "ui/shell/step_opener.h"

#include <QAction>
#include <QTabWidget>

#include "ui/session/session.h"
#include "ui/shell/main_window.h"
#include "ui/shell/message_bar.h"
#include "ui/views/explore/explore_view.h"
#include "ui/views/requests/requests_page.h"

namespace shardscape::ui {

StepOpener::StepOpener(MainWindow* window)
    : QObject(window), window_(window), back_(new QAction(tr("Back to Requests"), this)) {
  connect(back_, &QAction::triggered, this, &StepOpener::goBack);
  if (auto* page = qobject_cast<RequestsPage*>(window->explore()->requests()))
    connect(page, &RequestsPage::stepOpened, this, &StepOpener::open);
}

void StepOpener::open(const Design& design, const QString& what, const QString& note) {
  changed_ = design != window_->session()->design();  // else there is no undo step
  window_->session()->setDesign(design, what);
  window_->showView(QStringLiteral("Timeline"));
  window_->messageBar()->note(note, back_, back_->text());
}

// The line exists until the next edit, so the last undo step is that of open().
void StepOpener::goBack() {
  if (changed_) window_->session()->undoStack()->undo();
  window_->tabs()->setCurrentWidget(window_->explore());
  window_->explore()->showPage(ExploreView::Requests);
}

}  // namespace shardscape::ui
