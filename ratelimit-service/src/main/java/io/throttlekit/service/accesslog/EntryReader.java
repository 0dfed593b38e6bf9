package io.throttlekit.service.accesslog;

import com.google.protobuf.Struct;
import com.google.protobuf.Value;
import io.envoyproxy.envoy.config.core.v3.Metadata;
import io.envoyproxy.envoy.config.core.v3.RequestMethod;
import io.envoyproxy.envoy.data.accesslog.v3.AccessLogCommon;
import io.envoyproxy.envoy.data.accesslog.v3.AccessLogType;
import io.envoyproxy.envoy.data.accesslog.v3.HTTPAccessLogEntry;
import io.envoyproxy.envoy.data.accesslog.v3.HTTPResponseProperties;
import io.envoyproxy.envoy.data.accesslog.v3.ResponseFlags;
import io.throttlekit.service.sensor.Kind;
import io.throttlekit.service.sensor.Reading;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Tells what an entry says about its request. A function of the entry alone, which takes any entry.
 *
 * <p>Flags decide before codes, because Envoy writes 503 itself in many ways; what happened last
 * decides before what led to it. Of times only differences within one entry are used.
 */
public final class EntryReader {
  /** The key of a lease in the metadata of a filter. */
  private static final String LEASE = "lease";

  /** The filters that ask this service, in the order of their leases. */
  private static final List<String> NAMESPACES =
      List.of("envoy.filters.http.ext_authz", "envoy.filters.http.ratelimit");

  private static final int LONGEST_LEASE = 128;
  private static final int LONGEST_ROUTE = 64;
  private static final int LONGEST_ADDRESS = 64;

  /**
   * A reader is slower than its backend if more than one in so many parts is written afterwards.
   */
  private static final int SLOW_READER_ONE_IN = 50;

  private static final long SLOW_READER_NANOS = 1_000_000;
  private static final int SWITCHING_PROTOCOLS = 101;
  private static final int TOO_MANY_REQUESTS = 429;
  private static final int UNAVAILABLE = 503;

  private EntryReader() {}

  /** What the entry says. */
  public static Reading read(HTTPAccessLogEntry entry) {
    AccessLogCommon common = entry.getCommonProperties();
    Metadata metadata = common.getMetadata();
    Kind kind = kind(entry, common);
    long rtt = 0;
    if (kind == Kind.ANSWERED) {
      rtt = rttNanos(entry, common);
      kind = rtt == 0 ? Kind.UNTIMED : kind;
    }
    boolean marked = NAMESPACES.stream().anyMatch(metadata::containsFilterMetadata);
    return new Reading(
        kind,
        common.getUpstreamCluster(),
        rtt,
        marked ? leases(metadata) : List.of(),
        marked,
        route(entry, common),
        client(common));
  }

  /** An address is remembered, so nothing is taken for one that is longer than any. */
  private static String client(AccessLogCommon common) {
    String address = common.getDownstreamRemoteAddress().getSocketAddress().getAddress();
    return address.length() <= LONGEST_ADDRESS ? address : "";
  }

  /** Routes need no name in Envoy; the first segment of the path tells most of those apart. */
  private static String route(HTTPAccessLogEntry entry, AccessLogCommon common) {
    String name = common.getRouteName();
    if (!name.isEmpty()) {
      return name.length() <= LONGEST_ROUTE ? name : name.substring(0, LONGEST_ROUTE);
    }
    String path = entry.getRequest().getPath();
    int end = Math.min(path.length(), LONGEST_ROUTE);
    for (int i = 1; i < end; i++) {
      char c = path.charAt(i);
      if (c == '/' || c == '?') {
        return path.substring(0, i);
      }
    }
    return path.substring(0, end);
  }

