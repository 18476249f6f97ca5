// A profile of a run next to the step of the present design: where does the run differ from what it should
// take? The comparison follows the design.
#pragma once

#include <memory>
#include <optional>

#include "profile/profile_comparison.h"
#include "profile/rank_profile.h"
#include "ui/plot/file_window.h"
#include "ui/toolkit/newest_job.h"

class QLabel;

namespace shardscape::ui {

class ProfileBars;
class ProfileCollectiveModel;
class ProfileKernelModel;
class ProfileLayerModel;
class ProfilePartModel;
class ProfileRankModel;
class Session;

class ProfileWindow : public FileWindow {
  Q_OBJECT
 public:
  enum Page { Parts, Collectives, Layers, Kernels, Ranks };

  ProfileWindow(Session* session, QWidget* parent);
  void open(const QStringList& paths);  // profiles, or folders of profiles
  void showPage(Page page);
  const std::vector<RankProfile>& ranks() const { return ranks_; }
  const ProfileComparison* comparison() const { return comparison_ ? &*comparison_ : nullptr; }
  QLabel* verdict() const { return verdict_; }
  QLabel* notes() const { return notes_; }
  ProfileBars* bars() const { return bars_; }
  ChartTable* partTable() const { return tables_[Parts]; }
  ChartTable* table(Page page) const { return tables_[page]; }

 Q_SIGNALS:
  void opened();

 private:
  void addHead();
  QWidget* makeParts();
  void read(std::vector<RankProfile> ranks);
  void compare();
  void fill();
  QString verdictText() const;
  const RankProfile& shown() const;
  Session* session_;
  QLabel *verdict_, *notes_;
  ProfileBars* bars_;
  ProfilePartModel* parts_;
  ProfileCollectiveModel* collectives_;
  ProfileLayerModel* layers_;
  ProfileKernelModel* kernels_;
  ProfileRankModel* rank_rows_;
  ChartTable* tables_[Ranks + 1] = {};
  std::vector<RankProfile> ranks_;
  std::optional<ProfileComparison> comparison_;
  QString accelerator_;
  NewestJob job_{this};  // last: it posts to the window
};

}  // namespace shardscape::ui
