package io.throttlekit.bench.sensor;

import com.google.protobuf.Duration;
import com.google.protobuf.Struct;
import com.google.protobuf.Timestamp;
import com.google.protobuf.UInt32Value;
import com.google.protobuf.Value;
import io.envoyproxy.envoy.config.core.v3.Address;
import io.envoyproxy.envoy.config.core.v3.Node;
import io.envoyproxy.envoy.config.core.v3.SocketAddress;
import io.envoyproxy.envoy.config.endpoint.v3.ClusterStats;
import io.envoyproxy.envoy.config.endpoint.v3.UpstreamLocalityStats;
import io.envoyproxy.envoy.data.accesslog.v3.AccessLogCommon;
import io.envoyproxy.envoy.data.accesslog.v3.AccessLogType;
import io.envoyproxy.envoy.data.accesslog.v3.HTTPAccessLogEntry;
import io.envoyproxy.envoy.service.accesslog.v3.AccessLogServiceGrpc;
import io.envoyproxy.envoy.service.accesslog.v3.StreamAccessLogsMessage;
import io.envoyproxy.envoy.service.accesslog.v3.StreamAccessLogsMessage.HTTPAccessLogEntries;
import io.envoyproxy.envoy.service.accesslog.v3.StreamAccessLogsMessage.Identifier;
import io.envoyproxy.envoy.service.load_stats.v3.LoadReportingServiceGrpc;
import io.envoyproxy.envoy.service.load_stats.v3.LoadStatsRequest;
import io.grpc.MethodDescriptor;
import io.throttlekit.bench.load.RawBytes;
import java.util.List;
import java.util.stream.IntStream;

/** Signals that Envoys send about their requests, with generated messages. */
enum Sensor {
  /**
   * Log entries of requests that the upstream answered, {@value #ENTRIES} in a message, all
   * distinct.
   */
  ACCESS_LOG("access log", "entry", "throttlekit_access_log_entries_total{kind=\"answered\"}") {
    @Override
    MethodDescriptor<byte[], byte[]> method() {
      return raw(AccessLogServiceGrpc.getStreamAccessLogsMethod());
    }

    @Override
    int unitsOfAMessage() {
      return ENTRIES;
    }

    @Override
    byte[] greeting(int stream) {
      return StreamAccessLogsMessage.newBuilder()
          .setIdentifier(Identifier.newBuilder().setNode(node(stream)).setLogName("bench"))
          .build()
          .toByteArray();
    }

    @Override
    List<byte[]> messages(int stream) {
      return IntStream.range(0, LOG_MESSAGES).mapToObj(number -> log(stream, number)).toList();
    }
  },

  /** Load of {@value #CLUSTERS} clusters, of which one has a limit that is pushed to Envoys. */
  LOAD_REPORT("load report", "report", "throttlekit_load_report_messages_total") {
    @Override
    MethodDescriptor<byte[], byte[]> method() {
      return raw(LoadReportingServiceGrpc.getStreamLoadStatsMethod());
    }

    @Override
    int unitsOfAMessage() {
      return 1;
    }

    @Override
    byte[] greeting(int stream) {
      return LoadStatsRequest.newBuilder().setNode(node(stream)).build().toByteArray();
    }

    @Override
    List<byte[]> messages(int stream) {
      return IntStream.range(0, REPORTS).mapToObj(Sensor::report).toList();
    }
  };

  private static final int ENTRIES = 100;

  /**
   * Messages before a repetition: more entries than the service remembers, so that none is a known
   * one.
   */
  private static final int LOG_MESSAGES = 500;

  private static final int CLUSTERS = 10;
  private static final int REPORTS = 100;
  // An arbitrary fixed time: the service measures durations only.
  private static final long START_SECONDS = 1_700_000_000;

  private final String words;
  private final String unit;
  private final String metric;

  Sensor(String words, String unit, String metric) {
    this.words = words;
    this.unit = unit;
    this.metric = metric;
  }

  /** Returns the sensor's name in reports. */
  String words() {
    return words;
  }

  /** Returns the name of a counted unit. */
  String unit() {
    return unit;
  }

  /** Returns the service's metric for units that it has read and used. */
  String metric() {
    return metric;
  }

  /** Returns the method that Envoy calls, with messages as bytes. */
  abstract MethodDescriptor<byte[], byte[]> method();

