// Connects the page of requests with the dialog that exports engine steps.
#pragma once

class QWidget;

namespace shardscape::ui {

class ExploreView;
class ExportJob;
class Session;

// A request of the page in `explore` opens a dialog over the window.
void offerStepExport(ExploreView* explore, Session* session, ExportJob* job, QWidget* window);

}  // namespace shardscape::ui
