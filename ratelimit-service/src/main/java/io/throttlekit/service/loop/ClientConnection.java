package io.throttlekit.service.loop;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.throttlekit.TimeSource;
import org.jspecify.annotations.Nullable;

/**
 * One connection and its open calls, oldest first. It is the first handler of its connection, so
 * that calls start while it passes data on. Confined to the event loop.
 */
final class ClientConnection extends ChannelInboundHandlerAdapter {
  private final HeldByClients owner;
  private @Nullable LoopLedger ledger;
  private @Nullable ChannelHandlerContext context;
  private @Nullable HeldCall first;
  private @Nullable HeldCall last;

  // As of the last check.
  private long heldBytes;
  private long decidingBytes;
  private long byteLooks;
  private boolean passing;

  private @Nullable BoundedFrames frames;

  /** Number of consecutive checks at which it had sent a part of a frame or of headers. */
  private int partLooks;

  ClientConnection(HeldByClients owner) {
    this.owner = owner;
  }

  @Override
  public void channelActive(ChannelHandlerContext ctx) {
    context = ctx;
    ledger = owner.ledger(ctx.channel().eventLoop());
    ledger.add(this);
    ctx.fireChannelActive();
  }

  @Override
  public void channelInactive(ChannelHandlerContext ctx) {
    if (ledger != null) {
      ledger.remove(this);
    }
    ctx.fireChannelInactive();
  }

  @Override
  public void channelRead(ChannelHandlerContext ctx, Object message) {
    LoopLedger loop = ledger;
    if (loop != null && Thread.currentThread() instanceof LoopThread thread) {
      // only a read can raise what clients hold
      loop.lookSoon();
      thread.serves(this);
      try {
        ctx.fireChannelRead(message);
      } finally {
        thread.serves(null);
      }
    } else {
      ctx.fireChannelRead(message);
    }
  }

  /** Notifies these frames of each call that ends by an error of HTTP/2 from now on. */
  void reads(BoundedFrames frames) {
    this.frames = frames;
  }

  /** Notes that a call has ended by an error of HTTP/2. */
  void callFailed() {
    if (frames != null) {
      frames.callFailed();
    }
  }

  /** Returns the clock by which the ages of its calls are measured. */
  TimeSource time() {
    return owner.time;
  }

  /** Counts a call that begins (1) or ends (−1). */
  void counts(int change) {
    if (ledger != null) {
      ledger.calls(change);
    }
  }

  void begun(HeldCall call) {
    call.before = last;
    if (last == null) {
      first = call;
    } else {
      last.after = call;
    }
    last = call;
  }

  /** Removes a call; no effect the second time. */
  void ended(HeldCall call) {
    HeldCall before = call.before;
    HeldCall after = call.after;
    // not in the list: it has ended before
    if (before == null && after == null && first != call) {
      return;
    }
    if (before == null) {
      first = after;
    } else {
      before.after = after;
    }
    if (after == null) {
      last = before;
    } else {
      after.before = before;
    }
    call.before = null;
    call.after = null;
  }

  /** Adds up the bytes held by its calls, and by an incomplete frame or incomplete headers. */
  void look() {
    heldBytes = frames == null ? 0 : frames.incompleteBytes();
    partLooks = heldBytes == 0 ? 0 : partLooks + 1;
    decidingBytes = 0;
    byteLooks = heldBytes * Math.max(0, partLooks - 1);
    passing = false;
    for (HeldCall call = first; call != null; call = call.after) {
      long held = call.look();
      heldBytes += held;
      // bytes read after the last check do not count: every client holds some
      byteLooks += held * (call.looks() - 1);
      decidingBytes += call.decidingBytes();
      passing |= call.passes();
    }
  }

  /** Returns the bytes that its client holds. */
  long heldBytes() {
    return heldBytes;
  }

  /** Returns the bytes of messages that are being decided. */
  long decidingBytes() {
    return decidingBytes;
  }

  /**
   * Returns the bytes that its client has held since earlier checks, each multiplied by the number
   * of those checks.
   */
  long byteLooks() {
    return byteLooks;
  }

  /** Returns whether another check is needed even if nothing is read meanwhile. */
  boolean needsLook() {
    return passing || heldBytes > 0;
  }

  /** Closes the transport at once: HTTP/2 would wait for open calls. */
  void close() {
    if (context != null) {
      var _ = context.close();
    }
  }
}
