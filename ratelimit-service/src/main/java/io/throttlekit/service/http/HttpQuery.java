package io.throttlekit.service.http;

import org.jspecify.annotations.Nullable;

/**
 * A request that has arrived as a whole.
 *
 * @param query what follows the {@code ?} of the address; null when there is none
 * @param accept the Accept header; null when there is none
 */
record HttpQuery(@Nullable String query, @Nullable String accept, HttpBody body) {}
