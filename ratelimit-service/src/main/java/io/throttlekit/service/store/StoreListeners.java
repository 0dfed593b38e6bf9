package io.throttlekit.service.store;

import io.throttlekit.federation.FederationListener;
import io.throttlekit.federation.GlobalCoordinator;
import io.throttlekit.federation.RegionalEscrow;
import io.throttlekit.store.CounterStore;
import io.throttlekit.store.StoreListener;
import io.throttlekit.tier.TierListener;

/**
 * Supplies what listens to a {@link SharedStore}, for metrics and traces. Each method is called at
 * most once for a part, and only if there is such a part.
 */
public interface StoreListeners {

  /** Receives the events of a backend outside this process. */
  interface BackendListener extends StoreListener {

    /** The backend begins or ceases to answer; it does not answer at first. */
    default void answers(boolean now) {}
  }

  /**
   * Returns the listener of a backend.
   *
   * @param role {@code store} for a region's store, {@code per_second_store} for its second Redis,
   *     {@code coordinator} for that of all regions
   */
  BackendListener backend(String role);

  /** Returns the listener of the tiers. */
  TierListener tiers();

  /** Returns the listener of the leases from other regions. */
  FederationListener federation();

  /**
   * Returns a store whose decisions and leases appear in the traces of the requests that caused
   * them; the same store if nothing is traced.
   */
  CounterStore traced(CounterStore store, String address);

  /** Returns a coordinator whose leases appear in the traces of the requests that caused them. */
  GlobalCoordinator traced(GlobalCoordinator coordinator, String address);

  /** Returns an escrow whose calls appear in the traces of the requests that caused them. */
  RegionalEscrow traced(RegionalEscrow escrow, String region);
}
