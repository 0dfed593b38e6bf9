/**
 * What {@code bin/demo --overload} and {@code bin/bench overload} run: an upstream that can do so
 * much and no more, behind real Envoys that limit what is in flight, or do not.
 */
@NullMarked
package io.throttlekit.demo.overload;

import org.jspecify.annotations.NullMarked;