  private static List<String> leases(Metadata metadata) {
    List<String> leases = new ArrayList<>(1);
    for (String namespace : NAMESPACES) {
      Struct said = metadata.getFilterMetadataOrDefault(namespace, Struct.getDefaultInstance());
      Value lease = said.getFieldsOrDefault(LEASE, Value.getDefaultInstance());
      String id = lease.getStringValue();
      if (!id.isEmpty() && id.length() <= LONGEST_LEASE && !leases.contains(id)) {
        leases.add(id);
      }
    }
    return leases;
  }

  private static Kind kind(HTTPAccessLogEntry entry, AccessLogCommon common) {
    if (!ends(common)) {
      return Kind.GOES_ON;
    }
    Kind flagged = flagged(common, common.getResponseFlags());
    if (flagged != null) {
      return flagged;
    }
    if (common.getUpstreamRequestAttemptCount() > 1) {
      return Kind.RETRIED;
    }
    boolean sent = common.hasTimeToFirstUpstreamTxByte() && common.hasUpstreamRemoteAddress();
    return sent ? answered(entry.getResponse()) : Kind.LOCAL_REPLY;
  }

  @SuppressWarnings("deprecation") // Envoys that are older than the type say it so
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
    if (flags.getUpstreamRequestTimeout()) { // after the headers, a slow reader may be the cause
      return common.hasTimeToFirstUpstreamRxByte() ? Kind.BROKEN_OFF : Kind.TIMED_OUT;
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
    return brokenOff(flags) ? Kind.BROKEN_OFF : null;
  }

  /**
   * A queue that overflows knows no cluster, and a request that was sent met the retries' bound.
   */
  private static Kind overflow(AccessLogCommon common) {
    if (common.getUpstreamCluster().isEmpty()) {
      return Kind.QUEUE_FULL;
    }
    return common.hasTimeToFirstUpstreamTxByte() ? Kind.RETRIED : Kind.CEILING_REACHED;
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

  private static boolean brokenOff(ResponseFlags flags) {
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
    if (code < 100 || code > 599) { // absent, or nonsense
      return Kind.UNTIMED;
    }
    return code >= 500 ? Kind.SERVER_ERROR : grpc(response);
  }

  /** A gRPC backend fails with code 200; where Envoy logs the status, it is heeded. */
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
   * Returns how long the backend took, 0 where the entry does not show it or makes no sense.
   *
   * <p>An upload ends with the last byte that the backend was sent, so a slow one is not its delay.
   * A response larger than Envoy's buffers arrives no faster than its client reads; the first byte
   * counts then.
   */
  private static long rttNanos(HTTPAccessLogEntry entry, AccessLogCommon common) {
    boolean lasting = // how long it lasts is the client's choice
        entry.getResponse().getResponseCode().getValue() == SWITCHING_PROTOCOLS
            || entry.getRequest().getRequestMethod() == RequestMethod.CONNECT;
    long sent = EntryTimes.nanos(common.getTimeToFirstUpstreamTxByte());
    long uploaded = EntryTimes.nanos(common.getTimeToLastUpstreamTxByte());
    long first = EntryTimes.nanos(common.getTimeToFirstUpstreamRxByte());
    long last = EntryTimes.nanos(common.getTimeToLastUpstreamRxByte());
    boolean answersAfterUpload = !lasting && uploaded > sent && uploaded < first;
    long began = answersAfterUpload ? uploaded : sent;
    long ended = lasting || waitsForReader(common, first, last) ? first : last;
    return sent < 0 || ended <= began ? 0 : ended - began;
  }

  /**
   * Returns whether the client took the response more slowly than the backend sent it: then Envoy
   * still wrote from its buffers after the backend was done.
   */
  private static boolean waitsForReader(AccessLogCommon common, long first, long last) {
    long written = EntryTimes.nanos(common.getTimeToLastDownstreamTxByte());
    long receiving = last - first;
    return first > 0
        && receiving > 0
        && written - last > Math.max(SLOW_READER_NANOS, receiving / SLOW_READER_ONE_IN);
  }
}
