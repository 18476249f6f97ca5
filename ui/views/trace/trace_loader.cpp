#include "ui/views/trace/trace_loader.h"

#include "base/atomic_write.h"
#include "bundle/machine_files.h"
#include "trace/trace_file.h"
#include "ui/toolkit/value_scale.h"

namespace shardscape::ui {
namespace {

constexpr size_t kMostFound = 1000, kMostNeighbours = 60;
constexpr int kDepth = 2;

QString message(const Problem& problem) { return text_of(to_string(problem)); }

}  // namespace

void TraceLoader::open(const QString& path) {
  path_ = path;
  overview_.reset();
  content_.reset();
  const std::filesystem::path given = path.toStdString();
  std::error_code error;
  paths_ = {.folder = std::filesystem::is_directory(given, error) ? given : given.parent_path()};
  auto traces = find_traces(given);
  if (const auto* problem = std::get_if<Problem>(&traces)) return Q_EMIT failed(message(*problem));
  traces_ = std::get<0>(std::move(traces));
  first_rank_ = traces_.begin()->first;
  if (auto all = find_traces(paths_.folder); !std::get_if<Problem>(&all))
    if (auto& of_folder = std::get<0>(all);
        of_folder.contains(first_rank_) && of_folder[first_rank_] == given)
      traces_ = std::move(of_folder);
  overview_job_.start([this, path = path.toStdString(), traces = traces_, paths = paths_](
                          const NewestJob::Post& post, const std::stop_token& stop) {
    auto read = std::make_shared<Result<TraceOverview>>(read_trace_overview(
        path, paths, traces, traces.size() > 1,
        [&](double part) { post([this, part] { Q_EMIT progressed(part); }); }, stop));
    post([this, read] {
      if (const auto* problem = std::get_if<Problem>(read.get())) return Q_EMIT failed(message(*problem));
      overview_ = std::make_shared<const TraceOverview>(std::get<TraceOverview>(std::move(*read)));
      Q_EMIT opened();
    });
  });
}

QList<qint64> TraceLoader::ranks() const {
  QList<qint64> out;
  for (const auto& [rank, file] : traces_) out << rank;
  return out;
}

bool TraceLoader::hasMachine() const { return has_configuration(paths_); }

template <class T>
void TraceLoader::query(qint64 rank, std::function<Result<T>(const Content&, const std::stop_token&)> ask,
                        void (TraceLoader::*answer)(const T&)) {
  const auto trace = traces_.find(rank);
  if (trace == traces_.end()) return;
  query_job_.start([this, file = trace->second, known = content_, ask = std::move(ask), answer](
                       const NewestJob::Post& post, const std::stop_token& stop) {
    auto content = known;
    if (!content || content->file != file) {
      auto bytes = load_trace(file, stop);
      if (const auto* problem = std::get_if<Problem>(&bytes))
        return post([this, text = message(*problem)] { Q_EMIT failed(text); });
      if (stop.stop_requested()) return;  // not all bytes
      content = std::make_shared<const Content>(Content{file, std::get<std::string>(std::move(bytes))});
    }
    auto result = std::make_shared<Result<T>>(ask(*content, stop));
    post([this, content, result, answer] {
      content_ = content;
      if (const auto* problem = std::get_if<Problem>(result.get())) return Q_EMIT failed(message(*problem));
      Q_EMIT(this->*answer)(std::get<T>(*result));
    });
  });
}

void TraceLoader::find(qint64 rank, const QString& text) {
  query<FoundNodes>(
      rank,
      [text = text.toStdString()](const Content& of, const std::stop_token& stop) {
        return find_nodes(of.file, of.bytes, text, kMostFound, stop);
      },
      &TraceLoader::found);
}

void TraceLoader::lookAround(qint64 rank, quint64 node) {
  query<Neighbourhood>(
      rank,
      [node](const Content& of, const std::stop_token& stop) {
        return around_node(of.file, of.bytes, node, kDepth, kMostNeighbours, stop);
      },
      &TraceLoader::lookedAround);
}

void TraceLoader::simulate(qint64 rank) {
  simulateWith(rank, [paths = paths_]() -> Result<BundlePaths> { return paths; });
}

void TraceLoader::simulate(qint64 rank, const QString& network, const QString& system) {
  BundlePaths paths = paths_;
  paths.network = network.toStdString();
  paths.system = system.toStdString();
  simulateWith(rank, [paths]() -> Result<BundlePaths> { return paths; });
}

void TraceLoader::simulate(qint64 rank, std::shared_ptr<const Report> design) {
  BundlePaths paths = paths_;
  paths.network = machine_.filePath(QStringLiteral("network.yml")).toStdString();
  paths.system = machine_.filePath(QStringLiteral("system.json")).toStdString();
  simulateWith(rank, [paths, design, count = static_cast<int64_t>(traces_.size())]() -> Result<BundlePaths> {
    const auto files = machine_files(*design, count);
    if (const auto* problem = std::get_if<Problem>(&files)) return *problem;
    const auto& texts = std::get<MachineFiles>(files);
    for (const auto& [path, text] : {std::pair(paths.network, texts.network), {paths.system, texts.system}})
      if (const auto problem = atomic_write(path, text)) return *problem;
    return paths;
  });
}

// paths: called in the worker.
void TraceLoader::simulateWith(qint64 rank, std::function<Result<BundlePaths>()> paths) {
  const auto trace = traces_.find(rank);
  if (trace == traces_.end()) return;
  timeline_job_.start([this, rank, file = trace->second, paths = std::move(paths)](
                          const NewestJob::Post& post, const std::stop_token& stop) {
    const auto fail = [&](const Problem& problem) {
      post([this, text = message(problem)] { Q_EMIT failed(text); });
    };
    const auto files = paths();
    if (const auto* problem = std::get_if<Problem>(&files)) return fail(*problem);
    auto result = simulate_rank(
        std::get<BundlePaths>(files), rank, file,
        [&](double part) { post([this, part] { Q_EMIT progressed(part); }); }, stop);
    if (const auto* problem = std::get_if<Problem>(&result)) return fail(*problem);
    auto timeline = std::make_shared<const RankTimeline>(std::get<RankTimeline>(std::move(result)));
    post([this, timeline] { Q_EMIT simulated(timeline); });
  });
}

}  // namespace shardscape::ui
