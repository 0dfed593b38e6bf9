package io.throttlekit.service.http;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RequestJsonTest {

  @ParameterizedTest
  @CsvSource({"SECOND, 1", "YEAR, 6", "WEEK, 7"})
  void theUnitOfALimitIsANameOrItsNumber(String name, int number) throws Exception {
    assertThat(unit('"' + name + '"')).isEqualTo(number);
    assertThat(unit(Integer.toString(number))).isEqualTo(number);
  }

  @Test
  void aLimitWithoutUnitHasNone() throws Exception {
    assertThat(unit("null")).isZero();
  }

  private static int unit(String json) throws Exception {
    String fields =
        RequestJson.parse(
                ("{\"domain\": \"x\", \"descriptors\": [{\"limit\": {\"unit\": " + json + "}}]}")
                    .getBytes(UTF_8),
                false)
            .toString();
    return Integer.parseInt(fields.substring(fields.indexOf('/') + 1));
  }
}
