package io.throttlekit.tier;

import io.throttlekit.DataLoss;

/** A lease that a request cannot do without. */
record LeaseWish(LeaseCell cell, long cost, DataLoss onDataLoss) {}
