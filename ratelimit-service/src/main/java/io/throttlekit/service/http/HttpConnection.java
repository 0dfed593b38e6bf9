package io.throttlekit.service.http;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.channel.socket.DuplexChannel;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.DefaultHttpResponse;
import io.netty.handler.codec.http.HttpChunkedInput;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.handler.codec.http.TooLongHttpHeaderException;
import io.netty.handler.codec.http.TooLongHttpLineException;
import io.netty.handler.stream.ChunkedStream;
import io.netty.util.ReferenceCountUtil;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One connection: reads a request, has it answered, sends the reply, and reads the next.
 *
 * <p>The next request is not read before the reply to this one was sent, so pipelined requests take
 * no memory. Each phase has a deadline that received bytes do not extend. A reply is written to the
 * socket in slices, as the client reads it. Confined to the event loop.
 */
final class HttpConnection extends ChannelInboundHandlerAdapter {
  private static final Logger LOG = LoggerFactory.getLogger(HttpConnection.class);

  /**
   * Bytes written at once; the write buffer holds little more than one slice of a slow reader's
   * reply.
   */
  private static final int SLICE = 16 * 1024;

  /** Time to discard what the client still sends after its last reply. */
  private static final Duration LINGER = Duration.ofSeconds(1);

  /** The phases of a connection. */
  private enum Phase {
    /** Waits for a request; none of it has been read. */
    WAITING,
    /** Reads the body of a request. */
    READING,
    /** A route works on the answer. */
    ANSWERING,
    /** Sends the reply. */
    SENDING,
    /**
     * Has sent its last reply and discards further bytes, so that no TCP reset overtakes the reply.
     */
    LINGERING
  }

  private final OpenConnections connections;
  private final AcceptedHosts hosts;
  private final Answering answering;
  private Phase phase = Phase.WAITING;
  private long phaseEnds;
  private @Nullable ChannelHandlerContext context;
  private @Nullable HttpRequest request;
  private ByteArrayOutputStream body = new ByteArrayOutputStream(0);
  private int bodyBytes;
  private @Nullable Reply sending;
  private boolean last;
  private boolean unread;
  // Whether a read is scheduled on the event loop.
  private boolean readPending;

  /** Answers a request by calling {@link #answered} on the event loop. */
  interface Answering {
    void answer(HttpConnection connection, String path, HttpQuery query);
  }

  HttpConnection(OpenConnections connections, AcceptedHosts hosts, Answering answering) {
    this.connections = connections;
    this.hosts = hosts;
    this.answering = answering;
  }

  /** Returns whether the connection may be closed without losing an answer. */
  boolean waits() {
    return phase == Phase.WAITING || phase == Phase.READING || phase == Phase.LINGERING;
  }

  /** Returns whether a reply with another body is being sent. */
  @SuppressWarnings("ReferenceEquality") // a shared page is one array
  boolean sendsOtherThan(byte[] body) {
    return sending != null && sending.body() != body;
  }

  /** Returns whether the deadline of the phase has passed; the phase {@code ANSWERING} has none. */
  boolean isLate(long now) {
    // A difference, not a comparison: monotonic ns may overflow.
    return phase != Phase.ANSWERING && now - phaseEnds > 0;
  }

  /** Closes the connection at once, whatever it waits for. */
  void close() {
    connections.remove(this);
    closeChannel();
  }

  /** Closes the connection: at once, or after the answer to the request in progress. */
  void drain() {
    last = true;
    if (waits()) {
      close();
    }
  }

  @Override
  public void channelActive(ChannelHandlerContext ctx) {
    context = ctx;
    enter(Phase.WAITING, connections.bounds.request());
    connections.add(this);
    readMore(ctx);
  }

  @Override
  public void channelInactive(ChannelHandlerContext ctx) {
    connections.remove(this);
    releaseBody();
    finishReply(true);
  }

