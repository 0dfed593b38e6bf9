package io.throttlekit.service.http;

/** The body of a request, or the reason why it was not kept. Thread-safe. */
@FunctionalInterface
interface HttpBody {

  /**
   * Returns the bytes of the body.
   *
   * @throws BodyTooLongException when there were more than the listener accepts; none are kept
   * @throws MalformedBodyException when they are not framed as HTTP, such as a chunk without a
   *     length
   */
  byte[] bytes() throws BodyTooLongException, MalformedBodyException;

  /** Returns a body that exceeds the listener's maximum and was discarded. */
  static HttpBody tooLong() {
    return () -> {
      throw new BodyTooLongException();
    };
  }

  /** Returns a body with malformed HTTP framing. */
  static HttpBody malformed() {
    return () -> {
      throw new MalformedBodyException("the body is not framed as HTTP");
    };
  }
}
