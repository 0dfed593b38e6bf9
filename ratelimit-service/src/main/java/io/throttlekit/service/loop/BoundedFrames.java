package io.throttlekit.service.loop;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.codec.http2.Http2Connection;
import io.netty.handler.codec.http2.Http2ConnectionAdapter;
import io.netty.handler.codec.http2.Http2ConnectionHandler;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2Exception.ShutdownHint;
import io.netty.handler.codec.http2.Http2Flags;
import io.netty.handler.codec.http2.Http2FrameListener;
import io.netty.handler.codec.http2.Http2FrameListenerDecorator;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.handler.codec.http2.Http2Settings;
import io.netty.handler.codec.http2.Http2Stream;
import io.throttlekit.service.loop.ClosedConnections.Reason;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The frames of one connection, ahead of gRPC. Confined to the event loop.
 *
 * <p>A call beyond the maximum is refused by itself (REFUSED_STREAM). Netty would do so, too, but
 * does not remember the stream, and takes its DATA for an error of the connection: all its calls
 * would fail. Clients such as Envoy open streams before they have read the maximum.
 *
 * <p>A frame that belongs to no call counts as 1: SETTINGS, PING, PRIORITY, WINDOW_UPDATE, unknown
 * ones, DATA that is empty or nearly so without ending its stream. Each new call permits {@value
 * #PER_CALL} of them, as a client needs for windows. A call that ends by an error of HTTP/2 counts
 * as {@value #PER_ERROR}. Netty drops frames on streams that have ended, or never began, without a
 * callback; they count as bytes that were read and belong to no call.
 */
final class BoundedFrames extends Http2FrameListenerDecorator {
  /** Frames beside a call that are not counted. */
  private static final int PER_CALL = 4;

  /** Count of a call that ends by an error of HTTP/2: no correct client has one. */
  private static final int PER_ERROR = 10;

  /** DATA below this size without the end of its stream counts: shorter than a useful message. */
  private static final int MIN_DATA = 32;

  /** Calls refused before a client has acknowledged the maximum, above any burst of an Envoy. */
  private static final int MAX_UNACKNOWLEDGED = 100_000;

  /** Refusals that a client has not read, as many as Netty permits of other frames. */
  private static final int MAX_UNSENT = 10_000;

  private static final int MAX_REMEMBERED = 2_000;
  private static final long REMEMBERED_MILLIS = 1_000;
  private static final int FRAME_HEADER = 9;

  /** Bytes of a header block that are expected, with its frame; longer ones are measured. */
  private static final int HEADER_BYTES = (10 << 10) + FRAME_HEADER;

  /** Bytes of a refused call that may follow its headers: the longest DATA frame. */
  private static final int REFUSED_BYTES = (16 << 10) + FRAME_HEADER;

  /** Bytes in a second that belong to no call: the rest of calls that were answered early. */
  private static final int UNUSED_BYTES = 4 << 20;

  /** Bytes of incomplete frames and headers that do not count: any client may have sent some. */
  private static final int INCOMPLETE_BYTES = 16 << 10;

  private static final long WINDOW_NANOS = TimeUnit.SECONDS.toNanos(1);

  /** Time for a client to read why it is disconnected. */
  private static final long LAST_READ_MILLIS = 1_000;

  private static final String TOO_MANY = "too many ";

  /** Characters of Netty's message that are logged, which may name headers. */
  private static final int MAX_REASON = 200;

  private final FrameBounds bounds;
  private final Http2ConnectionHandler handler;
  private final Http2Connection connection;
  private final Http2Connection.PropertyKey refusal;

  /**
   * Refused streams, for a while: their DATA is on its way. Netty ignores DATA of a stream that it
   * knows as reset, and answers DATA of an unknown stream by another reset.
   */
  private final ArrayDeque<Http2Stream> refused = new ArrayDeque<>();

  /** Refused streams that Netty still counts as active. */
  private int refusing;

  private boolean forgetting;

  /** Refusals that are not yet sent. */
  private int unsent;

  private boolean acknowledged;
  private int unacknowledged;

  /** Of the HTTP/2 handler; null before the first SETTINGS. */
  private @Nullable ChannelHandlerContext context;

  private int frames;
  private long framesSinceNanos;
  private long unusedBytes;
  private long bytesSinceNanos;

  /** Bytes read since the last frame, or the last block of headers, was complete. */
  private long incomplete;

  private boolean lost;
  private boolean goAwaySent;
  private boolean closing;

  BoundedFrames(FrameBounds bounds, Http2ConnectionHandler handler, Http2FrameListener next) {
    super(next);
    this.bounds = bounds;
    this.handler = handler;
    this.connection = handler.connection();
    this.refusal = connection.newKey();
    this.framesSinceNanos = bounds.time.monotonicNanos();
    this.bytesSinceNanos = framesSinceNanos;
    connection.remote().maxActiveStreams(Integer.MAX_VALUE); // refused here
    connection.addListener(
        new Http2ConnectionAdapter() {
          @Override
          public void onStreamActive(Http2Stream stream) { // also if its headers are too long
            used(HEADER_BYTES);
          }

          @Override
          public void onStreamClosed(Http2Stream stream) {
            if (refusing > 0 && stream.getProperty(refusal) != null) {
              refusing--;
            }
          }

          @Override
          public void onGoAwaySent(int lastStreamId, long errorCode, ByteBuf debugData) {
            if (errorCode != Http2Error.NO_ERROR.code() && !closing) {
              closing = true;
              closes(errorCode, debugData.toString(StandardCharsets.US_ASCII));
            }
            goAwaySent = true;
          }
        });
  }

  @Override
  public void onHeadersRead(
      ChannelHandlerContext ctx,
      int streamId,
      Http2Headers headers,
      int dependency,
      short weight,
      boolean exclusive,
      int padding,
      boolean endStream)
      throws Http2Exception {
    incomplete = 0;
    if (frames > bounds.framesPerSecond) { // calls that ended by errors
      checkFrames();
    }
    if (connection.remote().numActiveStreams() - refusing > bounds.calls) {
      Http2Stream stream = connection.stream(streamId);
      if (!stream.isTrailersReceived()) { // begins by these headers
        refuse(ctx, stream);
        return;
      }
    }
    frames = Math.max(0, frames - PER_CALL);
    super.onHeadersRead(ctx, streamId, headers, dependency, weight, exclusive, padding, endStream);
    if (unusedBytes > UNUSED_BYTES / 2 && Thread.currentThread() instanceof LoopThread loop) {
      HeldCall call = loop.begun;
      used(call == null ? 0 : (int) call.headerBytes());
    }
  }

  private void refuse(ChannelHandlerContext ctx, Http2Stream stream) throws Http2Exception {
    bounds.refused();
    if (acknowledged) {
      count(); // knows the maximum
    } else if (++unacknowledged > MAX_UNACKNOWLEDGED) {
      throw calm("calls before it acknowledged SETTINGS");
    }
    unusedBytes = Math.max(-UNUSED_BYTES, unusedBytes - REFUSED_BYTES);
    stream.setProperty(refusal, true);
    refusing++;
    stream.resetSent();
    reset(ctx, stream.id());
    if (refused.size() == MAX_REMEMBERED) {
      refused.remove().close();
    }
    refused.add(stream);
    if (!forgetting) {
      forgetting = true;
      var _ = ctx.executor().schedule(this::forget, REMEMBERED_MILLIS, TimeUnit.MILLISECONDS);
    }
  }

  /** Writes the frame itself: gRPC's encoder would count it as a reset by the client. */
  private void reset(ChannelHandlerContext ctx, int streamId) throws Http2Exception {
    if (unsent == MAX_UNSENT) {
      ctx.flush();
    }
    if (unsent == MAX_UNSENT) {
      throw calm("calls without reading their refusals");
    }
    unsent++;
    var _ =
        handler
            .encoder()
            .frameWriter()
            .writeRstStream(
                ctx,
                streamId,
                Http2Error.REFUSED_STREAM.code(),
                ctx.newPromise().addListener(_ -> unsent--));
  }

  private void forget() {
    forgetting = false;
    refused.forEach(Http2Stream::close);
    refused.clear();
  }

  @Override
  public int onDataRead(
      ChannelHandlerContext ctx, int streamId, ByteBuf data, int padding, boolean endOfStream)
      throws Http2Exception {
    incomplete = 0;
    int length = data.readableBytes();
    used(FRAME_HEADER + length);
    if (length < MIN_DATA && !endOfStream) {
      count();
    }
    return super.onDataRead(ctx, streamId, data, padding, endOfStream);
  }

  @Override
  public void onSettingsRead(ChannelHandlerContext ctx, Http2Settings settings)
      throws Http2Exception {
    if (context == null) {
      context = ctx;
      ctx.pipeline().addBefore(ctx.name(), null, new Reads());
      ClientConnection client = ctx.pipeline().get(ClientConnection.class);
      if (client != null) {
        client.reads(this);
      }
    }
    count();
    super.onSettingsRead(ctx, settings);
  }

  @Override
  public void onSettingsAckRead(ChannelHandlerContext ctx) throws Http2Exception {
    acknowledged = true;
    connection.remote().maxActiveStreams(Integer.MAX_VALUE); // Netty has applied the setting
    count();
    super.onSettingsAckRead(ctx);
  }

  @Override
  public void onPingRead(ChannelHandlerContext ctx, long data) throws Http2Exception {
    count();
    super.onPingRead(ctx, data);
  }

  @Override
  public void onPingAckRead(ChannelHandlerContext ctx, long data) throws Http2Exception {
    count();
    super.onPingAckRead(ctx, data);
  }

  @Override
  public void onPriorityRead(
      ChannelHandlerContext ctx, int streamId, int dependency, short weight, boolean exclusive)
      throws Http2Exception {
    count();
    super.onPriorityRead(ctx, streamId, dependency, weight, exclusive);
  }

  @Override
  public void onWindowUpdateRead(ChannelHandlerContext ctx, int streamId, int increment)
      throws Http2Exception {
    count();
    super.onWindowUpdateRead(ctx, streamId, increment);
  }

  @Override
  public void onGoAwayRead(
      ChannelHandlerContext ctx, int lastStreamId, long errorCode, ByteBuf debugData)
      throws Http2Exception {
    count();
    super.onGoAwayRead(ctx, lastStreamId, errorCode, debugData);
  }

  @Override
  public void onRstStreamRead(ChannelHandlerContext ctx, int streamId, long errorCode)
      throws Http2Exception {
    incomplete = 0;
    super.onRstStreamRead(ctx, streamId, errorCode);
  }

  @Override
  public void onUnknownFrame(
      ChannelHandlerContext ctx, byte type, int streamId, Http2Flags flags, ByteBuf payload)
      throws Http2Exception {
    count();
    super.onUnknownFrame(ctx, type, streamId, flags, payload);
  }

  /** Notes bytes of a call, which were read before. */
  private void used(int bytes) {
    if (unusedBytes > 0) {
      unusedBytes = Math.max(0, unusedBytes - bytes);
    }
  }

  /** Counts a call that ended by an error of HTTP/2. */
  void callFailed() {
    frames += PER_ERROR;
  }

  /** Returns the bytes of an incomplete frame or of incomplete headers; 0 if there are few. */
  long incompleteBytes() {
    return incomplete > INCOMPLETE_BYTES ? incomplete : 0;
  }

  /** Counts a frame that belongs to no call. */
  private void count() throws Http2Exception {
    incomplete = 0;
    if (++frames > bounds.framesPerSecond) {
      checkFrames();
    }
  }

  /** Reads the clock only once as many frames have come as a second may have. */
  private void checkFrames() throws Http2Exception {
    long now = bounds.time.monotonicNanos();
    if (now - framesSinceNanos < WINDOW_NANOS) {
      throw calm("frames that belong to no call");
    }
    frames = 1;
    framesSinceNanos = now;
  }

  private static Http2Exception calm(String what) {
    return new Http2Exception(
        Http2Error.ENHANCE_YOUR_CALM, TOO_MANY + what, ShutdownHint.HARD_SHUTDOWN);
  }

  /**
   * Counts the connection as closed, unless it was closing, and closes it even if its client does
   * not read the reason.
   */
  private void closes(long errorCode, String reason) {
    ChannelHandlerContext ctx = context;
    if (ctx != null) {
      var _ =
          ctx.executor().schedule(() -> disconnect(ctx), LAST_READ_MILLIS, TimeUnit.MILLISECONDS);
    }
    Http2Error error = Http2Error.valueOf(errorCode);
    switch (error) {
      case ENHANCE_YOUR_CALM -> {
        switch (reason) { // of grpc-java
          case "too_many_pings" -> bounds.closed.count(Reason.PINGS, "sent pings too often");
          case "too_many_rststreams" ->
              bounds.closed.count(Reason.RESETS, "had too many calls reset");
          default -> bounds.closed.count(Reason.FRAMES, "sent " + tooMany(reason));
        }
      }
      // also of a call that begins after the connection was closed, or was lost
      case INTERNAL_ERROR -> {
        if (!lost && !goAwaySent && ctx != null && ctx.channel().isActive()) {
          bounds.closed.count(Reason.INTERNAL_ERROR, "caused a fault (" + shortened(reason) + ")");
        }
      }
      case null, default ->
          bounds.closed.count(Reason.PROTOCOL_ERROR, "violated HTTP/2 (" + shortened(reason) + ")");
    }
  }

  private static void disconnect(ChannelHandlerContext ctx) {
    var _ = ctx.pipeline().firstContext().close();
  }

  /** Returns the reason; {@link #TOO_MANY} introduces a reason of Netty. */
  private static String tooMany(String reason) {
    return reason.startsWith(TOO_MANY) ? reason : TOO_MANY + "frames: " + shortened(reason);
  }

  private static String shortened(String reason) {
    return reason.length() <= MAX_REASON ? reason : reason.substring(0, MAX_REASON) + "…";
  }

  /** Ahead of the HTTP/2 handler: counts the bytes that reach it, and notices lost connections. */
  private final class Reads extends ChannelInboundHandlerAdapter {
    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
      lost = true;
      ctx.fireExceptionCaught(cause); // gRPC answers it by a GOAWAY with INTERNAL_ERROR
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
      ChannelHandlerContext http2 = context;
      if (message instanceof ByteBuf bytes) {
        unusedBytes += bytes.readableBytes();
        incomplete += bytes.readableBytes();
      }
      ctx.fireChannelRead(message);
      if (unusedBytes > UNUSED_BYTES) {
        long now = bounds.time.monotonicNanos();
        if (http2 != null && now - bytesSinceNanos < WINDOW_NANOS) {
          handler.onError(http2, false, calm("bytes that belong to no call"));
        }
        unusedBytes = 0;
        bytesSinceNanos = now;
      }
    }
  }
}
