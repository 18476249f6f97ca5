// Reads traces in threads of their own: the overview, nodes, and the timeline of a rank. A new request drops
// the results of the previous one of its kind.
#pragma once

#include <QObject>
#include <QTemporaryDir>
#include <filesystem>
#include <map>
#include <memory>

#include "plan/report.h"
#include "trace/rank_timeline.h"
#include "trace/trace_overview.h"
#include "trace/trace_query.h"
#include "ui/toolkit/newest_job.h"

namespace shardscape::ui {

class TraceLoader : public QObject {
  Q_OBJECT
 public:
  using QObject::QObject;
  // A file that is one of several traces of its folder stands for all of them.
  void open(const QString& path);
  const QString& path() const { return path_; }
  QString folder() const { return QString::fromStdString(paths_.folder.string()); }
  const TraceOverview* overview() const { return overview_.get(); }  // null until it is read
  QList<qint64> ranks() const;
  qint64 firstRank() const { return first_rank_; }  // of the opened file, else the first
  bool hasMachine() const;                          // the folder has network.yml and system.json
  void find(qint64 rank, const QString& text);
  void lookAround(qint64 rank, quint64 node);
  // On the machine of the folder.
  void simulate(qint64 rank);
  // On a machine of other files, in the format of ASTRA-sim.
  void simulate(qint64 rank, const QString& network, const QString& system);
  // On the machine of a valid design.
  void simulate(qint64 rank, std::shared_ptr<const Report> design);

 Q_SIGNALS:
  void progressed(double part);
  void opened();  // overview() is there
  void found(const shardscape::FoundNodes& nodes);
  void lookedAround(const shardscape::Neighbourhood& nodes);
  void simulated(std::shared_ptr<const shardscape::RankTimeline> timeline);
  void failed(const QString& message);

 private:
  // The bytes of the rank's trace; the last one stays in memory. In a worker.
  struct Content {
    std::filesystem::path file;
    std::string bytes;
  };
  template <class T>
  void query(qint64 rank, std::function<Result<T>(const Content&, const std::stop_token&)> ask,
             void (TraceLoader::*answer)(const T&));
  void simulateWith(qint64 rank, std::function<Result<BundlePaths>()> paths);
  QString path_;
  QTemporaryDir machine_;  // files of a design's machine
  BundlePaths paths_;
  std::map<int64_t, std::filesystem::path> traces_;
  qint64 first_rank_ = 0;
  std::shared_ptr<const TraceOverview> overview_;
  std::shared_ptr<const Content> content_;
  NewestJob overview_job_{this}, query_job_{this}, timeline_job_{this};
};

}  // namespace shardscape::ui
