package io.throttlekit.service.accesslog;

import io.envoyproxy.envoy.data.accesslog.v3.AccessLogCommon;
import io.envoyproxy.envoy.data.accesslog.v3.HTTPAccessLogEntry;
import io.envoyproxy.envoy.service.accesslog.v3.StreamAccessLogsMessage;
import io.envoyproxy.envoy.service.accesslog.v3.StreamAccessLogsResponse;
import io.grpc.Status;
import io.grpc.stub.StreamObserver;
import io.throttlekit.envoy.NodeId;
import io.throttlekit.envoy.NodeIds;
import io.throttlekit.service.accesslog.AccessLogListener.Skipped;
import io.throttlekit.service.sensor.Kind;
import io.throttlekit.service.sensor.Reading;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One access log stream of an Envoy, which opens one for each worker and log. Only the first
 * message contains the node id. For one thread at a time, as gRPC calls it.
 */
final class LogStream implements StreamObserver<StreamAccessLogsMessage> {
  private static final Logger LOG = LoggerFactory.getLogger(LogStream.class);
  // bounds the work of one message
  private static final int MAX_ENTRIES = 10_000;
  // stream ids are kept in memory and chosen by clients
  private static final int MAX_STREAM_ID = 256;

  private final AccessLogs logs;
  private final StreamObserver<StreamAccessLogsResponse> answers;
  private final SampleBudget budget;
  private final NodeIds allowed = NodeIds.ofCall();
  private final SenderClock clock = new SenderClock();
  private String node = "";
  private boolean over;
  private boolean failed;

  LogStream(AccessLogs logs, StreamObserver<StreamAccessLogsResponse> answers) {
    this.logs = logs;
    this.answers = answers;
    this.budget = logs.budget();
  }

  @Override
  public void onNext(StreamAccessLogsMessage message) {
    if (over) {
      return;
    }
    if (message.hasIdentifier()) {
      String named = message.getIdentifier().getNode().getId();
      node = NodeId.isUsable(named) ? named : "";
      if (!node.isEmpty() && !allowed.allow(node)) {
        over();
        logs.listener().rejected();
        answers.onError(
            Status.PERMISSION_DENIED.withDescription(NodeIds.DENIED).asRuntimeException());
        return;
      }
    }
    long arrived = logs.nowNanos();
    if (message.getTcpLogs().getLogEntryCount() > 0) {
      logs.listener().skipped(Skipped.TCP, message.getTcpLogs().getLogEntryCount());
    }
    List<HTTPAccessLogEntry> entries = message.getHttpLogs().getLogEntryList();
    int count = Math.min(entries.size(), MAX_ENTRIES);
    if (count < entries.size()) {
      logs.listener().skipped(Skipped.TOO_MANY, entries.size() - count);
    }
    if (node.isEmpty() && count > 0) {
      logs.listener().withoutNode(count);
    }
    for (int i = 0; i < count; i++) {
      readSafely(entries.get(i), arrived);
    }
  }

  @Override
  public void onError(Throwable cause) {
    over();
  }

  @Override
  public void onCompleted() {
    if (!over) {
      over();
      answers.onNext(StreamAccessLogsResponse.getDefaultInstance());
      answers.onCompleted();
    }
  }

  /** Marks the stream as ended; no effect the second time. */
  void over() {
    if (!over) {
      over = true;
      logs.closed();
    }
  }

  /** Reads an entry; a failure must not affect the other entries. */
  private void readSafely(HTTPAccessLogEntry entry, long arrived) {
    try {
      read(entry, arrived);
    } catch (RuntimeException e) {
      logs.listener().skipped(Skipped.FAILED, 1);
      if (!failed && logs.mayLogFault(arrived)) {
        failed = true;
        LOG.error("an entry of the access log of {} could not be used", node, e);
      }
    }
  }

  private void read(HTTPAccessLogEntry entry, long arrived) {
    Reading reading = EntryReader.read(entry);
    AccessLogCommon common = entry.getCommonProperties();
    if (!reading.kind().ends()) {
      logs.listener().read(reading);
      return;
    }
    if (reading.counts() && !isNew(reading, common)) {
      logs.listener().skipped(Skipped.DUPLICATE, 1);
      return;
    }
    Kind kind = reading.kind();
    long began = beganNanos(common, arrived);
    boolean teaches = kind.isSample() || kind.isDrop();
    Reading told = teaches && !budget.spend(arrived) ? reading.crowdedOut() : reading;
    logs.listener().read(told);
    logs.sensed().ended(node, told, began, arrived);
  }

  /** Returns whether the entry is not a copy. Without an identity it counts as new. */
  private boolean isNew(Reading reading, AccessLogCommon common) {
    String id = reading.leases().isEmpty() ? common.getStreamId() : reading.leases().getFirst();
    return id.isEmpty()
        || id.length() > MAX_STREAM_ID
        || logs.recent()
            .isNew(
                reading.leases().isEmpty()
                    ? new Logged(
                        node,
                        id,
                        EntryTimes.startNanos(common),
                        EntryTimes.nanos(common.getDuration()))
                    : id);
  }

  private long beganNanos(AccessLogCommon common, long arrived) {
    long start = EntryTimes.startNanos(common);
    long lasted = EntryTimes.nanos(common.getDuration());
    long sent = EntryTimes.nanos(common.getTimeToFirstUpstreamTxByte());
    long atWork = lasted < 0 ? 0 : lasted - Math.clamp(sent, 0, lasted);
    long ended = start < 0 || lasted < 0 ? arrived : clock.happenedNanos(start + lasted, arrived);
    return ended - atWork;
  }

  /**
   * Identity of a request without a lease. Clients may choose the stream id and chained proxies
   * share it, but not with the same start and duration to the nanosecond.
   */
  private record Logged(String node, String id, long startNanos, long lastedNanos) {}
}
