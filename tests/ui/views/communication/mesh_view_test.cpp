// The mesh picture: groups, selection by mouse and keys, inspector, saved files, large meshes.
#include <QApplication>
#include <QImage>
#include <QPushButton>
#include <QRandomGenerator>
#include <QTest>
#include <algorithm>
#include <map>
#include <set>

#include "offscreen.h"
#include "plan/rank_mesh.h"
#include "ui/inspector/communication_inspection.h"
#include "ui/inspector/inspection_text.h"
#include "ui/plot/chart_table.h"
#include "ui/plot/stage_chart.h"
#include "ui/toolkit/theme.h"
#include "ui/toolkit/value_scale.h"
#include "ui/views/communication/communication_view.h"
#include "ui/views/communication/mesh_canvas.h"
#include "ui/views/communication/mesh_text.h"
#include "ui/views/communication/mesh_view.h"

using namespace shardscape;
using namespace shardscape::ui;

namespace {

void set(Session& session, std::initializer_list<std::pair<const char*, const char*>> knobs) {
  for (const auto& [id, text] : knobs) {
    const std::optional<Problem> problem = session.setKnob(QString::fromLatin1(id),
                                                           QString::fromLatin1(text));
    QVERIFY2(!problem, problem ? to_string(*problem).c_str() : "");
  }
  session.waitForReport();
  QVERIFY2(session.current(), session.problems().empty() ? "" : to_string(session.problems()[0]).c_str());
}

void set_largest(Session& session) {
  session.applyPreset(QStringLiteral("llama3.1-405b"));
  set(session, {{"tp", "8"}, {"pp", "16"}, {"dp", "1024"}, {"batch", "16384"}});
  QCOMPARE(session.report()->ranks, int64_t(131072));
}

void open(CommunicationView& view, QSize size = {760, 640}) {
  view.resize(size);
  view.setAlternativeShown(true);
  view.show();
  QVERIFY(QTest::qWaitForWindowExposed(&view));
}

QPoint place_of(const MeshCanvas& canvas, int64_t rank) {
  return canvas.meshLayout().cell(canvas.grid()->place(rank)).center().toPoint();
}

const RankGroup* group_named(const std::vector<RankGroup>& groups, const char* name) {
  for (const RankGroup& group : groups) {
    if (group.name == name) return &group;
  }
  return nullptr;
}

}  // namespace

class MeshViewTest : public QObject {
  Q_OBJECT
 public:
  static void initMain() { go_offscreen(); }

 private Q_SLOTS:

  void init() { Theme::instance().setMode(Theme::Mode::Light); }

