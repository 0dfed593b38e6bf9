package io.throttlekit.service.warmup;

import io.throttlekit.http2.HeaderBlocks;

/**
 * A client connection of a warm-up.
 *
 * @param headers of its requests
 * @param messages its requests, taken in turn with other callers that share them
 */
record Caller(HeaderBlocks headers, Messages messages) {}
