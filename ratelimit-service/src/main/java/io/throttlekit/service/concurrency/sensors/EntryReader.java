package io.throttlekit.service.concurrency.sensors;

import com.google.protobuf.Duration;
import com.google.protobuf.Struct;
import com.google.protobuf.Timestamp;
import com.google.protobuf.Value;
import io.envoyproxy.envoy.config.core.v3.Metadata;
import io.envoyproxy.envoy.config.core.v3.RequestMethod;
import io.envoyproxy.envoy.data.accesslog.v3.AccessLogCommon;
import io.envoyproxy.envoy.data.accesslog.v3.AccessLogType;
import io.envoyproxy.envoy.data.accesslog.v3.HTTPAccessLogEntry;
import io.envoyproxy.envoy.data.accesslog.v3.HTTPResponseProperties;
import io.envoyproxy.envoy.data.accesslog.v3.ResponseFlags;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Converts an access log entry to a {@link Reading}. Depends on the entry alone and accepts any
 * content.
 *
 * <p>Response flags take precedence over codes, because Envoy itself answers 503 for many reasons,
 * and the last event over its causes. Only differences of times within one entry are used.
 */
public final class EntryReader {
  /** Key of the permit's id in a filter's metadata. */
  private static final String LEASE = "lease";

  /** Filters that call this service, in the order in which their permits are used. */
  private static final List<String> NAMESPACES =
      List.of("envoy.filters.http.ext_authz", "envoy.filters.http.ratelimit");

  // longer than any permit id of this service
  private static final int MAX_PERMIT_ID = 128;
  // routes are kept in memory, and paths are chosen by clients
  private static final int MAX_ROUTE = 64;
  // above the longest IPv6 address with a zone
  private static final int MAX_ADDRESS = 64;

  /** A client counts as slow if writing to it takes longer than 1/50 of the time of receiving. */
  private static final int SLOW_READER_ONE_IN = 50;

  // below 1 ms the delay is scheduling
  private static final long SLOW_READER_NANOS = 1_000_000;

  /** A request that takes longer than a day yields no useful sample. */
  private static final long MAX_SECONDS = TimeUnit.DAYS.toSeconds(1);

  /** Later times in nanoseconds since 1970 would overflow a {@code long}. */
  private static final long LATEST_SECONDS = 9_000_000_000L;

  // ns per second
  private static final int BILLION = 1_000_000_000;

  private static final int SWITCHING_PROTOCOLS = 101;
  private static final int TOO_MANY_REQUESTS = 429;
  private static final int UNAVAILABLE = 503;

  private EntryReader() {}

  /** Returns the reading of the entry. */
  public static Reading read(HTTPAccessLogEntry entry) {
    AccessLogCommon common = entry.getCommonProperties();
    Metadata metadata = common.getMetadata();
    Kind kind = kind(entry, common);
    long rtt = 0;
    // only samples need a latency
    if (kind == Kind.ANSWERED) {
      rtt = rttNanos(entry, common);
      kind = rtt == 0 ? Kind.UNTIMED : kind;
    }
    boolean marked = NAMESPACES.stream().anyMatch(metadata::containsFilterMetadata);
    return new Reading(
        kind,
        common.getUpstreamCluster(),
        rtt,
        marked ? permits(metadata) : List.of(),
        marked,
        route(entry, common),
        client(common));
  }

  /**
   * Returns the client's address, or an empty text if it is longer than any address: the result is
   * kept in memory.
   */
  private static String client(AccessLogCommon common) {
    String address = common.getDownstreamRemoteAddress().getSocketAddress().getAddress();
    return address.length() <= MAX_ADDRESS ? address : "";
  }

  /**
   * Returns the name of the route, or the first segment of the path if it has none, which
   * distinguishes most routes.
   */
  private static String route(HTTPAccessLogEntry entry, AccessLogCommon common) {
    String name = common.getRouteName();
    if (!name.isEmpty()) {
      return name.length() <= MAX_ROUTE ? name : name.substring(0, MAX_ROUTE);
    }
    String path = entry.getRequest().getPath();
    int end = Math.min(path.length(), MAX_ROUTE);
    for (int i = 1; i < end; i++) {
      char c = path.charAt(i);
      if (c == '/' || c == '?') {
        return path.substring(0, i);
      }
    }
    return path.substring(0, end);
  }

