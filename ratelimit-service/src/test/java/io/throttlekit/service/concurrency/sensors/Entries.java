package io.throttlekit.service.concurrency.sensors;

import com.google.protobuf.Duration;
import com.google.protobuf.Struct;
import com.google.protobuf.Timestamp;
import com.google.protobuf.UInt32Value;
import com.google.protobuf.Value;
import io.envoyproxy.envoy.config.core.v3.Address;
import io.envoyproxy.envoy.config.core.v3.SocketAddress;
import io.envoyproxy.envoy.data.accesslog.v3.AccessLogCommon;
import io.envoyproxy.envoy.data.accesslog.v3.AccessLogType;
import io.envoyproxy.envoy.data.accesslog.v3.HTTPAccessLogEntry;
import io.envoyproxy.envoy.data.accesslog.v3.ResponseFlags;
import java.util.function.Consumer;

/** Entries as Envoy 1.40 writes them. Callers own the returned builders. */
public final class Entries {
  static final String RATE_LIMIT = "envoy.filters.http.ratelimit";
  static final String EXT_AUTHZ = "envoy.filters.http.ext_authz";
  static final long MS = 1_000_000;

  /** By Envoy's own clock. */
  static final long START_SECONDS = 1_700_000_000;

  private Entries() {}

  /** Returns an entry whose upstream took all the time. */
  public static HTTPAccessLogEntry answered(String id, long startNanos, long nanos) {
    HTTPAccessLogEntry.Builder entry = answered(200);
    entry
        .getCommonPropertiesBuilder()
        .setTimeToFirstUpstreamTxByte(duration(0))
        .setTimeToLastUpstreamTxByte(duration(0))
        .setTimeToFirstUpstreamRxByte(duration(nanos))
        .setTimeToLastUpstreamRxByte(duration(nanos));
    return lasting(entry, id, startNanos, nanos);
  }

  /** Returns an entry whose client left. */
  public static HTTPAccessLogEntry left(String id, long startNanos, long nanos) {
    return lasting(
        flagged(sent(0), flags -> flags.setDownstreamConnectionTermination(true)),
        id,
        startNanos,
        nanos);
  }

  /** Returns an entry that the concurrency limit refused. */
  public static HTTPAccessLogEntry refused(String id, long startNanos) {
    return lasting(
        flagged(unsent(503), flags -> flags.setUpstreamOverflow(true)), id, startNanos, 0);
  }

  private static HTTPAccessLogEntry lasting(
      HTTPAccessLogEntry.Builder entry, String id, long startNanos, long nanos) {
    entry
        .getCommonPropertiesBuilder()
        .setStreamId(id)
        .setStartTime(
            Timestamp.newBuilder()
                .setSeconds(START_SECONDS + startNanos / 1_000_000_000)
                .setNanos((int) (startNanos % 1_000_000_000)))
        .setDuration(duration(nanos))
        .setTimeToLastDownstreamTxByte(duration(nanos));
    return entry.build();
  }

  /** Returns an entry whose upstream took from 2 ms to 22 ms of 23 ms. */
  static HTTPAccessLogEntry.Builder answered(int code) {
    HTTPAccessLogEntry.Builder entry = sent(code);
    entry
        .getCommonPropertiesBuilder()
        .setTimeToFirstUpstreamRxByte(duration(20 * MS))
        .setTimeToLastUpstreamRxByte(duration(22 * MS));
    return entry;
  }

  /** Returns an entry sent to the upstream and not answered by it. */
  static HTTPAccessLogEntry.Builder sent(int code) {
    HTTPAccessLogEntry.Builder entry = unsent(code);
    entry
        .getCommonPropertiesBuilder()
        .setTimeToFirstUpstreamTxByte(duration(2 * MS))
        .setTimeToLastUpstreamTxByte(duration(3 * MS));
    return entry;
  }

  /** Returns an entry assigned to a host of the upstream. */
  static HTTPAccessLogEntry.Builder unsent(int code) {
    HTTPAccessLogEntry.Builder entry = local(code);
    entry
        .getCommonPropertiesBuilder()
        .setUpstreamCluster("up")
        .setUpstreamRemoteAddress(
            Address.newBuilder()
                .setSocketAddress(
                    SocketAddress.newBuilder().setAddress("127.0.0.1").setPortValue(8000)))
        .setUpstreamRequestAttemptCount(1);
    return entry;
  }

  /** Returns an entry that Envoy answered itself; 0 for no code. */
  static HTTPAccessLogEntry.Builder local(int code) {
    HTTPAccessLogEntry.Builder entry = HTTPAccessLogEntry.newBuilder();
    entry
        .getCommonPropertiesBuilder()
        .setAccessLogType(AccessLogType.DownstreamEnd)
        .setStartTime(Timestamp.newBuilder().setSeconds(START_SECONDS))
        .setDuration(duration(23 * MS));
    if (code > 0) {
      entry.getResponseBuilder().setResponseCode(UInt32Value.of(code));
    }
    return entry;
  }

  static HTTPAccessLogEntry.Builder flagged(
      HTTPAccessLogEntry.Builder entry, Consumer<ResponseFlags.Builder> flag) {
    flag.accept(entry.getCommonPropertiesBuilder().getResponseFlagsBuilder());
    return entry;
  }

  @SuppressWarnings("deprecation") // the only field that older Envoys set
  static HTTPAccessLogEntry.Builder goingOn(HTTPAccessLogEntry.Builder entry) {
    entry.getCommonPropertiesBuilder().setIntermediateLogEntry(true);
    return entry;
  }

  static HTTPAccessLogEntry.Builder leased(
      HTTPAccessLogEntry.Builder entry, String namespace, String lease) {
    return metadata(entry, namespace, Value.newBuilder().setStringValue(lease).build());
  }

  static HTTPAccessLogEntry.Builder metadata(
      HTTPAccessLogEntry.Builder entry, String namespace, Value lease) {
    entry
        .getCommonPropertiesBuilder()
        .getMetadataBuilder()
        .putFilterMetadata(namespace, Struct.newBuilder().putFields("lease", lease).build());
    return entry;
  }

  /** Returns the same request with another id, {@code afterMillis} after the others. */
  static HTTPAccessLogEntry.Builder identified(
      HTTPAccessLogEntry.Builder entry, String streamId, long afterMillis) {
    AccessLogCommon.Builder common = entry.getCommonPropertiesBuilder();
    common.setStreamId(streamId);
    long nanos = afterMillis * MS;
    common.setStartTime(
        Timestamp.newBuilder()
            .setSeconds(START_SECONDS + nanos / 1_000_000_000)
            .setNanos((int) (nanos % 1_000_000_000)));
    return entry;
  }

  static Duration duration(long nanos) {
    return Duration.newBuilder()
        .setSeconds(nanos / 1_000_000_000)
        .setNanos((int) (nanos % 1_000_000_000))
        .build();
  }
}