  // For random designs: the members of a group differ along its axes only, no member is missing, and the
  // number of nodes is right.
  void groupsAreThoseOfTheMesh() {
    QRandomGenerator random(7);
    const auto one_of = [&](std::initializer_list<int64_t> values) {
      return values.begin()[random.bounded(static_cast<int>(values.size()))];
    };
    int valid = 0, groups_seen = 0, embedding_seen = 0;
    for (int i = 0; i < 60; ++i) {
      Design design = default_design();
      if (i % 3 == 0) apply_preset(design, "gpt2");
      ParallelSpec& p = design.parallel;
      p.tp = i % 3 == 0 ? one_of({1, 2, 4}) : one_of({1, 2, 4, 8, 16});
      p.pp = one_of({1, 2, 4});
      p.dp = one_of({1, 2, 4, 8});
      p.cp = one_of({1, 2, 4});
      std::shuffle(p.order.fastest_first.begin(), p.order.fastest_first.end(), random);
      design.cluster.gpus_per_node = one_of({1, 2, 4, 6, 8, 16});
      const std::shared_ptr<const Report> report = make_report(design);
      if (!report->valid()) continue;
      ++valid;
      const DeviceMesh mesh = mesh_of(*report);
      const int64_t rank = random.bounded(static_cast<int>(report->ranks));
      for (const RankGroup& group : groups_of_rank(*report, rank)) {
        ++groups_seen;
        std::vector<int64_t> expected;
        if (group.role.embedding) {
          ++embedding_seen;
          const int64_t stage = mesh.coordinate(rank, MeshAxis::Pp), last = mesh.degree(MeshAxis::Pp) - 1;
          expected = {rank};
          if (stage == 0) expected.push_back(mesh.with(rank, MeshAxis::Pp, last));
          if (stage == last) expected.push_back(mesh.with(rank, MeshAxis::Pp, 0));
        } else {
          QVERIFY2(!group.role.axes.empty(), group.name.c_str());
          QCOMPARE(group_name(group.role.axes), group.name);
          expected = mesh.group(rank, group.role.axes);
        }
        std::sort(expected.begin(), expected.end());
        QCOMPARE(group.ranks, expected);
        for (const StageReport& stage : report->stages) {
          for (const CollectiveValue& value : stage.collectives) {
            if (value.group == group.name && group.takesPart())
              QCOMPARE(value.group_size, static_cast<int64_t>(group.ranks.size()));
          }
        }
        std::map<int64_t, int64_t> nodes;
        for (const int64_t member : group.ranks) ++nodes[member / design.cluster.gpus_per_node];
        QCOMPARE(group.nodes, static_cast<int64_t>(nodes.size()));
        for (const auto& [node, count] : nodes)
          QVERIFY(count >= group.fewest_per_node && count <= group.most_per_node);
      }
      const MeshGrid grid(mesh, design.cluster.gpus_per_node);
      for (int64_t r = 0; r < report->ranks; ++r) QCOMPARE(grid.rank(grid.place(r)), r);
    }
    QVERIFY2(valid >= 25 && groups_seen >= 50 && embedding_seen > 0,
             qPrintable(QStringLiteral("%1 %2 %3").arg(valid).arg(groups_seen).arg(embedding_seen)));
  }

  // Coordinates of a rank on the expert axes: in its text, and as columns of the table of all ranks.
  void expertsHaveCoordinates_data() {
    QTest::addColumn<int>("ep");
    QTest::addColumn<int>("etp");
    QTest::addColumn<QString>("header");
    QTest::addColumn<QString>("coordinates");  // of rank 13
    QTest::newRow("together") << 1 << 0 << "rank,node,tp,cp,dp,pp"
                              << "tp 1, dp 2, pp 1";
    QTest::newRow("spread") << 2 << 0 << "rank,node,tp,cp,dp,pp,ep,edp"
                            << "tp 1, dp 2, pp 1 | ep 0, edp 1";
    QTest::newRow("folded") << 4 << 1 << "rank,node,tp,cp,dp,pp,ep,edp"
                            << "tp 1, dp 2, pp 1 | ep 1, edp 1";
    QTest::newRow("folded, together") << 1 << 1 << "rank,node,tp,cp,dp,pp,edp"
                                      << "tp 1, dp 2, pp 1 | edp 5";
    QTest::newRow("folded, wider") << 2 << 4 << "rank,node,tp,cp,dp,pp,etp,ep"
                                   << "tp 1, dp 2, pp 1 | etp 1, ep 1";
  }
  void expertsHaveCoordinates() {
    QFETCH(int, ep);
    QFETCH(int, etp);
    QFETCH(QString, header);
    Design design = default_design();
    apply_preset(design, "mixtral-8x7b");
    design.parallel = {};
    design.parallel.tp = design.parallel.pp = 2;
    design.parallel.dp = 4;
    design.parallel.ep = ep;
    design.parallel.etp = etp;
    design.parallel.sequence_parallel = true;
    design.workload.seq = 1024;
    design.workload.batch = 64;
    const std::shared_ptr<const Report> report = make_report(design);
    QVERIFY(report->valid());
    QTEST(QString::fromStdString(rank_text(*report, 13)), "coordinates");
    const DeviceMesh mesh = mesh_of(*report);
    const QStringList lines = mesh_csv(*report, MeshGrid(mesh, 8)).split(u'\n', Qt::SkipEmptyParts);
    QCOMPARE(lines.size(), 17);
    QVERIFY2(lines[0].startsWith(header + QStringLiteral(",first rank of ")), qPrintable(lines[0]));
    for (const MeshAxis axis : expert_axes(*report)) {
      const qsizetype column = lines[0].split(u',').indexOf(
          QString::fromStdString(std::string(mesh_axis_name(axis))));
      for (int64_t rank = 0; rank < 16; ++rank)
        QCOMPARE(lines[rank + 1].split(u',')[column].toLongLong(), mesh.coordinate(rank, axis));
    }
  }

