package io.throttlekit.service.http;

import org.jspecify.annotations.Nullable;

/**
 * A complete request.
 *
 * @param query the part of the address after {@code ?}; null when there is none
 * @param accept the Accept header; null when there is none
 * @param received the body; empty when it was not kept
 * @param fault the reason why the body was not kept; null when it was
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
record HttpQuery(
    @Nullable String query,
    @Nullable String accept,
    byte[] received,
    @Nullable MalformedBodyException fault) {

  /**
   * Returns the body.
   *
   * @throws BodyTooLongException when it was longer than the listener accepts
   * @throws MalformedBodyException when it was not framed as HTTP, such as a chunk without a length
   */
  byte[] body() throws MalformedBodyException {
    if (fault != null) {
      throw fault;
    }
    return received;
  }
}
