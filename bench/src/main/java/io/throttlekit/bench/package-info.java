/** Load, baselines and reports: the cost of the service beside a server that decides nothing. */
@NullMarked
package io.throttlekit.bench;

import org.jspecify.annotations.NullMarked;
