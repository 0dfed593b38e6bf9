package io.throttlekit.service.rls;

import io.throttlekit.TimeSource;
import io.throttlekit.service.admission.Answer;
import io.throttlekit.service.admission.AnswerCallback;
import io.throttlekit.service.admission.RateLimitRequest;
import io.throttlekit.service.rls.CallListener.Failure;
import io.throttlekit.store.StoreException;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;

/**
 * Answers JSON requests and counts each of them once, as the gRPC service does: its latency, and
 * its failure if it fails. Thread-safe.
 */
public final class JsonFrontEnd {
  private final RateLimitFrontEnd frontEnd;
  private final BiFunction<RateLimitRequest, Answer, String> writer;
  private final CallListener calls;
  private final TimeSource time;

  /** Creates a front end that counts the requests of {@code frontEnd}. */
  public JsonFrontEnd(RateLimitFrontEnd frontEnd, CallListener calls, TimeSource time) {
    this(
        frontEnd,
        (request, answer) -> ResponseJson.of(answer, frontEnd.extras().of(request, answer)),
        calls,
        time);
  }

  JsonFrontEnd(
      RateLimitFrontEnd frontEnd,
      BiFunction<RateLimitRequest, Answer, String> writer,
      CallListener calls,
      TimeSource time) {
    this.frontEnd = frontEnd;
    this.writer = writer;
    this.calls = calls;
    this.time = time;
  }

  /**
   * Reads, decides and writes; blocks if a store is needed, so it must not run on an event loop.
   *
   * @param body reads the request; an exception counts as a failure and is rethrown
   * @return the answer; a caller that cannot deliver it must call {@link JsonAnswer#lost}
   * @throws InvalidRequestException if no policy could apply to the request
   * @throws io.throttlekit.service.admission.NoPoliciesException if no policies were ever loaded
   * @throws StoreException if a store that was needed did not answer
   * @throws Exception thrown by {@code body}
   */
  public JsonAnswer answer(Callable<RequestFields> body) throws Exception {
    long start = time.monotonicNanos();
    @Nullable Failure failure = Failure.SERVICE;
    try {
      JsonAnswer answered = decide(frontEnd.checked(body.call()));
      failure = null;
      return answered;
    } catch (StoreException outage) {
      failure = Failure.STORE;
      throw outage;
    } finally {
      if (failure != null) {
        calls.failed(failure);
      }
      calls.answered(time.monotonicNanos() - start);
    }
  }

  private JsonAnswer decide(RateLimitRequest request) {
    Pending pending = new Pending();
    Answer now = frontEnd.decide(request, pending);
    Answer answer = now != null ? now : pending.await();
    String json = null;
    try {
      json = writer.apply(request, answer);
      return new JsonAnswer(answer.admitted(), json, answer.permit());
    } finally {
      if (json == null && answer.permit() != null) { // the caller gets an error without the permit
        answer.permit().cancelled();
      }
    }
  }

  private static final class Pending extends CompletableFuture<Answer> implements AnswerCallback {
    @Override
    public void answered(Answer answer) {
      complete(answer);
    }

    @Override
    public void failed(Throwable cause) {
      completeExceptionally(cause);
    }

    Answer await() {
      try {
        return join();
      } catch (CompletionException failed) {
        throw failed.getCause() instanceof StoreException outage ? outage : failed;
      }
    }
  }
}
