package io.throttlekit.service.concurrency.sensors;

import io.envoyproxy.envoy.data.accesslog.v3.AccessLogCommon;
import io.envoyproxy.envoy.data.accesslog.v3.HTTPAccessLogEntry;
import io.envoyproxy.envoy.service.accesslog.v3.AccessLogServiceGrpc.AccessLogServiceImplBase;
import io.envoyproxy.envoy.service.accesslog.v3.StreamAccessLogsMessage;
import io.envoyproxy.envoy.service.accesslog.v3.StreamAccessLogsResponse;
import io.grpc.Status;
import io.grpc.stub.StreamObserver;
import io.throttlekit.TimeSource;
import io.throttlekit.envoy.NodeIds;
import io.throttlekit.service.concurrency.sensors.AccessLogListener.Skipped;
import io.throttlekit.service.log.LogInterval;
import java.time.Duration;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Receives access logs from Envoys: the service {@code
 * envoy.service.accesslog.v3.AccessLogService}.
 *
 * <p>Logs are an unreliable sensor: Envoy loses entries without counting them, and sends them late.
 * Samples beyond the budget of a stream are therefore dropped and counted instead of slowing Envoy
 * down. Memory is bounded: for each request its identity while copies may still arrive, and for
 * each stream the offset of its clock. The server bounds the number of streams.
 *
 * <p>Thread-safe; never blocks, so a direct executor suffices.
 */
public final class AccessLogs extends AccessLogServiceImplBase {
  private static final Logger LOG = LoggerFactory.getLogger(AccessLogs.class);
  // bounds the work of one message
  private static final int MAX_ENTRIES = 10_000;
  // stream ids are kept in memory and chosen by clients
  private static final int MAX_STREAM_ID = 256;
  // copies arrive within about ten thousand requests of each other
  private static final int MAX_REMEMBERED = 1 << 15;
  // an Envoy may send thousands of faulty entries a second
  private static final Duration LOG_INTERVAL = Duration.ofSeconds(10);

  private final OutcomeListener sensed;
  private final AccessLogListener listener;
  private final TimeSource time;
  private final int samplesPerSecond;
  private final RecentIds recent;
  private final LogInterval faults;

  /**
   * Creates a service that notifies {@code sensed} of each logged request.
   *
   * @param samplesPerSecond samples that one stream may contribute, from 1; requests beyond that
   *     are reported as crowded out
   */
  public AccessLogs(
      OutcomeListener sensed, AccessLogListener listener, TimeSource time, int samplesPerSecond) {
    this.sensed = sensed;
    this.listener = listener;
    this.time = time;
    this.samplesPerSecond = samplesPerSecond;
    this.recent = new RecentIds(MAX_REMEMBERED);
    this.faults = new LogInterval(LOG_INTERVAL, time.monotonicNanos());
  }

  @Override
  public StreamObserver<StreamAccessLogsMessage> streamAccessLogs(
      StreamObserver<StreamAccessLogsResponse> answers) {
    return new LogStream(answers);
  }

