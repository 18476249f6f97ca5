// Scripts of a search on a cluster with Slurm: directives, quotes, refused values.
#include <QFile>
#include <QProcess>
#include <QTemporaryDir>
#include <QtTest>

#include "explore/slurm_job.h"

using namespace shardscape;

class SlurmJobTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void directives_data();
  void directives();
  void words_arrive_as_they_are_data();
  void words_arrive_as_they_are();
  void newest_checkpoint_is_continued();
  void failed_search_leaves_its_checkpoint();
  void another_attempt_may_be_faster();
  void leftovers_of_a_shard_go();
  void submits_both_jobs();
  void refused_data();
  void refused();
  void folder_must_be_empty();
};

namespace {

SlurmJob job_in(const QTemporaryDir& folder) {
  SlurmJob job;
  job.folder = folder.filePath("job").toStdString();
  job.work_folder = folder.path().toStdString();
  job.program = folder.filePath("program").toStdString();
  job.shards = 3;
  return job;
}

void write(const QString& path, const QByteArray& text) {
  QFile file(path);
  QVERIFY(file.open(QIODevice::WriteOnly));
  file.write(text);
  file.setPermissions(QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
}

QByteArray content(const QString& path) {
  QFile file(path);
  return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

// A program that writes its arguments, one per line with an end mark, and the file of --output.
void write_program(const QTemporaryDir& folder, int exit_code = 0) {
  write(folder.filePath("program"), "#!/bin/bash\nprintf '%s|\\n' \"$@\" >'" +
                                        folder.filePath("words").toUtf8() +
                                        "'\nwhile [ $# -gt 0 ]; do if [ \"$1\" = --output ]; then echo new "
                                        ">\"$2\"; fi; shift; done\nexit " +
                                        QByteArray::number(exit_code) + "\n");
}

int run_script(const SlurmJob& job, const char* name, const QStringList& variables = {}) {
  QProcess process;
  QStringList environment = QProcess::systemEnvironment();
  process.setEnvironment(environment + variables);
  process.start("bash", {QString::fromStdString((job.folder / name).string())});
  return process.waitForFinished() ? process.exitCode() : -1;
}

}  // namespace

void SlurmJobTest::directives_data() {
  QTest::addColumn<QString>("member");
  QTest::addColumn<QString>("value");
  QTest::addColumn<QString>("line");
  QTest::newRow("array") << ""
                         << ""
                         << "--array=0-2";
  QTest::newRow("requeue") << ""
                           << ""
                           << "--requeue";
  QTest::newRow("log") << ""
                       << ""
                       << "--output=shard-%a.log";
  QTest::newRow("cores") << ""
                         << ""
                         << "--cpus-per-task=4";
  QTest::newRow("partition") << "partition"
                             << "long,short"
                             << "--partition=long,short";
  QTest::newRow("time") << "time"
                        << "1-12:00:00"
                        << "--time=1-12:00:00";
  QTest::newRow("minutes") << "time"
                           << "30"
                           << "--time=30";
  QTest::newRow("memory") << "memory"
                          << "4G"
                          << "--mem=4G";
  QTest::newRow("option") << "option"
                          << "--account=physics"
                          << "--account=physics";
}

void SlurmJobTest::directives() {
  QFETCH(QString, member);
  QFETCH(QString, value);
  QFETCH(QString, line);
  const QTemporaryDir folder;
  SlurmJob job = job_in(folder);
  job.cpus = 4;
  const std::string text = value.toStdString();
  if (member == "partition") job.partition = text;
  if (member == "time") job.time = text;
  if (member == "memory") job.memory = text;
  if (member == "option") job.options = {text};
  QVERIFY(!check_slurm(job));
  const SlurmScripts scripts = slurm_scripts(job);
  const std::string directive = "\n#SBATCH " + line.toStdString() + "\n";
  QVERIFY2(scripts.shard.find(directive) != std::string::npos, scripts.shard.c_str());
  if (!member.isEmpty()) QVERIFY2(scripts.merge.find(directive) != std::string::npos, scripts.merge.c_str());
  // No directive of an option that is not given.
  if (member != "time") QVERIFY(scripts.shard.find("--time") == std::string::npos);
}

void SlurmJobTest::words_arrive_as_they_are_data() {
  QTest::addColumn<QString>("word");
  QTest::newRow("plain") << "--tp=1,2";
  QTest::newRow("space") << "--where=tp <= 2";
  QTest::newRow("quote") << "--name=it's";
  QTest::newRow("double quotes") << "--name=\"x\"";
  QTest::newRow("dollar") << "--name=$HOME ${x} $(touch evil)";
  QTest::newRow("backquotes") << "--name=`touch evil`";
  QTest::newRow("backslash") << "--name=a\\b\\";
  QTest::newRow("semicolon") << "--where=tp<=2;pp>1 && rm -r x | cat & #";
  QTest::newRow("star") << "--name=*?[a]~";
  QTest::newRow("line end") << "--name=a\n#SBATCH --mem=1\nb";
  QTest::newRow("empty") << "";
  QTest::newRow("letters") << QString::fromUtf8("--name=größe 模型");
  QTest::newRow("exclamation mark") << "--where=tp!=2";
}

void SlurmJobTest::words_arrive_as_they_are() {
  QFETCH(QString, word);
  const QTemporaryDir folder;
  SlurmJob job = job_in(folder);
  // Folders have the same characters.
  QString name = word;
  name.replace('/', '_');
  job.folder = folder.filePath("job " + name).toStdString();
  job.explore = {"--first", word.toStdString(), "--last"};
  job.merge = {word.toStdString()};
  QVERIFY(!write_slurm(job));
  write_program(folder);
  const QByteArray parts = QByteArray::fromStdString(job.folder.string()) + "/part-";
  QCOMPARE(run_script(job, "shard.sh", {"SLURM_ARRAY_TASK_ID=1", "SLURM_JOB_ID=7"}), 0);
  QCOMPARE(content(folder.filePath("words")), "explore|\n--threads|\n1|\n--first|\n" + word.toUtf8() +
                                                  "|\n--last|\n--shard|\n1/3|\n--output|\n" +
                                                  QByteArray::fromStdString(job.folder.string()) +
                                                  "/checkpoint-1-7-0.json|\n");
  QCOMPARE(content(QString::fromUtf8(parts + "1.json")), QByteArray("new\n"));
  QCOMPARE(run_script(job, "merge.sh"), 0);
  QCOMPARE(content(folder.filePath("words")),
           "merge|\n" + word.toUtf8() + "|\n--output|\n" + QByteArray::fromStdString(job.folder.string()) +
               "/result.json|\n" + parts + "0.json|\n" + parts + "1.json|\n" + parts + "2.json|\n");
  QVERIFY(!QFile::exists(folder.filePath("evil")));
}

void SlurmJobTest::newest_checkpoint_is_continued() {
  const QTemporaryDir folder;
  const SlurmJob job = job_in(folder);
  QVERIFY(!write_slurm(job));
  write_program(folder);
  const QString place = QString::fromStdString(job.folder.string());
  const auto checkpoint = [&](const char* name, int minute) {
    const QString path = place + "/checkpoint-" + name + ".json";
    write(path, "old");
    QFile file(path);
    QVERIFY(file.open(QIODevice::ReadWrite));
    QVERIFY(
        file.setFileTime(QDateTime(QDate(2026, 1, 1), QTime(12, minute)), QFileDevice::FileModificationTime));
  };
  checkpoint("2-7-0", 1);
  checkpoint("2-8-0", 3);
  checkpoint("2-7-1", 2);
  checkpoint("20-9-0", 9);  // of another task
  QCOMPARE(run_script(job, "shard.sh", {"SLURM_ARRAY_TASK_ID=2", "SLURM_JOB_ID=8", "SLURM_RESTART_COUNT=1"}),
           0);
  QVERIFY(content(folder.filePath("words"))
              .endsWith("--output|\n" + place.toUtf8() + "/checkpoint-2-8-1.json|\n--resume|\n" +
                        place.toUtf8() + "/checkpoint-2-8-0.json|\n"));
  // The part takes the place of all checkpoints of the task.
  QCOMPARE(QDir(place).entryList({"*.json"}), (QStringList{"checkpoint-20-9-0.json", "part-2.json"}));
  // A complete part is not searched again.
  QFile::remove(folder.filePath("words"));
  QCOMPARE(run_script(job, "shard.sh", {"SLURM_ARRAY_TASK_ID=2"}), 0);
  QVERIFY(!QFile::exists(folder.filePath("words")));
}

void SlurmJobTest::failed_search_leaves_its_checkpoint() {
  const QTemporaryDir folder;
  const SlurmJob job = job_in(folder);
  QVERIFY(!write_slurm(job));
  write_program(folder, 130);
  QCOMPARE(run_script(job, "shard.sh", {"SLURM_ARRAY_TASK_ID=0", "SLURM_JOB_ID=5"}), 130);
  QCOMPARE(QDir(QString::fromStdString(job.folder.string())).entryList({"*.json"}),
           QStringList{"checkpoint-0-5-0.json"});
  // Outside an array there is no shard.
  QVERIFY(run_script(job, "shard.sh") != 0);
}

// Another attempt may end a shard, and remove its checkpoint, while this one starts.
void SlurmJobTest::another_attempt_may_be_faster() {
  const QTemporaryDir folder;
  const SlurmJob job = job_in(folder);
  QVERIFY(!write_slurm(job));
  const QString part = QString::fromStdString((job.folder / "part-0.json").string());
  write(folder.filePath("program"), "#!/bin/bash\necho done >'" + part.toUtf8() + "'\nexit 1\n");
  QCOMPARE(run_script(job, "shard.sh", {"SLURM_ARRAY_TASK_ID=0"}), 0);
  QCOMPARE(content(part), QByteArray("done\n"));
}

// What a killed program left under a temporary name goes when the shard is done.
void SlurmJobTest::leftovers_of_a_shard_go() {
  const QTemporaryDir folder;
  const SlurmJob job = job_in(folder);
  QVERIFY(!write_slurm(job));
  write_program(folder);
  const QDir in(QString::fromStdString(job.folder.string()));
  write(in.filePath(".checkpoint-0-5-0.json.partial-abc123"), "half");
  write(in.filePath(".checkpoint-2-5-0.json.partial-abc123"), "of another shard");
  QCOMPARE(run_script(job, "shard.sh", {"SLURM_ARRAY_TASK_ID=0"}), 0);
  QCOMPARE(in.entryList({".checkpoint*"}, QDir::Files | QDir::Hidden),
           QStringList{".checkpoint-2-5-0.json.partial-abc123"});
}

void SlurmJobTest::submits_both_jobs() {
  const QTemporaryDir folder;
  SlurmJob job = job_in(folder);
  job.folder = folder.filePath("a 'b'").toStdString();
  QVERIFY(!write_slurm(job));
  // --parsable prints "job;cluster" where there are several clusters.
  write(folder.filePath("sbatch"), "#!/bin/bash\nprintf '%s|' \"$@\" >>'" + folder.filePath("log").toUtf8() +
                                       "'\necho >>'" + folder.filePath("log").toUtf8() +
                                       "'\necho '41;west'\n");
  QCOMPARE(run_script(job, "submit.sh", {"PATH=" + folder.path() + ":" + qEnvironmentVariable("PATH")}), 0);
  const QByteArray place = QByteArray::fromStdString(job.folder.string());
  QCOMPARE(content(folder.filePath("log")),
           "--parsable|--chdir=" + place + "|" + place + "/shard.sh|\n" +
               "--parsable|--dependency=afterok:41|--kill-on-invalid-dep=yes|--chdir=" + place + "|" + place +
               "/merge.sh|\n");
  const std::string lines = slurm_lines(job);
  for (const char* part : {"sbatch --parsable --chdir=", "--dependency=afterok:ID", "bash '"})
    QVERIFY2(lines.find(part) != std::string::npos, part);
}

void SlurmJobTest::refused_data() {
  QTest::addColumn<QString>("member");
  QTest::addColumn<QString>("value");
  QTest::newRow("partition") << "partition"
                             << "a b";
  QTest::newRow("partition with a line") << "partition"
                                         << "a\n#SBATCH --mem=1";
  QTest::newRow("time") << "time"
                        << "soon";
  QTest::newRow("time with four parts") << "time"
                                        << "1:2:3:4";
  QTest::newRow("memory") << "memory"
                          << "4 GB";
  QTest::newRow("option without dashes") << "option"
                                         << "account=physics";
  QTest::newRow("option with a space") << "option"
                                       << "--account=a b";
  QTest::newRow("option with a quote") << "option"
                                       << "--account='a'";
  QTest::newRow("long option") << "option"
                               << "--account=" + QString(1'000'000, 'a');
}

void SlurmJobTest::refused() {
  QFETCH(QString, member);
  QFETCH(QString, value);
  SlurmJob job;
  const std::string text = value.toStdString();
  if (member == "partition") job.partition = text;
  if (member == "time") job.time = text;
  if (member == "memory") job.memory = text;
  if (member == "option") job.options = {text};
  const auto problem = check_slurm(job);
  QVERIFY(problem);
  QCOMPARE(problem->code, ProblemCode::FlagValueInvalid);
  QCOMPARE(QString::fromStdString(problem->where), "--slurm-" + member);
  QVERIFY(problem->what.size() < 200);
}

void SlurmJobTest::folder_must_be_empty() {
  const QTemporaryDir folder;
  SlurmJob job = job_in(folder);
  QVERIFY(!write_slurm(job));
  const auto again = write_slurm(job);
  QVERIFY(again && again->code == ProblemCode::FolderNotEmpty);
  job.folder = "/proc/nowhere";
  const auto nowhere = write_slurm(job);
  QVERIFY(nowhere && nowhere->code == ProblemCode::FolderNotWritable);
}

QTEST_APPLESS_MAIN(SlurmJobTest)
#include "slurm_job_test.moc"
