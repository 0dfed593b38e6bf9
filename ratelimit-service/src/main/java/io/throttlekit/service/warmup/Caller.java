package io.throttlekit.service.warmup;

/**
 * One that connects and asks.
 *
 * @param headers of its requests
 * @param messages what it asks, in turn with others that have the same
 */
record Caller(HeaderBlocks headers, Messages messages) {}
