package io.throttlekit;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.HexFormat;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SipHashTest {

  // The key 00 01 … 0f of the published test vectors.
  private static final long KEY_0 = 0x0706050403020100L;
  private static final long KEY_1 = 0x0f0e0d0c0b0a0908L;

  @ParameterizedTest(name = "{0} bytes")
  @CsvSource({
    "0, a3817f04ba25a8e66df67214c7550293",
    "1, da87c1d86b99af44347659119b22fc45",
    "15, 5493e99933b0a8117e08ec0f97cfc3d9",
    "31, 2939b0183223fafc1723de4f52c43d35",
  })
  void returnsThePublishedHashes(int length, String expected) {
    byte[] bytes = new byte[length];
    for (int i = 0; i < length; i++) {
      bytes[i] = (byte) i;
    }
    SipHash hash = new SipHash(KEY_0, KEY_1, 2, 4, bytes);
    ByteBuffer output = ByteBuffer.allocate(16).order(ByteOrder.LITTLE_ENDIAN);
    output.putLong(hash.low()).putLong(hash.high());
    assertThat(HexFormat.of().formatHex(output.array())).isEqualTo(expected);
  }
}
