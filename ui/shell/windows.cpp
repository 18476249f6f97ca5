#include "ui/shell/windows.h"

#include <algorithm>

#include "ui/session/session.h"
#include "ui/shell/main_window.h"
#include "ui/shell/settings.h"

namespace shardscape::ui {
namespace {

constexpr QPoint kStep(32, 32);  // from one window to the next

}  // namespace

Windows::Windows(const QString& unsaved) : unsaved_(unsaved) {}

Windows::~Windows() {
  for (const Opened& one : opened_) {
    delete one.window.data();
    delete one.session.data();
  }
}

MainWindow* Windows::make() {
  auto* session = new Session;
  session->setUnits(settings::units());
  auto* window = new MainWindow(session);
  window->setAttribute(Qt::WA_DeleteOnClose);
  connect(window, &QObject::destroyed, session, &QObject::deleteLater);
  window->setWindowMaker([this] { return open(); });
  if (!unsaved_.isEmpty()) window->keepUnsaved(unsaved_);
  opened_.push_back({session, window});
  return window;
}

MainWindow* Windows::open() {
  QPoint at;
  for (const Opened& one : opened_)
    if (one.window) at = one.window->pos() + kStep;
  MainWindow* window = make();
  window->restoreLayout();
  if (!at.isNull() && !window->isMaximized()) window->move(at);
  window->session()->waitForReport();  // the window never opens empty
  window->show();
  return window;
}

int Windows::count() const {
  return static_cast<int>(
      std::count_if(opened_.begin(), opened_.end(), [](const Opened& one) { return !one.window.isNull(); }));
}

}  // namespace shardscape::ui