  // Every rank has a cell of its own, or belongs to one block of the overview.
  void everyRankHasAPlace() {
    for (const MeshDegrees& degrees :
         {MeshDegrees{8, 1, 1, 1, 8}, MeshDegrees{2, 2, 3, 4, 8}, MeshDegrees{16, 2, 64, 8, 8},
          MeshDegrees{1, 1, 4096, 1, 8}, MeshDegrees{4096, 1, 1, 1, 8}, MeshDegrees{1, 1, 1, 2048, 8},
          MeshDegrees{6, 1, 100, 5, 8}}) {
      const MeshGrid grid(DeviceMesh(degrees, {}), 8);
      for (const QSizeF size : {QSizeF(320, 120), QSizeF(700, 280), QSizeF(1900, 700)}) {
        const int64_t selected = grid.ranks() / 3;
        const MeshLayout layout(grid, QRectF(QPointF(5, 7), size), 30, selected, {});
        QCOMPARE(layout.rankAt(layout.cell(grid.place(selected)).center()), std::optional<int64_t>(selected));
        int64_t cells = 0, in_blocks = 0;
        std::set<std::pair<int64_t, int64_t>> blocks;
        for (int64_t rank = 0; rank < grid.ranks(); ++rank) {
          const QRectF cell = layout.cell(grid.place(rank));
          if (!cell.isNull()) {
            ++cells;
            QCOMPARE(layout.rankAt(cell.center()), std::optional<int64_t>(rank));
          }
          if (layout.whole()) continue;
          const MeshBlock block = layout.blockOf(rank);
          QVERIFY(layout.blockAt(layout.blockRect(block).center()) == std::optional<MeshBlock>(block));
          if (blocks.emplace(block.band, block.index).second) in_blocks += layout.ranksIn(block);
        }
        if (layout.whole())
          QCOMPARE(cells, grid.ranks());
        else
          QCOMPARE(in_blocks, grid.ranks());
      }
    }
  }

  void theSentenceAnswersAtOnce() {
    Session session;
    SelectionState state(&session);
    set_largest(session);
    CommunicationView view(&state);
    open(view);
    state.setRank(4711);
    QCOMPARE(view.mesh()->canvas()->sentence(),
             QStringLiteral("rank 4,711: tp group of 8 inside node 588; pp group of 16 over 16 nodes; "
                            "dp group of 1,024 over 1,024 nodes"));
  }

