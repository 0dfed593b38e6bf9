package io.throttlekit.bench.sensor;

import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.Status;
import io.throttlekit.TimeSource;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * Stream that sends as much as the server accepts, until its time is up; called on an event loop.
 */
final class SensorStream extends ClientCall.Listener<byte[]> {
  private final ClientCall<byte[], byte[]> call;
  private final List<byte[]> messages;
  private final TimeSource time;
  private final long end;
  private final CompletableFuture<Long> done = new CompletableFuture<>();
  private final byte[] firstMessage;
  private boolean firstSent;
  private long place;
  private long sent;
  private boolean complete;

  private SensorStream(
      ClientCall<byte[], byte[]> call,
      byte[] firstMessage,
      List<byte[]> messages,
      long first,
      TimeSource time,
      long end) {
    this.call = call;
    this.place = first;
    this.firstMessage = firstMessage;
    this.messages = messages;
    this.time = time;
    this.end = end;
  }

  /**
   * Begins a stream.
   *
   * @param first index of the first message
   * @param end monotonic
   * @return the number of messages sent, after the server has read all of them
   */
  static CompletableFuture<Long> begin(
      ManagedChannel channel,
      Sensor sensor,
      byte[] firstMessage,
      List<byte[]> messages,
      long first,
      TimeSource time,
      long end) {
    ClientCall<byte[], byte[]> call = channel.newCall(sensor.method(), CallOptions.DEFAULT);
    SensorStream stream = new SensorStream(call, firstMessage, messages, first, time, end);
    call.start(stream, new Metadata());
    call.request(2); // a load report is answered at once, a log at its end, if at all
    return stream.done;
  }

  @Override
  public void onReady() { // the only place that sends, on one thread
    if (!firstSent) {
      firstSent = true;
      call.sendMessage(firstMessage);
    }
    while (!complete && call.isReady()) {
      if (time.monotonicNanos() - end >= 0) {
        complete = true;
        call.halfClose();
      } else {
        call.sendMessage(messages.get((int) (place++ % messages.size())));
        sent++;
      }
    }
  }

  @Override
  public void onClose(Status status, Metadata trailers) {
    if (status.isOk()) {
      done.complete(sent);
    } else {
      done.completeExceptionally(status.asRuntimeException(trailers));
    }
  }
}
