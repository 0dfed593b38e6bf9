package io.throttlekit.tier;

import io.throttlekit.DataLoss;

/**
 * A lease that a request cannot do without.
 *
 * @param global whether its rule is one that all regions share
 */
record LeaseWish(LeaseCell cell, long cost, DataLoss onDataLoss, boolean global) {}
