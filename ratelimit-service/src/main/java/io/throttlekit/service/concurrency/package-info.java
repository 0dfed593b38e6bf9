/** How much may be in flight: a lease for each request that reaches a ceiling. */
@NullMarked
package io.throttlekit.service.concurrency;

import org.jspecify.annotations.NullMarked;
