package io.throttlekit.service.http;

import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http.DefaultHttpContent;
import io.netty.handler.codec.http.DefaultHttpResponse;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;

/** Writes one reply in slices, as the client reads it. Confined to the event loop. */
final class ReplyWriter {
  /**
   * Bytes written at once; the write buffer holds little more than one slice of a slow reader's
   * reply.
   */
  private static final int SLICE = 16 * 1024;

  final Reply reply;
  private final boolean toHead;
  private int written;
  private boolean writing;
  private boolean done;

  /** Creates a writer of the reply to {@code request}. */
  ReplyWriter(Reply reply, HttpRequest request) {
    this.reply = reply;
    this.toHead = request.method().equals(HttpMethod.HEAD);
    this.written = toHead ? reply.body().length : 0; // a reply to HEAD sends no body
  }

  /** Returns whether there is a body that the client does not receive: it sent HEAD. */
  boolean omitsBody() {
    return toHead && reply.body().length > 0;
  }

  /**
   * Returns the status line and headers.
   *
   * @param last whether the connection is closed after the reply
   */
  HttpResponse head(HttpRequest request, boolean last) {
    HttpResponse head =
        new DefaultHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.valueOf(reply.status()));
    if (!reply.contentType().isEmpty()) {
      head.headers().set(HttpHeaderNames.CONTENT_TYPE, reply.contentType());
    }
    HttpUtil.setContentLength(head, reply.body().length);
    if (last) {
      head.headers().set(HttpHeaderNames.CONNECTION, HttpHeaderValues.CLOSE);
    } else if (!request.protocolVersion().isKeepAliveDefault()) {
      head.headers().set(HttpHeaderNames.CONNECTION, HttpHeaderValues.KEEP_ALIVE);
    }
    return head;
  }

  /**
   * Writes the body as far as the connection takes it; to be called again when it takes more.
   *
   * @return whether this call has written the end of the body, which happens once
   */
  boolean write(ChannelHandlerContext ctx) {
    if (writing || done) {
      return false;
    }
    byte[] bytes = reply.body();
    writing = true; // guards against reentry: writes and flushes change writability
    try {
      while (written < bytes.length && ctx.channel().isWritable()) {
        int length = Math.min(SLICE, bytes.length - written);
        var _ = ctx.write(new DefaultHttpContent(Unpooled.wrappedBuffer(bytes, written, length)));
        written += length;
        if (!ctx.channel().isWritable()) {
          ctx.flush();
        }
      }
    } finally {
      writing = false;
    }
    done = written == bytes.length;
    return done;
  }
}