  private static List<String> permits(Metadata metadata) {
    List<String> permits = new ArrayList<>(1);
    for (String namespace : NAMESPACES) {
      Struct fields = metadata.getFilterMetadataOrDefault(namespace, Struct.getDefaultInstance());
      Value lease = fields.getFieldsOrDefault(LEASE, Value.getDefaultInstance());
      String id = lease.getStringValue();
      if (!id.isEmpty() && id.length() <= MAX_PERMIT_ID && !permits.contains(id)) {
        permits.add(id);
      }
    }
    return permits;
  }

  private static Kind kind(HTTPAccessLogEntry entry, AccessLogCommon common) {
    if (!ends(common)) {
      return Kind.CONTINUES;
    }
    Kind flagged = flagged(common, common.getResponseFlags());
    if (flagged != null) {
      return flagged;
    }
    if (common.getUpstreamRequestAttemptCount() > 1) {
      return Kind.RETRIED;
    }
    // otherwise Envoy answered by itself, for example with a redirect
    boolean sent = common.hasTimeToFirstUpstreamTxByte() && common.hasUpstreamRemoteAddress();
    return sent ? answered(entry.getResponse()) : Kind.LOCAL_REPLY;
  }

  @SuppressWarnings("deprecation") // used by Envoys that predate the access log type
  private static boolean ends(AccessLogCommon common) {
    AccessLogType type = common.getAccessLogType();
    return !common.getIntermediateLogEntry()
        && (type == AccessLogType.NotSet || type == AccessLogType.DownstreamEnd);
  }

  private static @Nullable Kind flagged(AccessLogCommon common, ResponseFlags flags) {
    if (flags.getRateLimited()) {
      return Kind.RATE_LIMITED;
    }
    if (flags.hasUnauthorizedDetails()) {
      return Kind.UNAUTHORIZED;
    }
    if (flags.getUpstreamOverflow()) {
      return overflow(common);
    }
    // after the response headers the cause may be a slow client
    if (flags.getUpstreamRequestTimeout()) {
      return common.hasTimeToFirstUpstreamRxByte() ? Kind.ABORTED : Kind.TIMED_OUT;
    }
    if (flags.getDownstreamConnectionTermination() || flags.getDownstreamRemoteReset()) {
      return Kind.CLIENT_LEFT;
    }
    if (flags.getDelayInjected() || flags.getFaultInjected()) {
      return Kind.INJECTED;
    }
    if (flags.getUpstreamRetryLimitExceeded()) {
      return Kind.RETRIED;
    }
    if (connectionFailed(flags)) {
      return Kind.CONNECTION_FAILED;
    }
    if (flags.getNoHealthyUpstream()
        || flags.getNoRouteFound()
        || flags.getNoClusterFound()
        || flags.getNoFilterConfigFound()) {
      return Kind.NO_HOST;
    }
    if (flags.getResponseFromCacheFilter()) {
      return Kind.LOCAL_REPLY;
    }
    return aborted(flags) ? Kind.ABORTED : null;
  }

  /**
   * Distinguishes overflows: a full queue has no cluster yet, and a request that was sent reached
   * the retry budget.
   */
  private static Kind overflow(AccessLogCommon common) {
    if (common.getUpstreamCluster().isEmpty()) {
      return Kind.QUEUE_FULL;
    }
    return common.hasTimeToFirstUpstreamTxByte() ? Kind.RETRIED : Kind.LIMIT_REACHED;
  }

  private static boolean connectionFailed(ResponseFlags flags) {
    return flags.getUpstreamConnectionFailure()
        || flags.getUpstreamConnectionTermination()
        || flags.getUpstreamRemoteReset()
        || flags.getLocalReset()
        || flags.getUpstreamProtocolError()
        || flags.getFailedLocalHealthcheck()
        || flags.getDnsResolutionFailure();
  }

