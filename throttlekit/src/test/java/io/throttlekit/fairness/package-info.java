/** Tests of fair shares, and the scan over all tenants that they are compared with. */
@NullMarked
package io.throttlekit.fairness;

import org.jspecify.annotations.NullMarked;
