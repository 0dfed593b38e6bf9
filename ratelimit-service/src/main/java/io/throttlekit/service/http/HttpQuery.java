package io.throttlekit.service.http;

import org.jspecify.annotations.Nullable;

/**
 * A complete request.
 *
 * @param query the part of the address after {@code ?}; null when there is none
 * @param accept the Accept header; null when there is none
 */
record HttpQuery(@Nullable String query, @Nullable String accept, HttpBody body) {}
