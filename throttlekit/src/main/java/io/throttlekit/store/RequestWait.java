package io.throttlekit.store;

import io.throttlekit.Decision;
import io.throttlekit.store.Claim.Role;

/**
 * Combines the decisions on the claims of one request, and the times until they admit.
 *
 * <p>A refused claim that is enforced refuses the request. Claims in quota mode refuse it only
 * together: it passes when one of them does. Claims in shadow mode never refuse it. For one thread.
 */
public final class RequestWait {
  // Bits of the state, which is a number so that a store combines claims without an object.
  private static final int ENFORCED_REFUSES = 1;
  private static final int ANY_QUOTA = 2;
  private static final int QUOTA_PASSES = 4;

  private int state;
  private long enforcedMillis;
  private long quotaMillis = Decision.NEVER;

  /**
   * Adds a claim to a state.
   *
   * @param state 0 without claims
   * @return the state with the claim
   */
  public static int with(int state, Role role, boolean refused) {
    return switch (role) {
      case ENFORCED -> refused ? state | ENFORCED_REFUSES : state;
      case QUOTA -> state | ANY_QUOTA | (refused ? 0 : QUOTA_PASSES);
      case SHADOW -> state;
    };
  }

  /** Returns whether the claims of a state refuse the request. */
  public static boolean refused(int state) {
    return (state & ENFORCED_REFUSES) != 0 || quotasRefuse(state);
  }

  private static boolean quotasRefuse(int state) {
    return (state & (ANY_QUOTA | QUOTA_PASSES)) == ANY_QUOTA;
  }

  /** Adds a claim without a time. */
  public void add(Role role, boolean refused) {
    add(role, refused, 0);
  }

  /**
   * Adds a claim.
   *
   * @param retryAfterMillis the time until it admits, in ms; 0 if it does now, {@link
   *     Decision#NEVER} if it never will
   */
  public void add(Role role, boolean refused, long retryAfterMillis) {
    state = with(state, role, refused);
    if (role == Role.QUOTA) {
      quotaMillis = Math.min(quotaMillis, retryAfterMillis);
    } else if (role == Role.ENFORCED && refused) {
      enforcedMillis = Math.max(enforcedMillis, retryAfterMillis);
    }
  }

  /** Records that a claim in quota mode passes, so that the others cannot refuse the request. */
  public void quotaPasses() {
    state |= QUOTA_PASSES;
  }

  /** Returns the effect that a refusal would have: none in quota mode once another quota passes. */
  public Role effectOf(Role role) {
    return role == Role.QUOTA && (state & QUOTA_PASSES) != 0 ? Role.SHADOW : role;
  }

  /** Returns whether the claims refuse the request. */
  public boolean refused() {
    return refused(state);
  }

  /**
   * Returns the ms until the request is admitted if no others arrive: when every refusing enforced
   * claim has room, and one in quota mode. 0 if it is now, {@link Decision#NEVER} for never.
   */
  public long millis() {
    return quotasRefuse(state) ? Math.max(enforcedMillis, quotaMillis) : enforcedMillis;
  }
}
