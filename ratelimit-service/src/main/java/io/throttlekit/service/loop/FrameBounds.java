package io.throttlekit.service.loop;

import io.netty.handler.codec.http2.Http2ConnectionDecoder;
import io.netty.handler.codec.http2.Http2ConnectionHandler;
import io.throttlekit.TimeSource;
import io.throttlekit.service.log.LogInterval;
import java.time.Duration;
import java.util.concurrent.atomic.LongAdder;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Bounds the calls in progress on each connection of a listener, and the frames that belong to no
 * call. Thread-safe.
 */
public final class FrameBounds {
  private static final Logger LOG = LoggerFactory.getLogger(FrameBounds.class);
  private static final Duration LOG_INTERVAL = Duration.ofSeconds(10);

  final int calls;
  final int framesPerSecond;
  final TimeSource time;
  final ClosedConnections closed;
  private final LongAdder refused = new LongAdder();
  private final LogInterval warnings;

  /**
   * Creates bounds of one listener.
   *
   * @param calls maximum number of calls in progress on one connection, from 1
   * @param framesPerSecond maximum number of frames in a second that belong to no call, from 1
   * @param closed counts the connections that are closed
   */
  public FrameBounds(int calls, int framesPerSecond, TimeSource time, ClosedConnections closed) {
    this.calls = calls;
    this.framesPerSecond = framesPerSecond;
    this.time = time;
    this.closed = closed;
    this.warnings = new LogInterval(LOG_INTERVAL, time.monotonicNanos());
  }

  /** Applies the bounds to a new connection, before it reads anything. */
  public void applyTo(Http2ConnectionHandler connection) {
    Http2ConnectionDecoder decoder = connection.decoder();
    decoder.frameListener(new BoundedFrames(this, connection, decoder.frameListener()));
  }

  /** Returns how many calls were refused because too many were in progress on their connection. */
  public long refusedCalls() {
    return refused.sum();
  }

  /** Counts and logs a refused call. */
  void refused() {
    refused.increment();
    if (warnings.isDue(time.monotonicNanos())) {
      LOG.warn(
          "a call was refused because {} were in progress on its connection, {} so far",
          calls,
          refused.sum());
    }
  }
}
