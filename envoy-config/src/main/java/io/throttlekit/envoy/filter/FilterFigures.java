package io.throttlekit.envoy.filter;

/**
 * Figures of the filters that Envoys receive.
 *
 * @param streams open streams for filters
 * @param rejecting streams whose Envoys rejected the newest filters that were sent to them
 * @param sent responses with filters
 * @param rejected responses that Envoys rejected
 */
public record FilterFigures(int streams, int rejecting, long sent, long rejected) {}
