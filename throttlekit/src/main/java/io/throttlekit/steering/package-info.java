/**
 * Limits that one of several replicas divides among limiters that any replica serves: how they
 * elect it and exchange what they know, and the shares.
 */
@NullMarked
package io.throttlekit.steering;

import org.jspecify.annotations.NullMarked;
