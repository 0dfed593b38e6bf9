package io.throttlekit.store;

import io.throttlekit.DataLoss;
import java.util.List;

/**
 * All charges of one descriptor of a request. The descriptor is refused if any of them is.
 *
 * @param role effect of a refusal on the request
 * @param charges at least one
 * @param onDataLoss effect of a loss of the store's counters
 */
public record Claim(Role role, List<Charge> charges, DataLoss onDataLoss) {

  /** The effect of a refused descriptor on the request. */
  public enum Role {
    /** The request is refused. */
    ENFORCED,
    /** The request is refused when every descriptor of this role is refused. */
    QUOTA,
    /** The refusal is reported, and has no effect. */
    SHADOW
  }

  /** Checks that there is at least one charge. */
  public Claim {
    if (charges.isEmpty()) {
      throw new IllegalArgumentException("a claim needs at least one charge");
    }
    charges = List.copyOf(charges);
  }

  /** Creates a claim whose counters start again after a loss of data. */
  public Claim(Role role, List<Charge> charges) {
    this(role, charges, DataLoss.REFILL);
  }
}
