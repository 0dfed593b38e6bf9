package io.throttlekit.bench.chaos.fleet;

import io.throttlekit.TimeSource;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * Clock of this host with a wall time that another process may step: both map a file of eight
 * bytes, the offset in ms. Thread-safe.
 */
public final class OffsetClock implements TimeSource {
  private static final VarHandle OFFSET = ValueLayout.JAVA_LONG.varHandle();

  private final TimeSource host = TimeSource.system();
  private final MemorySegment offset;

  private OffsetClock(MemorySegment offset) {
    this.offset = offset;
  }

  /** Returns the clock of a file, which is made if there is none, with an offset of 0. */
  static OffsetClock of(Path file) throws IOException {
    try (FileChannel channel =
        FileChannel.open(
            file, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      return new OffsetClock(
          channel.map(MapMode.READ_WRITE, 0, ValueLayout.JAVA_LONG.byteSize(), Arena.ofAuto()));
    }
  }

  /** Sets the offset of the wall time to the host's; negative for behind. */
  public void set(long millis) {
    OFFSET.setVolatile(offset, 0L, millis);
  }

  @Override
  public long wallMillis() {
    return host.wallMillis() + (long) OFFSET.getVolatile(offset, 0L);
  }

  @Override
  public long monotonicNanos() {
    return host.monotonicNanos();
  }
}
