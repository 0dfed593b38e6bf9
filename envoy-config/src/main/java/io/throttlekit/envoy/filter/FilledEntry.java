package io.throttlekit.envoy.filter;

import io.envoyproxy.envoy.config.route.v3.RateLimit.Action;
import io.envoyproxy.envoy.config.route.v3.RateLimit.Action.DestinationCluster;
import io.envoyproxy.envoy.config.route.v3.RateLimit.Action.GenericKey;
import io.envoyproxy.envoy.config.route.v3.RateLimit.Action.RemoteAddress;
import io.envoyproxy.envoy.config.route.v3.RateLimit.Action.RequestHeaders;
import io.envoyproxy.envoy.config.route.v3.RateLimit.Action.SourceCluster;
import io.throttlekit.descriptors.policy.EntrySource;
import io.throttlekit.descriptors.source.Wording;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Entry of a descriptor, and the action with which Envoy fills it.
 *
 * @param comment what a reader should know about the choice of the action; empty for nothing
 */
record FilledEntry(Action action, String comment) {
  private static final String GUESS =
      "a guess: name the header with --header KEY=NAME or `entries`";

  /** Comment of a constant that a request may rather have in a header. */
  static final String GUESSED_CONSTANT =
      "a guess: every request counts as this; if a header has it, --header KEY=NAME or `entries`";

  /** Returns the entry of a key whose source the policy names. */
  static FilledEntry named(String key, EntrySource source, boolean optional) {
    return switch (source) {
      case EntrySource.Header(String name) -> ofHeader(key, name, optional, "");
      case EntrySource.Constant(String value) -> constant(key, value, "");
    };
  }

  /** Returns the entry of a key with a meaning of its own in Envoy; null for other keys. */
  static @Nullable FilledEntry wellKnown(String key, boolean optional) {
    return switch (key) {
      case "remote_address" ->
          new FilledEntry(
              Action.newBuilder().setRemoteAddress(RemoteAddress.getDefaultInstance()).build(),
              "behind a proxy, set xff_num_trusted_hops");
      case "source_cluster" ->
          new FilledEntry(
              Action.newBuilder().setSourceCluster(SourceCluster.getDefaultInstance()).build(),
              "the Envoy's own --service-cluster");
      case "destination_cluster" ->
          new FilledEntry(
              Action.newBuilder()
                  .setDestinationCluster(DestinationCluster.getDefaultInstance())
                  .build(),
              "the route's cluster");
      case "path", ":path" -> ofHeader(key, ":path", optional, "with the query string");
      case "method", ":method" -> ofHeader(key, ":method", optional, "");
      case "host", "authority", ":authority" -> ofHeader(key, ":authority", optional, "");
      default -> null;
    };
  }

  /** Returns the entry of another key with values that only the request has: from {@code x-KEY}. */
  static FilledEntry guessed(String key, boolean optional) {
    StringBuilder name = new StringBuilder();
    key.toLowerCase(Locale.ROOT).chars().forEach(c -> name.append(isOfHeader(c) ? (char) c : '-'));
    String header = name.toString().startsWith("x-") ? name.toString() : "x-" + name;
    return ofHeader(key, header, optional, GUESS);
  }

  static FilledEntry constant(String key, String value, String comment) {
    GenericKey.Builder generic = GenericKey.newBuilder().setDescriptorValue(value);
    if (!key.equals("generic_key")) { // Envoy's default
      generic.setDescriptorKey(key);
    }
    return new FilledEntry(Action.newBuilder().setGenericKey(generic).build(), comment);
  }

  private static FilledEntry ofHeader(String key, String header, boolean optional, String comment) {
    RequestHeaders.Builder headers =
        RequestHeaders.newBuilder().setHeaderName(header).setDescriptorKey(key);
    if (optional) { // keeps the descriptor of a request without it
      headers.setSkipIfAbsent(true);
    }
    return new FilledEntry(Action.newBuilder().setRequestHeaders(headers).build(), comment);
  }

  private static boolean isOfHeader(int c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.';
  }

  /** Returns the text of an entry in comments: {@code "route" = "login"}. */
  static String text(String key, String value) {
    return Wording.quote(key) + " = " + Wording.quote(value);
  }
}