  // GB200 NVL72: nodes of 4 in racks of 72. The size of nodes follows the accelerator, unless a person set
  // another size.
  void racksOfAnNvl72() {
    Session session;
    SelectionState state(&session);
    set(session, {{"tp", "4"}, {"pp", "1"}, {"dp", "36"}, {"batch", "288"}});
    QCOMPARE(session.design().cluster.gpus_per_node, int64_t(8));
    set(session, {{"accelerator", "gb200-nvl72-186gb"}});
    QCOMPARE(session.design().cluster.gpus_per_node, int64_t(4));
    CommunicationView view(&state);
    open(view);
    const MeshCanvas* canvas = view.mesh()->canvas();
    const MeshGrid& grid = *canvas->grid();
    QVERIFY(grid.hasRacks());
    QCOMPARE(grid.gpusPerNode(), int64_t(4));
    QCOMPARE(grid.ranksPerRack(), int64_t(64));  // a job of several racks gets segments of 64
    QCOMPARE(canvas->sentence(), QStringLiteral("rank 0: tp group of 4 inside node 0 of rack 0; "
                                                "dp group of 36 over 3 racks"));
    const QString tip = rank_tip(*session.report(), grid, 70, 0, canvas->groups());
    QVERIFY2(tip.contains(QStringLiteral("node 17 of rack 1, GPU 3 of 4")), qPrintable(tip));
    QVERIFY(mesh_csv(*session.report(), grid).startsWith(QStringLiteral("rank,node,rack,")));
    // Back to H100: nodes of 8. A size of one's own stays.
    set(session, {{"accelerator", "h100-sxm-80gb"}});
    QCOMPARE(session.design().cluster.gpus_per_node, int64_t(8));
    set(session, {{"gpus_per_node", "2"}, {"accelerator", "gb200-nvl72-186gb"}});
    QCOMPARE(session.design().cluster.gpus_per_node, int64_t(2));
  }

  void aClickOnACellSelectsTheRank() {
    Session session;
    SelectionState state(&session);
    set(session, {{"tp", "2"}, {"pp", "2"}, {"dp", "2"}});
    CommunicationView view(&state);
    open(view);
    MeshCanvas* canvas = view.mesh()->canvas();
    QVERIFY(canvas->meshLayout().whole());
    QTest::mouseClick(canvas, Qt::LeftButton, Qt::NoModifier, place_of(*canvas, 5));
    QCOMPARE(state.rank(), qint64(5));
    QCOMPARE(state.stage(), 1);
    QCOMPARE(state.inspection().title, QStringLiteral("tp group of rank 5"));
    QVERIFY(canvas->tipAt(place_of(*canvas, 4)).contains(QStringLiteral("with rank 5 in: tp")));
    QVERIFY(canvas->tipAt(QPointF(1, 1)).isEmpty());
  }

  void aClickOnABlockSelectsAMember() {
    Session session;
    SelectionState state(&session);
    set_largest(session);
    CommunicationView view(&state);
    open(view);
    view.mesh()->setGroup(QStringLiteral("dp"));
    MeshCanvas* canvas = view.mesh()->canvas();
    const MeshLayout layout = canvas->meshLayout();
    QVERIFY(!layout.whole());
    const int64_t far = canvas->grid()->rank({0, 900, 0});
    const MeshBlock block = layout.blockOf(far);
    QVERIFY(layout.ranksIn(block) > 1);
    QVERIFY(canvas->tipAt(layout.blockRect(block).center()).contains(QStringLiteral("of the dp group")));
    QTest::mouseClick(canvas, Qt::LeftButton, Qt::NoModifier, layout.blockRect(block).center().toPoint());
    QVERIFY(layout.blockOf(state.rank()) == block);
    QVERIFY(group_named(groups_of_rank(*session.report(), 0), "dp")->contains(state.rank()));
    QVERIFY(!canvas->meshLayout().cell(canvas->grid()->place(state.rank())).isNull());
  }

  void everyAxisIsExplained() {
    for (const MeshAxisRow& row : kMeshAxes) {
      const std::string group(row.name);
      QVERIFY2(group_label(group) != words(group), group.c_str());
      QVERIFY2(!group_reason(group).isEmpty(), group.c_str());
    }
  }

