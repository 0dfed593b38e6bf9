/** Shares of one concurrency limit among several Envoys. */
@NullMarked
package io.throttlekit.share;

import org.jspecify.annotations.NullMarked;
