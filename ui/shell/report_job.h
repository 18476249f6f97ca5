// Writes the page of a design to a file. The sensitivity analysis takes seconds, so a thread makes the page.
#pragma once

#include <QObject>
#include <QString>
#include <optional>

#include "base/problem.h"
#include "ui/toolkit/newest_job.h"

namespace shardscape::ui {

class Session;

class ReportJob : public QObject {
  Q_OBJECT
 public:
  ReportJob(const Session* session, QObject* owner);
  bool running() const { return running_; }
  // One page about the present design with its sensitivity, or, as a comparison, about the pinned designs and
  // the present one. The end of the name chooses the format: ".pdf", ".md", else a web page. The session's
  // report is valid, and its estimate is there. Not while another page is written.
  void write(const QString& path, bool comparison);
  // Waits until no page is being written; a person cannot click or type meanwhile. False: it was not written.
  bool finish();

 Q_SIGNALS:
  void written(const QString& path);
  void failed(const QString& problem);  // empty: JobFailures tells why

 private:
  void end(const QString& path, const std::optional<Problem>& problem);
  const Session* session_;
  bool running_ = false;
  NewestJob job_{this};  // last member: the thread ends before what it posts to
};

}  // namespace shardscape::ui
