/**
 * Derives concurrency limits for Envoys to enforce, and ends permits, from the access logs (ALS v3)
 * and load reports (LRS v3) that Envoys send.
 */
@NullMarked
package io.throttlekit.service.concurrency.envoy;

import org.jspecify.annotations.NullMarked;
