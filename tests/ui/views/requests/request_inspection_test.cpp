// The facts of a request that had two replicas, or one that failed.
#include <QTest>
#include <algorithm>

#include "ui/views/requests/request_inspection.h"

using namespace shardscape;
using namespace shardscape::ui;

namespace {

// One request: arrival 0, prompt until 1 s, transfer from 1.5 s to 2 s, answer until 3 s.
ServiceRun run_with(const RequestRecord& record) {
  ServiceRun run;
  Request request;
  request.prompt = 100;
  request.output = 10;
  run.workload.requests = {request};
  run.simulation.requests = {record};
  return run;
}

QStringList labels(const ServiceRun& run) {
  QStringList out;
  for (const auto& row : inspect_request(run, {}, 0).rows) out << row.first;
  return out;
}

}  // namespace

class RequestInspectionTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void a_request_has_its_transfer_and_restarts() {
    RequestRecord record;
    record.end = RequestEnd::Finished;
    record.first_token = 2;
    record.last_token = 3;
    QVERIFY(!labels(run_with(record)).contains("KV transfer"));
    record.prefill_replica = 0;
    record.replica = 1;
    record.prefilled = 1;
    record.transfer_begin = 1.5;
    record.transfer_end = 2;
    const QStringList all = labels(run_with(record));
    for (const char* label : {"Prefill engine", "Wait for the transfer", "KV transfer"})
      QVERIFY2(all.contains(label), label);
    QVERIFY(!all.contains("Restarts after failures"));
    record.restarts = 1;
    QVERIFY(labels(run_with(record)).contains("Restarts after failures"));
  }
};

QTEST_APPLESS_MAIN(RequestInspectionTest)
#include "request_inspection_test.moc"
