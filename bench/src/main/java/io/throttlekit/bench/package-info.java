/** Load, baselines and reports: what the service costs beside a server that decides nothing. */
@NullMarked
package io.throttlekit.bench;

import org.jspecify.annotations.NullMarked;