  void groupsOfPartsOfAnAxis_data() {
    QTest::addColumn<QString>("preset");
    QTest::addColumn<QStringList>("settings");
    QTest::addColumn<QString>("group");
    QTest::addColumn<QList<qint64>>("ranks");  // of rank 0
    const QStringList folded{"tp=2", "sequence_parallel=true", "dp=4", "ep=4", "etp=1"},
        split{"tp=2", "dp=4", "ep=2"};
    QTest::newRow("experts kept whole") << "mixtral-8x7b" << folded << "ep" << QList<qint64>{0, 1, 2, 3};
    QTest::newRow("replicas of experts kept whole")
        << "mixtral-8x7b" << folded << "edp" << QList<qint64>{0, 4};
    QTest::newRow("experts over tp") << "mixtral-8x7b" << split << "ep" << QList<qint64>{0, 2};
    QTest::newRow("replicas of experts over tp") << "mixtral-8x7b" << split << "edp" << QList<qint64>{0, 4};
    const QStringList hybrid{"dp=4", "sync=fsdp2", "dp_shard=2"},
        ring{"cp=4", "context=ulysses-ring", "ulysses_degree=2"};
    QTest::newRow("sharding group") << "llama3-8b" << hybrid << "dp_shard" << QList<qint64>{0, 1};
    QTest::newRow("copies of shards") << "llama3-8b" << hybrid << "dp_replicate" << QList<qint64>{0, 2};
    QTest::newRow("Ulysses inside a ring") << "llama3-8b" << ring << "cp_ulysses" << QList<qint64>{0, 1};
    QTest::newRow("ring of Ulysses groups") << "llama3-8b" << ring << "cp_ring" << QList<qint64>{0, 2};
  }
  void groupsOfPartsOfAnAxis() {
    QFETCH(QString, preset);
    QFETCH(QStringList, settings);
    QFETCH(QString, group);
    QFETCH(QList<qint64>, ranks);
    Session session;
    SelectionState state(&session);
    session.applyPreset(preset);
    set(session, {{"tp", "1"}, {"pp", "1"}, {"dp", "1"}, {"sequence_parallel", "false"}});
    for (const QString& setting : settings)
      set(session,
          {{setting.section('=', 0, 0).toUtf8().constData(), setting.section('=', 1).toUtf8().constData()}});
    QVERIFY(session.current());
    const std::vector<RankGroup> groups = groups_of_rank(*session.report(), 0);
    const auto found = group_named(groups, group.toUtf8().constData());
    QVERIFY(found);
    QCOMPARE(QList<qint64>(found->ranks.begin(), found->ranks.end()), ranks);
    for (const StageReport& stage : session.report()->stages)
      for (const CollectiveValue& value : stage.collectives)
        if (value.group == found->name) QCOMPARE(value.group_size, static_cast<int64_t>(ranks.size()));
    const auto size = evaluate(group_size(found->role.axes),
                               session.report()->binding);  // the size by the formula in the inspector
    QVERIFY(std::holds_alternative<Wide>(size));
    QCOMPARE(static_cast<qsizetype>(std::get<Wide>(size)), ranks.size());
    QVERIFY(group_label(found->name) != words(found->name));
    QVERIFY(!group_reason(found->name).isEmpty());
    CommunicationView view(&state);
    open(view);
    view.mesh()->setGroup(group);
    QVERIFY(state.inspection().rows.contains(
        {QStringLiteral("Last member"), QStringLiteral("rank %1").arg(ranks.last())}));
  }

  void keysMove() {
    Session session;
    SelectionState state(&session);
    set(session, {{"tp", "2"}, {"pp", "2"}, {"dp", "2"}});
    CommunicationView view(&state);
    open(view);
    MeshCanvas* canvas = view.mesh()->canvas();
    canvas->setFocus();
    const auto rank_after = [&](Qt::Key key) {
      QTest::keyClick(canvas, key);
      return state.rank();
    };
    QCOMPARE(rank_after(Qt::Key_Left), qint64(0));  // the first rank stays selected
    QCOMPARE(rank_after(Qt::Key_Right), qint64(1));
    QCOMPARE(rank_after(Qt::Key_Right), qint64(2));  // the next column
    QCOMPARE(rank_after(Qt::Key_Down), qint64(6));
    QCOMPARE(state.stage(), 1);
    QCOMPARE(rank_after(Qt::Key_Down), qint64(6));
    QCOMPARE(rank_after(Qt::Key_Home), qint64(4));
    QCOMPARE(rank_after(Qt::Key_End), qint64(6));
    QCOMPARE(rank_after(Qt::Key_Left), qint64(5));
    QCOMPARE(rank_after(Qt::Key_Up), qint64(1));
  }

