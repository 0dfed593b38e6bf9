package io.throttlekit.envoy.ceiling;

/**
 * What an Envoy's message on a discovery stream says.
 *
 * @param node its id; empty in all messages but the first
 * @param typeUrl of the resources that it is about
 * @param subscription what becomes of its interest in ours
 * @param nonce of the answer that it acknowledges or refuses; empty when it does neither
 * @param refusal why it refuses; empty when it does not
 */
record Asked(String node, String typeUrl, Subscription subscription, String nonce, String refusal) {

  /** What becomes of a subscription. */
  enum Subscription {
    WANTED,
    UNWANTED,
    UNCHANGED
  }
}
