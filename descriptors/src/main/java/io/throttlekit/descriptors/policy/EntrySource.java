package io.throttlekit.descriptors.policy;

/**
 * Origin of an entry's value in Envoy, where a policy names it. Requests are matched without it; it
 * is for configurations of Envoy that are derived from policies.
 */
public sealed interface EntrySource {
  /**
   * A header of the request.
   *
   * @param name in lower case; may begin with a colon, as {@code :path}
   */
  record Header(String name) implements EntrySource {}

  /** The same value for all requests. */
  record Constant(String value) implements EntrySource {}
}
