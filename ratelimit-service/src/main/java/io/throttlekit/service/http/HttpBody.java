package io.throttlekit.service.http;

/** The body of a request as far as it was kept. Thread-safe. */
@FunctionalInterface
interface HttpBody {

  /**
   * Returns the bytes.
   *
   * @throws BodyTooLongException when there were more than the listener accepts; none are kept
   * @throws MalformedBodyException when they are not framed as HTTP, such as a chunk without a
   *     length
   */
  byte[] bytes() throws BodyTooLongException, MalformedBodyException;

  /** A body of which the listener keeps nothing. */
  static HttpBody tooLong() {
    return () -> {
      throw new BodyTooLongException();
    };
  }

  /** A body whose framing is not HTTP. */
  static HttpBody malformed() {
    return () -> {
      throw new MalformedBodyException("the body is not framed as HTTP");
    };
  }
}
