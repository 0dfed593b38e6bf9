package io.throttlekit.service.rls;

import com.google.protobuf.InvalidProtocolBufferException;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitRequest;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse;
import io.throttlekit.service.admission.Admission.Later;
import io.throttlekit.service.admission.Answer;
import io.throttlekit.service.concurrency.Lease;
import io.throttlekit.store.StoreException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;

/**
 * An answer that may still be lost on its way to the caller.
 *
 * @param response the message for the caller
 * @param lease the slots in flight that it grants; null for none
 */
public record PendingResponse(RateLimitResponse response, @Nullable Lease lease) {

  /** Creates an answer to a request that has nothing in flight. */
  public PendingResponse(RateLimitResponse response) {
    this(response, null);
  }

  /** Ends the lease because the caller does not receive the answer and cannot release it. */
  public void lost() {
    if (lease != null) {
      lease.cancelled();
    }
  }

  /** Reads, decides and answers a request; blocks if a store is needed. */
  static PendingResponse by(FrontEnd frontEnd, RateLimitRequest message) {
    byte[] bytes = message.toByteArray();
    CompletableFuture<Answer> later = new CompletableFuture<>();
    Answer now = frontEnd.decide(frontEnd.read(bytes), new Waiting(later));
    Answer answer = now != null ? now : await(later);
    boolean written = false;
    try {
      RateLimitResponse response = RateLimitResponse.parseFrom(frontEnd.write(bytes, answer));
      written = true;
      return new PendingResponse(response, answer.lease());
    } catch (InvalidProtocolBufferException impossible) {
      throw new IllegalStateException("an answer that is none", impossible);
    } finally {
      if (!written && answer.lease() != null) {
        answer.lease().cancelled();
      }
    }
  }

  private static Answer await(CompletableFuture<Answer> later) {
    try {
      return later.join();
    } catch (CompletionException failed) {
      throw failed.getCause() instanceof StoreException outage ? outage : failed;
    }
  }

  private record Waiting(CompletableFuture<Answer> future) implements Later {
    @Override
    public void answered(Answer answer) {
      future.complete(answer);
    }

    @Override
    public void failed(Throwable cause) {
      future.completeExceptionally(cause);
    }
  }
}
