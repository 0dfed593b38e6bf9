package io.throttlekit.envoy.xds;

import com.google.protobuf.TextFormat;
import com.google.rpc.Status;

/**
 * Message of an Envoy on a discovery stream.
 *
 * @param node its id; empty in all messages but the first
 * @param typeUrl type of the resources
 * @param version version of our resource that Envoy already has; empty when it names none
 * @param subscription change of its subscription to our resource
 * @param nonce of the response that it acknowledges or rejects; empty when it does neither
 * @param refusal error message of a rejection; empty when it does not reject
 */
record DiscoveryMessage(
    String node,
    String typeUrl,
    String version,
    Subscription subscription,
    String nonce,
    String refusal) {
  private static final int MAX_REFUSAL = 1_000; // characters; the text goes to the log

  /** Change of a subscription. */
  enum Subscription {
    WANTED,
    UNWANTED,
    UNCHANGED
  }

  /** Returns the error message of a rejection: never empty, on one line, truncated. */
  static String refusal(Status detail) {
    String text = TextFormat.printer().emittingSingleLine(true).printToString(detail).strip();
    return text.isEmpty()
        ? "without a reason"
        : text.substring(0, Math.min(text.length(), MAX_REFUSAL));
  }
}
