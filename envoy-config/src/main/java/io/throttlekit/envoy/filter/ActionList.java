package io.throttlekit.envoy.filter;

import io.envoyproxy.envoy.config.route.v3.RateLimit;
import io.envoyproxy.envoy.config.route.v3.RateLimit.Action;
import io.envoyproxy.envoy.config.route.v3.RateLimit.Action.MetaData;
import io.envoyproxy.envoy.config.route.v3.RateLimit.HitsAddend;
import io.envoyproxy.envoy.type.metadata.v3.MetadataKey;
import io.envoyproxy.envoy.type.metadata.v3.MetadataKey.PathSegment;
import io.throttlekit.descriptors.policy.StreamDoneEntry;
import java.util.List;

/**
 * List of actions with which Envoy makes one descriptor of a request.
 *
 * @param comments lines about it, such as the rules that its descriptor can reach
 * @param onStreamDone whether the descriptor is sent when the stream is done
 * @param hitsFormat format of its hits; empty for the request's
 */
record ActionList(
    List<FilledEntry> entries, List<String> comments, boolean onStreamDone, String hitsFormat) {
  private static final String NAMESPACE = "envoy.filters.http.ratelimit";

  ActionList {
    entries = List.copyOf(entries);
    comments = List.copyOf(comments);
  }

  /** Returns the lists that release the permit of a request, and report how it ended. */
  static List<ActionList> ofStreamDone() {
    return List.of(
        onPermit(StreamDoneEntry.LEASE, "", "releases the permit of a request when it has ended"),
        onPermit(StreamDoneEntry.RESPONSE_CODE, "%RESPONSE_CODE%", "how it ended"),
        onPermit(
            StreamDoneEntry.LATENCY,
            "%COMMON_DURATION(US_TX_END:US_RX_END:us)%",
            "latency of the backend; for gRPC, add throttlekit_grpc_status as in POLICIES.md"));
  }

  private static ActionList onPermit(StreamDoneEntry entry, String hitsFormat, String comment) {
    MetadataKey lease =
        MetadataKey.newBuilder()
            .setKey(NAMESPACE)
            .addPath(PathSegment.newBuilder().setKey("lease"))
            .build();
    MetaData metadata =
        MetaData.newBuilder()
            .setDescriptorKey(entry.key())
            .setMetadataKey(lease)
            .setSource(MetaData.Source.DYNAMIC)
            .build();
    Action action = Action.newBuilder().setMetadata(metadata).build();
    return new ActionList(List.of(new FilledEntry(action, "")), List.of(comment), true, hitsFormat);
  }

  /** Returns the message. */
  RateLimit message() {
    RateLimit.Builder list = RateLimit.newBuilder().setApplyOnStreamDone(onStreamDone);
    entries.forEach(entry -> list.addActions(entry.action()));
    if (!hitsFormat.isEmpty()) {
      list.setHitsAddend(HitsAddend.newBuilder().setFormat(hitsFormat));
    }
    return list.build();
  }
}
