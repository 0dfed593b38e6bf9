package io.throttlekit.service.warmup;

/**
 * A client that connects and sends requests.
 *
 * @param headers of its requests
 * @param messages its requests, taken in turn with other callers that share them
 */
record Caller(HeaderBlocks headers, Messages messages) {}
