// Lays out graphs in its own thread. A newer request stops the current one, whose result is dropped.
#pragma once

#include <QObject>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "ui/toolkit/inbox.h"
#include "ui/views/graph/sheet_builder.h"

namespace shardscape::ui {

struct LayoutRequest {
  std::shared_ptr<const GraphTree> tree;
  SheetOptions options;
  SheetFonts fonts;
  Expanded expanded;
  quint64 job = 0;
  quint64 generation = 0;  // number of the tree and options; the worker reuses sheets while it is unchanged
};

class LayoutWorker : public QObject {
  Q_OBJECT
 public:
  explicit LayoutWorker(QObject* owner);  // see NewestJob
  ~LayoutWorker() override;
  void request(LayoutRequest request);

 Q_SIGNALS:
  // In the thread of this object.
  void finished(quint64 job, std::shared_ptr<const shardscape::ui::Sheet> sheet);

 private:
  void run(const std::stop_token& stop);
  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::optional<LayoutRequest> next_;
  std::stop_source current_;
  Inbox inbox_;
  std::jthread thread_;
};

}  // namespace shardscape::ui
