package io.throttlekit.service.http;

/**
 * Signals a request that gives units back where that is not accepted. Its message is for the
 * caller.
 */
final class RefundException extends MalformedBodyException {
  private static final long serialVersionUID = 1L;

  RefundException() {
    super("is_negative_hits is not accepted over /json: refunds need http.json_refunds");
  }
}
