/**
 * What replicas exchange to steer Envoys together: visits to the exchange, the reports that they
 * leave there, and the record of the one that steers.
 */
@NullMarked
package io.throttlekit.service.concurrency.envoy.replicas;

import org.jspecify.annotations.NullMarked;