  @Override
  public void channelRead(ChannelHandlerContext ctx, Object message) {
    try {
      if (phase == Phase.WAITING && message instanceof HttpRequest started) {
        begin(ctx, started);
      } else if (phase == Phase.READING && message instanceof HttpContent content) {
        append(content);
      }
    } finally {
      ReferenceCountUtil.release(message);
    }
    if (waits()) {
      readMore(ctx);
    }
  }

  /** Reads on: part of a head yields no message and thus does not reach {@code channelRead}. */
  @Override
  public void channelReadComplete(ChannelHandlerContext ctx) {
    if (waits()) {
      readMore(ctx);
    }
  }

  @Override
  public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
    if (event instanceof ChannelInputShutdownEvent) {
      last = true; // half-closed by the client: what is in progress is still answered
      if (waits()) {
        closeChannel();
      }
    }
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
    LOG.debug("a connection failed", cause);
    closeChannel(); // a reset, or bytes of TLS; the reply, if any, is lost
  }

  /** Sends the reply to the request in progress. */
  void answered(Reply answer) {
    releaseBody();
    ChannelHandlerContext ctx = context;
    HttpRequest answered = request;
    if (ctx == null || answered == null || !ctx.channel().isActive()) { // the client has left
      answer.lost().run();
      return;
    }
    enter(Phase.SENDING, connections.bounds.response());
    sending = answer;
    connections.sending(this, answer.body());
    last |= !HttpUtil.isKeepAlive(answered);
    boolean toHead = answered.method().equals(HttpMethod.HEAD);
    var _ = ctx.write(head(answer, answered, last));
    ctx.writeAndFlush(
            toHead
                ? LastHttpContent.EMPTY_LAST_CONTENT
                : new HttpChunkedInput(
                    new ChunkedStream(new ByteArrayInputStream(answer.body()), SLICE)))
        .addListener(
            (ChannelFutureListener)
                written -> {
                  if (written.isSuccess()) {
                    sent(ctx, toHead && answer.body().length > 0);
                  } else {
                    closeChannel();
                  }
                });
  }

  /** Returns the status line and headers; {@code last} if the connection is closed after them. */
  private static HttpResponse head(Reply reply, HttpRequest request, boolean last) {
    HttpResponse head =
        new DefaultHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.valueOf(reply.status()));
    if (!reply.contentType().isEmpty()) {
      head.headers().set(HttpHeaderNames.CONTENT_TYPE, reply.contentType());
    }
    // pages quote requests: a browser must not take them for HTML
    head.headers().set("x-content-type-options", "nosniff");
    HttpUtil.setContentLength(head, reply.body().length);
    if (last) {
      head.headers().set(HttpHeaderNames.CONNECTION, HttpHeaderValues.CLOSE);
    } else if (!request.protocolVersion().isKeepAliveDefault()) {
      head.headers().set(HttpHeaderNames.CONNECTION, HttpHeaderValues.KEEP_ALIVE);
    }
    return head;
  }

  private void begin(ChannelHandlerContext ctx, HttpRequest started) {
    request = started;
    bodyBytes = 0;
    body = new ByteArrayOutputStream(0);
    if (started.decoderResult().isFailure()) {
      abort(statusOf(started.decoderResult().cause()));
      return;
    }
    if (!hosts.accept(started)) {
      abort(AcceptedHosts.REFUSAL);
      return;
    }
    enter(Phase.READING, connections.bounds.request());
    long length = HttpUtil.getContentLength(started, -1L);
    if (length > connections.bounds.bodyBytes()) {
      dispatchUnread(new BodyTooLongException());
    } else if (HttpUtil.is100ContinueExpected(started)) {
      var _ =
          ctx.writeAndFlush(
              new DefaultFullHttpResponse(
                  HttpVersion.HTTP_1_1, HttpResponseStatus.CONTINUE, Unpooled.EMPTY_BUFFER));
    }
  }

  private void append(HttpContent content) {
    if (content.decoderResult().isFailure()) {
      dispatchUnread(new MalformedBodyException("the body is not framed as HTTP"));
      return;
    }
    ByteBuf bytes = content.content();
    int length = bytes.readableBytes();
    if (bodyBytes + length > connections.bounds.bodyBytes()) {
      dispatchUnread(new BodyTooLongException());
      return;
    }
    // The bodies of all connections together are bounded.
    if (!connections.takeBody(length)) {
      abort(503);
      return;
    }
    bodyBytes += length;
    try {
      bytes.readBytes(body, length);
    } catch (IOException impossible) {
      throw new IllegalStateException(impossible);
    }
    if (content instanceof LastHttpContent) {
      dispatch(body.toByteArray(), null);
    }
  }

  private void dispatchUnread(MalformedBodyException fault) {
    last = true;
    unread = true;
    dispatch(new byte[0], fault);
  }

  private void abort(int status) {
    abort(Reply.text(status, HttpResponseStatus.valueOf(status).reasonPhrase() + "\n"));
  }

  /** Answers without the rest of the request, and closes the connection. */
  private void abort(Reply reply) {
    last = true;
    unread = true;
    enter(Phase.ANSWERING, Duration.ZERO);
    answered(reply);
  }

  private void dispatch(byte[] received, @Nullable MalformedBodyException fault) {
    HttpRequest current = request;
    if (current == null) {
      throw new IllegalStateException("no request to dispatch");
    }
    body = new ByteArrayOutputStream(0);
    enter(Phase.ANSWERING, Duration.ZERO);
    URI address = address(current.uri());
    String path = address == null ? null : address.getPath();
    // CONNECT and opaque addresses such as mailto:a have no path.
    if (address == null || path == null) {
      abort(400);
      return;
    }
    String accept = current.headers().get(HttpHeaderNames.ACCEPT);
    answering.answer(this, path, new HttpQuery(address.getQuery(), accept, received, fault));
  }

  private static @Nullable URI address(String uri) {
    try {
      return new URI(uri);
    } catch (URISyntaxException malformed) {
      return null;
    }
  }

  private static int statusOf(Throwable cause) {
    return switch (cause) {
      case TooLongHttpLineException _ -> 414;
      case TooLongHttpHeaderException _ -> 431;
      default -> 400;
    };
  }

  /** Continues after a reply, which was {@code lost} if it was one to HEAD and has a body. */
  private void sent(ChannelHandlerContext ctx, boolean lost) {
    finishReply(lost);
    request = null;
    if (!last) {
      enter(Phase.WAITING, connections.bounds.idle());
      readMore(ctx);
    } else if (unread) {
      linger(ctx);
    } else {
      closeChannel();
    }
  }

  /**
   * Half-closes and discards what still comes: closing with unread bytes would reset the
   * connection, and the client might lose the reply.
   */
  private void linger(ChannelHandlerContext ctx) {
    enter(Phase.LINGERING, LINGER);
    if (ctx.channel() instanceof DuplexChannel socket) {
      var _ = socket.shutdownOutput();
    }
    readMore(ctx);
  }

  /**
   * Reads the next message in a task of its own, so that connections take turns on the event loop.
   */
  private void readMore(ChannelHandlerContext ctx) {
    if (!readPending) {
      readPending = true;
      ctx.channel()
          .eventLoop()
          .execute(() -> {
            readPending = false;
            ctx.read();
          });
    }
  }

  private void finishReply(boolean lost) {
    Reply done = sending;
    if (done == null) {
      return;
    }
    sending = null;
    connections.sent(done.body());
    if (lost) {
      done.lost().run();
    }
  }

  private void releaseBody() {
    connections.releaseBody(bodyBytes);
    bodyBytes = 0;
  }

  private void enter(Phase next, Duration most) {
    phase = next;
    phaseEnds = connections.time.monotonicNanos() + most.toNanos();
    connections.changed(this);
  }

  private void closeChannel() {
    ChannelHandlerContext ctx = context;
    if (ctx != null) {
      var _ = ctx.close();
    }
  }
}
