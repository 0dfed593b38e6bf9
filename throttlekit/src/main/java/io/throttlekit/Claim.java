package io.throttlekit;

import java.util.List;

/**
 * All charges of one descriptor of a request: it is refused when any of them is.
 *
 * @param role whose refusal refuses the whole request
 * @param charges at least one
 * @param onDataLoss what a loss of the store's counters means for them
 */
public record Claim(Role role, List<Charge> charges, DataLoss onDataLoss) {

  /** What the refusal of one descriptor means for the request. */
  public enum Role {
    /** The request is refused. */
    ENFORCED,
    /** The request is refused when every descriptor of this role is refused. */
    QUOTA,
    /** Nothing: the refusal is only told. */
    SHADOW
  }

  /** Checks that there is something to charge. */
  public Claim {
    if (charges.isEmpty()) {
      throw new IllegalArgumentException("a claim needs at least one charge");
    }
    charges = List.copyOf(charges);
  }

  /** Charges that start again after a loss of data. */
  public Claim(Role role, List<Charge> charges) {
    this(role, charges, DataLoss.REFILL);
  }
}
