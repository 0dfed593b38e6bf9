package io.throttlekit.service.concurrency.release;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.junit.jupiter.api.Test;

class IdSignerTest {
  private static final String KEY = "000102030405060708090a0b0c0d0eff";
  private static final int TEXTS = 1_000;

  private final IdSigner signer = IdSigner.of(KEY);

  @Test
  void aSignatureIsTheFirst64BitsOfAnHmac() throws Exception {
    Mac mac = Mac.getInstance("HmacSHA256");
    mac.init(new SecretKeySpec(HexFormat.of().parseHex(KEY), "HmacSHA256"));
    for (String text : List.of("", "a-1-2", "x".repeat(200))) {
      byte[] whole = mac.doFinal(text.getBytes(StandardCharsets.US_ASCII));
      assertThat(signer.sign(text)).isEqualTo(HexFormat.of().formatHex(Arrays.copyOf(whole, 8)));
      assertThat(signer.signed(text, signer.sign(text))).isTrue();
      assertThat(signer.signed(text + "b", signer.sign(text))).isFalse();
    }
    assertThat(IdSigner.of(signer.key()).sign("a")).isEqualTo(signer.sign("a"));
    assertThat(IdSigner.create().sign("a")).isNotEqualTo(signer.sign("a"));
  }

  @Test
  void threadsSignAtTheSameTime() throws Exception {
    List<String> expected = signatures();
    try (ExecutorService threads = Executors.newFixedThreadPool(4)) {
      List<Future<List<String>>> signed = new ArrayList<>();
      for (int i = 0; i < 4; i++) {
        signed.add(threads.submit(this::signatures));
      }
      for (Future<List<String>> each : signed) {
        assertThat(each.get()).isEqualTo(expected);
      }
    }
  }

  private List<String> signatures() {
    return IntStream.range(0, TEXTS).mapToObj(i -> signer.sign("id-" + i)).toList();
  }
}
