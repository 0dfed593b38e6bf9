/**
 * Faults at random against three regions of real processes, and what they admit meanwhile.
 *
 * <p>{@link io.throttlekit.bench.chaos.Campaign} runs rounds, and {@link
 * io.throttlekit.bench.chaos.Matrix} each fault alone. What happens when is a {@link
 * io.throttlekit.bench.chaos.Schedule}, a function of a seed alone.
 */
@org.jspecify.annotations.NullMarked
package io.throttlekit.bench.chaos;
