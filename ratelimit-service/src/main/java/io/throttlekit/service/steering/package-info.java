/**
 * Derives concurrency limits for Envoys to enforce from access logs and load reports of a cluster.
 */
@NullMarked
package io.throttlekit.service.steering;

import org.jspecify.annotations.NullMarked;
