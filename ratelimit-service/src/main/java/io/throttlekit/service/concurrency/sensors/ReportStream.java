package io.throttlekit.service.concurrency.sensors;

import io.grpc.Status;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import io.throttlekit.envoy.NodeIds;

/**
 * One stream on which an Envoy reports, from its first message to its end, which the listener is
 * notified of once. For one thread at a time, as gRPC calls it.
 *
 * @param <Q> a report
 * @param <A> an answer
 */
abstract class ReportStream<Q, A> implements StreamObserver<Q> {
  private final ServerCallStreamObserver<A> answers;
  private final StreamListener listener;

  /** Decides which node ids the Envoy may use. */
  final NodeIds allowed = NodeIds.ofCall();

  /** The id that the Envoy announced; empty where it announced none. */
  String node = "";

  private boolean over;

  /** Creates a stream that has begun. */
  ReportStream(StreamObserver<A> answers, StreamListener listener) {
    this.answers = (ServerCallStreamObserver<A>) answers; // guaranteed by gRPC in a server
    this.listener = listener;
    listener.opened();
    this.answers.setOnCancelHandler(this::end);
    this.answers.setOnCloseHandler(this::end);
  }

  /** Reads a message of a stream that has not ended. */
  abstract void received(Q message);

  /** Sends the last answer to an Envoy that has ended its stream. */
  void complete() {}

  /** Reacts to the end of the stream; called once. */
  void ended() {}

  /** Sends an answer. */
  final void answer(A answer) {
    answers.onNext(answer);
  }

  /** Ends the stream with this status. */
  final void reject(Status status) {
    listener.rejected();
    end();
    answers.onError(status.asRuntimeException());
  }

  @Override
  public final void onNext(Q message) {
    if (!over) { // messages may arrive after the stream was rejected
      received(message);
    }
  }

  @Override
  public final void onError(Throwable cause) {
    end();
  }

  @Override
  public final void onCompleted() {
    if (!over) {
      end();
      complete();
      answers.onCompleted();
    }
  }

  private void end() {
    if (!over) {
      over = true;
      listener.closed();
      ended();
    }
  }
}
