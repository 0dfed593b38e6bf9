package io.throttlekit.service.rls;

/**
 * Numbers of fields in responses that Envoy's protocol does not have, for {@code throttlekit call}.
 * Envoy skips fields that it does not know. The numbers are far above the protocol's own.
 */
public final class OwnFields {
  /** Of {@code RateLimit}: ms of the window, if no unit of the protocol has its length. */
  public static final int WINDOW_MILLIS = 50_000;

  /** Of {@code RateLimit}: units that pass at once, if they are not its requests per unit. */
  public static final int BURST = 50_001;

  /** Of {@code RateLimitResponse}: 1 if the service has no policies for the domain. */
  public static final int UNKNOWN_DOMAIN = 50_000;

  private OwnFields() {}
}
