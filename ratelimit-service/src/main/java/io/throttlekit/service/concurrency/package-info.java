/**
 * Limits the requests in flight, with a permit for each request that reaches a concurrency limit.
 */
@NullMarked
package io.throttlekit.service.concurrency;

import org.jspecify.annotations.NullMarked;
