// The page of requests with the dialog that exports engine steps.
#pragma once

class QWidget;

namespace shardscape::ui {

class ExportJob;
class PageSettings;
class SelectionState;
class ViewPage;

// Where the page asks for an export, a dialog opens over the window.
ViewPage* makeRequestsPage(SelectionState* state, PageSettings* pages, ExportJob* job, QWidget* window);

}  // namespace shardscape::ui