  /**
   * One access log stream of an Envoy, which opens one for each worker and log. Only the first
   * message contains the node id.
   */
  private final class LogStream
      extends ReportStream<StreamAccessLogsMessage, StreamAccessLogsResponse> {
    private final SampleBudget budget = new SampleBudget(samplesPerSecond);
    private final SenderClock clock = new SenderClock();
    private boolean failed;

    LogStream(StreamObserver<StreamAccessLogsResponse> answers) {
      super(answers, listener);
    }

    @Override
    void received(StreamAccessLogsMessage message) {
      if (message.hasIdentifier()) {
        String named = message.getIdentifier().getNode().getId();
        node = NodeIds.isUsable(named) ? named : ""; // the requests count all the same
        Status rejection = node.isEmpty() ? null : allowed.rejection(node);
        if (rejection != null) {
          reject(rejection);
          return;
        }
      }
      long arrived = time.monotonicNanos();
      if (message.getTcpLogs().getLogEntryCount() > 0) {
        listener.skipped(Skipped.TCP, message.getTcpLogs().getLogEntryCount());
      }
      List<HTTPAccessLogEntry> entries = message.getHttpLogs().getLogEntryList();
      int count = Math.min(entries.size(), MAX_ENTRIES);
      if (count < entries.size()) {
        listener.skipped(Skipped.TOO_MANY, entries.size() - count);
      }
      if (node.isEmpty() && count > 0) {
        listener.withoutNode(count);
      }
      compareClocks(entries.subList(0, count), arrived);
      for (int i = 0; i < count; i++) {
        readSafely(entries.get(i), arrived);
      }
    }

    /**
     * Compares the clocks by the entry that ended last, which came with the least delay. Otherwise
     * all entries of the first message would seem to have ended at its arrival.
     */
    private void compareClocks(List<HTTPAccessLogEntry> entries, long arrived) {
      long latest = -1;
      for (HTTPAccessLogEntry entry : entries) {
        latest = Math.max(latest, endedNanos(entry.getCommonProperties()));
      }
      if (latest >= 0) {
        var _ = clock.happenedNanos(latest, arrived);
      }
    }

    @Override
    void complete() {
      answer(StreamAccessLogsResponse.getDefaultInstance());
    }

    /** Reads an entry; a failure must not affect the other entries. */
    private void readSafely(HTTPAccessLogEntry entry, long arrived) {
      try {
        read(entry, arrived);
      } catch (RuntimeException e) {
        listener.skipped(Skipped.FAILED, 1);
        if (!failed && faults.isDue(arrived)) {
          failed = true;
          LOG.error("an entry of the access log of {} could not be used", node, e);
        }
      }
    }

    private void read(HTTPAccessLogEntry entry, long arrived) {
      Reading reading = EntryReader.read(entry);
      AccessLogCommon common = entry.getCommonProperties();
      if (!reading.kind().ends()) {
        listener.read(reading);
        return;
      }
      if (reading.counts() && !isNew(reading, common)) {
        listener.skipped(Skipped.DUPLICATE, 1);
        return;
      }
      Kind kind = reading.kind();
      long began = beganNanos(common, arrived);
      boolean teaches = kind.isSample() || kind.isDrop();
      Reading counted = teaches && !budget.spend(arrived) ? reading.crowdedOut() : reading;
      listener.read(counted);
      sensed.ended(node, counted, began, arrived);
    }

    /** Returns whether the entry is not a copy. Without an identity it counts as new. */
    private boolean isNew(Reading reading, AccessLogCommon common) {
      if (!reading.permits().isEmpty()) {
        return recent.isNew(reading.permits().getFirst());
      }
      String id = common.getStreamId();
      return id.isEmpty()
          || id.length() > MAX_STREAM_ID
          || recent.isNew(
              new Logged(
                  node,
                  id,
                  EntryReader.startNanos(common),
                  EntryReader.nanos(common.getDuration())));
    }

    private long beganNanos(AccessLogCommon common, long arrived) {
      long lasted = EntryReader.nanos(common.getDuration());
      long sent = EntryReader.nanos(common.getTimeToFirstUpstreamTxByte());
      long atWork = lasted < 0 ? 0 : lasted - Math.clamp(sent, 0, lasted);
      long stated = endedNanos(common);
      return (stated < 0 ? arrived : clock.happenedNanos(stated, arrived)) - atWork;
    }

    /** Returns when the request ended by Envoy's clock, or −1 if that is not known. */
    private static long endedNanos(AccessLogCommon common) {
      long start = EntryReader.startNanos(common);
      long lasted = EntryReader.nanos(common.getDuration());
      return start < 0 || lasted < 0 ? -1 : start + lasted;
    }

    /**
     * Identity of a request without a permit. Clients may choose the stream id and chained proxies
     * share it, but not with the same start and duration to the nanosecond.
     */
    private record Logged(String node, String id, long startNanos, long lastedNanos) {}
  }
}
