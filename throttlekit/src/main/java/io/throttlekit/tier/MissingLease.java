package io.throttlekit.tier;

import io.throttlekit.DataLoss;
import io.throttlekit.lease.LeaseCell;

/** A lease that a request needs before it can be decided. */
record MissingLease(LeaseCell cell, long cost, DataLoss onDataLoss) {}
