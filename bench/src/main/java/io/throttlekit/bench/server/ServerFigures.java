package io.throttlekit.bench.server;

/**
 * Figures of one server: medians over the rounds.
 *
 * @param peakPerSecond replies per second of the closed loop
 * @param peakCpuMicros server CPU per decision there
 * @param halfLoadCpuMicros server CPU per decision at half load
 * @param halfLoadP50Millis median latency at half load
 * @param halfLoadP99Millis 99th percentile of latency at half load
 * @param allocatedBytes heap bytes that the server allocated per decision
 * @param residentBytes the largest resident memory seen in the closed loops
 * @param failed calls that ended with an error, or never, in all of its measured loads
 */
public record ServerFigures(
    String name,
    double peakPerSecond,
    double peakCpuMicros,
    double halfLoadCpuMicros,
    double halfLoadP50Millis,
    double halfLoadP99Millis,
    double allocatedBytes,
    long residentBytes,
    long failed) {}
