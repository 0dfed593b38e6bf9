package io.throttlekit.envoy.ceiling;

import com.google.protobuf.TextFormat;
import com.google.rpc.Status;

/**
 * What an Envoy's message on a discovery stream says.
 *
 * @param node its id; empty in all messages but the first
 * @param typeUrl of the resources that it is about
 * @param version of ours that it has already; empty when it names none
 * @param subscription what becomes of its interest in ours
 * @param nonce of the answer that it acknowledges or refuses; empty when it does neither
 * @param refusal why it refuses; empty when it does not
 */
record Asked(
    String node,
    String typeUrl,
    String version,
    Subscription subscription,
    String nonce,
    String refusal) {
  private static final int LONGEST_REFUSAL = 1_000;

  /** What becomes of a subscription. */
  enum Subscription {
    WANTED,
    UNWANTED,
    UNCHANGED
  }

  /** Why an Envoy refuses: never empty, on one line, and only the beginning of a long story. */
  static String refusal(Status detail) {
    String said = TextFormat.printer().emittingSingleLine(true).printToString(detail).strip();
    return said.isEmpty()
        ? "it does not say why"
        : said.substring(0, Math.min(said.length(), LONGEST_REFUSAL));
  }
}
