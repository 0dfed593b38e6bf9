package io.throttlekit.http2;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http2.DefaultHttp2HeadersEncoder;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.handler.codec.http2.Http2HeadersEncoder;
import java.util.List;

/** The HPACK header blocks of one connection's requests, RFC 7541. Immutable. */
public final class HeaderBlocks {
  /**
   * Size hint of the encoder's hash table, which stays empty: all headers are marked as sensitive.
   */
  private static final int NO_TABLE_HINT = 16;

  /** The shortest text that is encoded with Huffman's code: all are. */
  private static final int ALWAYS_HUFFMAN = 0;

  private final byte[] first;
  private final List<byte[]> later;

  private HeaderBlocks(byte[] first, List<byte[]> later) {
    this.first = first;
    this.later = later;
  }

  /**
   * Returns blocks of the same headers: literals in the first request, table references in all
   * others.
   */
  public static HeaderBlocks repeated(Http2Headers headers) {
    DefaultHttp2HeadersEncoder connection = new DefaultHttp2HeadersEncoder();
    byte[] first = block(connection, headers);
    return new HeaderBlocks(first, List.of(block(connection, headers)));
  }

  /** Returns blocks of headers that differ per request, all as literals in Huffman's code. */
  public static HeaderBlocks spelledOut(List<Http2Headers> inTurn) {
    DefaultHttp2HeadersEncoder connection =
        new DefaultHttp2HeadersEncoder(
            Http2HeadersEncoder.ALWAYS_SENSITIVE, false, NO_TABLE_HINT, ALWAYS_HUFFMAN);
    List<byte[]> blocks = inTurn.stream().map(headers -> block(connection, headers)).toList();
    return new HeaderBlocks(blocks.getFirst(), blocks);
  }

  /**
   * Returns the block of a request.
   *
   * @param request number of requests that the connection sent before
   */
  byte[] of(int request) {
    return request == 0 ? first : later.get(request % later.size());
  }

  private static byte[] block(DefaultHttp2HeadersEncoder connection, Http2Headers headers) {
    ByteBuf block = Unpooled.buffer();
    try {
      connection.encodeHeaders(1, headers, block);
    } catch (Http2Exception impossible) {
      throw new IllegalStateException(impossible);
    }
    return ByteBufUtil.getBytes(block);
  }
}
