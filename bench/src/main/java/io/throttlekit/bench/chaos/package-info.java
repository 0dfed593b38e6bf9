/**
 * Random faults against three regions of real processes, and the units admitted during them.
 *
 * <p>{@link io.throttlekit.bench.chaos.Campaign} runs rounds, and {@link
 * io.throttlekit.bench.chaos.Matrix} each fault by itself. The order of faults is a {@link
 * io.throttlekit.bench.chaos.Schedule}, a pure function of a seed.
 */
@org.jspecify.annotations.NullMarked
package io.throttlekit.bench.chaos;
