package io.throttlekit.fairness;

import io.throttlekit.Decision;

/**
 * The response of a pool to one request of a tenant. Amounts are parts, see {@link FairTerms}.
 *
 * @param decision {@code limit} is the tenant's guarantee, or with what it may borrow now; {@code
 *     remaining} is what it has left below that. A refusal can have {@code remaining} units if
 *     others have used them before this tenant asked
 * @param guarantee of the tenant in this window, with the tenants that are active now
 * @param borrowed what this request took beyond the guarantee
 * @param windowEndMillis the window, named by its end; a refund needs it
 */
public record FairDecision(Decision decision, long guarantee, long borrowed, long windowEndMillis) {

  /** Returns whether the cost was within what the tenant may take. */
  public boolean admitted() {
    return decision.admitted();
  }
}
