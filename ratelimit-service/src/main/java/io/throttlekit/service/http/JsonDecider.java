package io.throttlekit.service.http;

import io.throttlekit.service.rls.JsonAnswer;
import io.throttlekit.service.rls.RequestFields;
import java.util.concurrent.Callable;

/** Decides requests that come as JSON. Thread-safe. */
@FunctionalInterface
public interface JsonDecider {

  /**
   * Reads the body and answers it. Reading is part of the call, so that malformed bodies are
   * counted, too.
   *
   * @return the answer; a caller that cannot deliver it must mark it as lost
   * @throws Exception of {@code body}, or of {@code JsonFrontEnd.answer}
   */
  JsonAnswer answer(Callable<RequestFields> body) throws Exception;
}