  void keysReachEveryLineOfAWideColumn() {
    Session session;
    SelectionState state(&session);
    set(session, {{"tp", "16"}, {"pp", "2"}, {"dp", "1"}});
    CommunicationView view(&state);
    open(view);
    MeshCanvas* canvas = view.mesh()->canvas();
    canvas->setFocus();
    QTest::keyClick(canvas, Qt::Key_Down);
    QCOMPARE(state.rank(), qint64(8));
    QTest::keyClick(canvas, Qt::Key_Down);
    QCOMPARE(state.rank(), qint64(16));
    QTest::keyClick(canvas, Qt::Key_Up);
    QCOMPARE(state.rank(), qint64(8));
  }

  void chipsChooseTheGroup() {
    Session session;
    SelectionState state(&session);
    session.applyPreset(QStringLiteral("gpt2"));
    set(session, {{"tp", "2"}, {"pp", "4"}, {"dp", "2"}});
    CommunicationView view(&state);
    open(view);
    MeshView* mesh = view.mesh();
    const size_t groups = groups_of_rank(*session.report(), 0).size();
    QCOMPARE(static_cast<size_t>(mesh->chips().size()), groups);
    QVERIFY(group_named(mesh->canvas()->groups(), "embedding"));
    for (QPushButton* chip : mesh->chips()) {
      const QString name = chip->property("group").toString();
      QTest::mouseClick(chip, Qt::LeftButton);
      QCOMPARE(mesh->group(), name);
      QVERIFY(chip->isChecked());
      const Inspection& inspection = state.inspection();
      QCOMPARE(inspection.title, QStringLiteral("%1 group of rank 0").arg(name));
      QVERIFY(!inspection.why.isEmpty() && !inspection.values.isEmpty());
    }
    mesh->setGroup(QStringLiteral("embedding"));
    state.setRank(session.report()->ranks / 4);  // of stage 1, which is not in the embedding group
    QVERIFY(!group_named(mesh->canvas()->groups(), "embedding")->takesPart());
    QVERIFY(state.inspection().why.contains(QStringLiteral("first and the last stage")));
    set(session, {{"pp", "1"}});  // the embedding group is gone, so another group is shown
    QVERIFY(mesh->group() != QStringLiteral("embedding"));
    QVERIFY(!mesh->group().isEmpty());
  }

  void oneRankSaysSo() {
    Session session;
    SelectionState state(&session);
    set(session, {{"tp", "1"}, {"pp", "1"}, {"dp", "1"}});
    CommunicationView view(&state);
    open(view);
    QVERIFY(view.mesh()->chips().isEmpty());
    QVERIFY(view.mesh()->canvas()->sentence().contains(QStringLiteral("nothing is communicated")));
    QCOMPARE(state.inspection().title, QStringLiteral("Rank 0"));
  }

  void theSwitchGoesBothWays() {
    Session session;
    SelectionState state(&session);
    set(session, {{"tp", "2"}, {"pp", "2"}, {"dp", "2"}});
    CommunicationView view(&state);
    open(view);
    QVERIFY(view.mesh()->isVisible() && !view.chart()->isVisible());
    QCOMPARE(state.inspection().title, QStringLiteral("tp group of rank 0"));
    view.setAlternativeShown(false);
    QVERIFY(!view.mesh()->isVisible() && view.chart()->isVisible());
    QCOMPARE(state.inspection().title, QStringLiteral("Communication of stage 0"));
    set(session, {{"tp", "4"}});  // while the mesh is hidden
    view.setAlternativeShown(true);
    QCOMPARE(view.mesh()->canvas()->grid()->ranks(), int64_t(16));
    // The inspector follows edits while it shows the mesh. The view does not change it when it shows another
    // thing.
    set(session, {{"tp", "2"}});
    QCOMPARE(state.inspection().values[0].value, QStringLiteral("2"));
    Inspection other;
    other.title = QStringLiteral("other");
    state.inspect(other);
    set(session, {{"tp", "4"}});
    QCOMPARE(state.inspection().title, QStringLiteral("other"));
  }

