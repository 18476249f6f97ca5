#include "ui/shell/step_export.h"

#include "ui/selection/selection_state.h"
#include "ui/shell/export_dialog.h"
#include "ui/views/requests/requests_page.h"

namespace shardscape::ui {

ViewPage* makeRequestsPage(SelectionState* state, PageSettings* pages, ExportJob* job, QWidget* window) {
  auto* page = new RequestsPage(state, nullptr, pages);
  QObject::connect(page, &RequestsPage::exportStepsRequested, window,
                   [=](const std::shared_ptr<const ServiceRun>& run, const StepRange& range) {
                     auto* dialog = new ExportDialog(state->session(), job, window);
                     dialog->setObjectName(QStringLiteral("step_export"));
                     dialog->setAttribute(Qt::WA_DeleteOnClose);
                     dialog->setSteps(run, range);
                     dialog->show();
                   });
  return page;
}

}  // namespace shardscape::ui
