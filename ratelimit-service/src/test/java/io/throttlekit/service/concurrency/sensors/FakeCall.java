package io.throttlekit.service.concurrency.sensors;

import io.grpc.Status;
import io.grpc.stub.ServerCallStreamObserver;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The server's side of a call without a network. Not thread-safe. */
public final class FakeCall<A> extends ServerCallStreamObserver<A> {
  public final List<A> answers = new ArrayList<>();
  public @Nullable Status ended;
  private @Nullable Runnable whenCancelled;
  private @Nullable Runnable whenClosed;

  /** Cancels the call as a client does. */
  public void cancel() {
    if (whenCancelled != null) {
      whenCancelled.run();
    }
  }

  /** Notifies the server's handler that it has ended the call. */
  public void closed() {
    if (whenClosed != null) {
      whenClosed.run();
    }
  }

  @Override
  public void onNext(A answer) {
    answers.add(answer);
  }

  @Override
  public void onError(Throwable cause) {
    ended = Status.fromThrowable(cause);
  }

  @Override
  public void onCompleted() {
    ended = Status.OK;
  }

  @Override
  public void setOnCancelHandler(Runnable handler) {
    whenCancelled = handler;
  }

  @Override
  public void setOnCloseHandler(Runnable handler) {
    whenClosed = handler;
  }

  @Override
  public boolean isCancelled() {
    return false;
  }

  @Override
  public void setCompression(String compression) {}

  @Override
  public boolean isReady() {
    return true;
  }

  @Override
  public void setOnReadyHandler(Runnable handler) {}

  @Override
  public void request(int count) {}

  @Override
  public void setMessageCompression(boolean enable) {}

  @Override
  public void disableAutoInboundFlowControl() {}
}