  void theMeshIsSaved() {
    Session session;
    SelectionState state(&session);
    set(session, {{"tp", "2"}, {"pp", "2"}, {"dp", "2"}});
    CommunicationView view(&state);
    open(view);
    const Picture picture = view.picture();
    QVERIFY(picture.file_name.endsWith(QStringLiteral("-mesh")));
    const QStringList lines = picture.csv().split(u'\n', Qt::SkipEmptyParts);
    QCOMPARE(lines.size(), 9);
    QCOMPARE(
        lines[0],
        QStringLiteral(
            "rank,node,tp,cp,dp,pp,first rank of tp group,first rank of pp group,first rank of dp group"));
    QCOMPARE(lines[8], QStringLiteral("7,0,1,0,1,1,6,3,5"));
    for (const SaveFormat format : {SaveFormat::Png, SaveFormat::Svg, SaveFormat::Pdf})
      QVERIFY(std::get<QByteArray>(encoded(picture, format)).size() > 1000);
  }

  // The inspector of a collective gives the reason before the values. For other things the reason follows.
  void theReasonOfACollectiveComesFirst() {
    Session session;
    SelectionState state(&session);
    set(session, {{"tp", "2"}, {"pp", "2"}, {"dp", "2"}});
    CommunicationView view(&state);
    open(view);
    const auto why_is_first = [&] {
      const QString text = inspectionText(state.inspection());
      return text.indexOf(state.inspection().why) < text.indexOf(state.inspection().values[0].label);
    };
    QVERIFY(!why_is_first());
    Q_EMIT view.table()->rowSelected(0);
    QCOMPARE(state.inspection().why_title, QStringLiteral("Why is this collective here?"));
    QVERIFY(why_is_first());
  }

  // Another group gives another picture. The dark theme has a dark background.
  void themesAndGroupsShow() {
    Session session;
    SelectionState state(&session);
    set(session, {{"tp", "2"}, {"pp", "2"}, {"dp", "2"}});
    CommunicationView view(&state);
    open(view);
    MeshCanvas* canvas = view.mesh()->canvas();
    const QImage tp = canvas->grab().toImage();
    view.mesh()->setGroup(QStringLiteral("dp"));
    QVERIFY(canvas->grab().toImage() != tp);
    Theme::instance().setMode(Theme::Mode::Dark);
    const QImage dark = canvas->grab().toImage();
    QCOMPARE(dark.pixelColor(dark.width() - 2, dark.height() - 2), Theme::colors(Theme::Mode::Dark).ground);
  }

  void theLargestMeshPaints() {
    Session session;
    SelectionState state(&session);
    set_largest(session);
    CommunicationView view(&state);
    open(view, {1900, 1200});
    state.setRank(4711);
    MeshCanvas* canvas = view.mesh()->canvas();
    for (const char* group : {"tp", "dp", "pp"}) {
      view.mesh()->setGroup(QString::fromLatin1(group));
      QImage image(canvas->size(), QImage::Format_ARGB32_Premultiplied);
      canvas->render(&image);
      const QImage before = image;
      state.setRank(state.rank() == 4711 ? 4712 : 4711);
      canvas->render(&image);
      QVERIFY2(image != before, group);  // another rank is highlighted
      QVERIFY(!canvas->tipAt({400, 120}).isEmpty());
    }
  }
};

QTEST_MAIN(MeshViewTest)
#include "mesh_view_test.moc"
