/** Metrics of limits that tenants share, with a bounded number of tenants. */
@NullMarked
package io.throttlekit.service.telemetry.fairness;

import org.jspecify.annotations.NullMarked;