  abstract int unitsOfAMessage();

  /** Returns the first message of a stream, which contains the node id. */
  abstract byte[] greeting(int stream);

  /** Returns the following messages, sent repeatedly. */
  abstract List<byte[]> messages(int stream);

  private static MethodDescriptor<byte[], byte[]> raw(MethodDescriptor<?, ?> generated) {
    return generated.toBuilder(RawBytes.INSTANCE, RawBytes.INSTANCE).build();
  }

  private static Node node(int stream) {
    return Node.newBuilder().setId("edge-" + stream).build();
  }

  private static byte[] log(int stream, int number) {
    HTTPAccessLogEntries.Builder entries = HTTPAccessLogEntries.newBuilder();
    for (int i = 0; i < ENTRIES; i++) {
      entries.addLogEntry(entry(stream, number * ENTRIES + i));
    }
    return StreamAccessLogsMessage.newBuilder().setHttpLogs(entries).build().toByteArray();
  }

  private static HTTPAccessLogEntry.Builder entry(int stream, int number) {
    HTTPAccessLogEntry.Builder entry = HTTPAccessLogEntry.newBuilder();
    AccessLogCommon.Builder common = entry.getCommonPropertiesBuilder();
    common
        .setAccessLogType(AccessLogType.DownstreamEnd)
        .setStreamId("6d9b6ff8-5a55-4d62-8f0e-%02d%010d".formatted(stream, number))
        .setStartTime(
            Timestamp.newBuilder()
                .setSeconds(START_SECONDS + number / 1_000)
                .setNanos(number % 1_000 * 1_000_000))
        .setTimeToLastRxByte(millis(0))
        .setTimeToFirstUpstreamTxByte(millis(2))
        .setTimeToLastUpstreamTxByte(millis(3))
        .setTimeToFirstUpstreamRxByte(millis(15 + number % 20))
        .setTimeToLastUpstreamRxByte(millis(17 + number % 20))
        .setDuration(millis(18 + number % 20))
        .setUpstreamCluster("upstream")
        .setUpstreamRequestAttemptCount(1)
        .setUpstreamRemoteAddress(address("10.0.0.7", 8000))
        .setDownstreamRemoteAddress(address("192.0.2.17", 40_000 + number % 1_000))
        .setDownstreamLocalAddress(address("10.0.0.2", 10_000));
    common
        .getMetadataBuilder()
        .putFilterMetadata(
            "envoy.filters.http.ratelimit",
            Struct.newBuilder()
                .putFields("decidedBy", Value.newBuilder().setStringValue("memory").build())
                .build());
    entry
        .getRequestBuilder()
        .setScheme("http")
        .setAuthority("shop.example")
        .setPath("/checkout/" + number)
        .setUserAgent("curl/8.5.0")
        .setRequestId("0c5f2d1e-%d-%d".formatted(stream, number))
        .setRequestHeadersBytes(240);
    entry
        .getResponseBuilder()
        .setResponseCode(UInt32Value.of(200))
        .setResponseCodeDetails("via_upstream")
        .setResponseHeadersBytes(130)
        .setResponseBodyBytes(512);
    return entry;
  }

  private static byte[] report(int number) {
    LoadStatsRequest.Builder report = LoadStatsRequest.newBuilder();
    for (int cluster = 0; cluster < CLUSTERS; cluster++) {
      report.addClusterStats(
          ClusterStats.newBuilder()
              .setClusterName(cluster == 0 ? "upstream" : "cluster-" + cluster)
              .setLoadReportInterval(Duration.newBuilder().setSeconds(1))
              .addUpstreamLocalityStats(
                  UpstreamLocalityStats.newBuilder()
                      .setTotalRequestsInProgress(5 + number % 10)
                      .setTotalIssuedRequests(1_000 + number)
                      .setTotalSuccessfulRequests(990 + number)
                      .setTotalErrorRequests(10)));
    }
    return report.build().toByteArray();
  }

  private static Duration millis(long millis) {
    return Duration.newBuilder().setNanos((int) (millis * 1_000_000)).build();
  }

  private static Address address(String host, int port) {
    return Address.newBuilder()
        .setSocketAddress(SocketAddress.newBuilder().setAddress(host).setPortValue(port))
        .build();
  }
}
