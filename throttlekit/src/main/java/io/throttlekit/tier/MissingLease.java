package io.throttlekit.tier;

import io.throttlekit.DataLoss;

/**
 * A lease that a request needs before it can be decided.
 *
 * @param global whether the rule is shared by all regions
 */
record MissingLease(LeaseCell cell, long cost, DataLoss onDataLoss, boolean global) {}