  private static boolean aborted(ResponseFlags flags) {
    return flags.getStreamIdleTimeout()
        || flags.getDurationTimeout()
        || flags.getUpstreamMaxStreamDurationReached()
        || flags.getInvalidEnvoyRequestHeaders()
        || flags.getDownstreamProtocolError()
        || flags.getOverloadManager();
  }

  private static Kind answered(HTTPResponseProperties response) {
    int code = response.getResponseCode().getValue();
    if (code == TOO_MANY_REQUESTS || code == UNAVAILABLE) {
      return Kind.SHED;
    }
    if (code < 100 || code > 599) { // absent or invalid
      return Kind.UNTIMED;
    }
    return code >= 500 ? Kind.SERVER_ERROR : grpc(response);
  }

  /**
   * Returns the kind of a gRPC response, which has code 200 even for a failure. The status is used
   * if Envoy logs it.
   */
  private static Kind grpc(HTTPResponseProperties response) {
    String status =
        response.getResponseTrailersOrDefault(
            "grpc-status", response.getResponseHeadersOrDefault("grpc-status", ""));
    return switch (status) {
      case "8", "14" -> Kind.SHED;
      case "2", "4", "13", "15" -> Kind.SERVER_ERROR;
      default -> Kind.ANSWERED;
    };
  }

  /**
   * Returns the latency of the backend, or 0 if the entry does not contain it or is inconsistent.
   *
   * <p>It starts with the last byte sent to the backend, so that a slow upload does not count. A
   * response larger than Envoy's buffers arrives only as fast as its client reads; then it ends
   * with the first byte received.
   */
  private static long rttNanos(HTTPAccessLogEntry entry, AccessLogCommon common) {
    boolean lasting = // the duration is chosen by the client
        entry.getResponse().getResponseCode().getValue() == SWITCHING_PROTOCOLS
            || entry.getRequest().getRequestMethod() == RequestMethod.CONNECT;
    long sent = nanos(common.getTimeToFirstUpstreamTxByte());
    long uploaded = nanos(common.getTimeToLastUpstreamTxByte());
    long first = nanos(common.getTimeToFirstUpstreamRxByte());
    long last = nanos(common.getTimeToLastUpstreamRxByte());
    boolean answersAfterUpload = !lasting && uploaded > sent && uploaded < first;
    long began = answersAfterUpload ? uploaded : sent;
    long ended = lasting || waitsForReader(common, first, last) ? first : last;
    return sent < 0 || ended <= began ? 0 : ended - began;
  }

  /**
   * Returns whether the client read the response more slowly than the backend sent it: Envoy was
   * still writing from its buffers after the backend was done.
   */
  private static boolean waitsForReader(AccessLogCommon common, long first, long last) {
    long written = nanos(common.getTimeToLastDownstreamTxByte());
    long receiving = last - first;
    return first > 0
        && receiving > 0
        && written - last > Math.max(SLOW_READER_NANOS, receiving / SLOW_READER_ONE_IN);
  }

  /**
   * Returns a duration in ns from 0 to a day, or −1 if it is out of range. An absent duration is 0.
   */
  static long nanos(Duration duration) {
    return nanos(duration.getSeconds(), duration.getNanos(), MAX_SECONDS);
  }

  /**
   * Returns the start of the request in ns since 1970 by the sender's clock, or −1 if absent or
   * invalid.
   */
  static long startNanos(AccessLogCommon common) {
    Timestamp start = common.getStartTime();
    return common.hasStartTime() ? nanos(start.getSeconds(), start.getNanos(), LATEST_SECONDS) : -1;
  }

  private static long nanos(long seconds, int nanos, long maxSeconds) {
    return seconds < 0 || seconds > maxSeconds || nanos < 0 || nanos >= BILLION
        ? -1
        : seconds * BILLION + nanos;
  }
}
