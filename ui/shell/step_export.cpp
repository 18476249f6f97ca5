#include "ui/shell/step_export.h"

#include "ui/shell/export_dialog.h"
#include "ui/views/explore/explore_view.h"
#include "ui/views/requests/requests_page.h"

namespace shardscape::ui {

void offerStepExport(ExploreView* explore, Session* session, ExportJob* job, QWidget* window) {
  QObject::connect(explore->findChild<RequestsPage*>(), &RequestsPage::exportStepsRequested, window,
                   [=](const std::shared_ptr<const ServiceRun>& run, const StepRange& range) {
                     auto* dialog = new ExportDialog(session, job, window);
                     dialog->setObjectName(QStringLiteral("step_export"));
                     dialog->setAttribute(Qt::WA_DeleteOnClose);
                     dialog->setSteps(run, range);
                     dialog->show();
                   });
}

}  // namespace shardscape::ui
