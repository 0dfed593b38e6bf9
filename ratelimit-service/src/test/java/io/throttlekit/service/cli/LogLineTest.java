package io.throttlekit.service.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.service.log.Redaction;
import io.throttlekit.service.log.StructuredRecord;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import org.junit.jupiter.api.Test;

class LogLineTest {

  @Test
  void textIsOneLinePerRecord() {
    assertThat(new LogLine(false, Redaction.NONE).format(record(Level.WARNING)))
        .isEqualTo("2026-11-21T00:00:00Z warn  Thing: 1 \"file\"" + System.lineSeparator());
  }

  @Test
  void jsonHasTheFieldNamesOfEnvoyproxyRatelimit() {
    assertThat(new LogLine(true, Redaction.NONE).format(record(Level.SEVERE)))
        .isEqualTo(
            "{\"@timestamp\":\"2026-11-21T00:00:00Z\",\"level\":\"error\",\"logger\":\"io.x.Thing\",\"@message\":\"1"
                + " \\\"file\\\"\"}\n");
  }

  @Test
  void aFailureKeepsItsStackWithinOneJsonLine() {
    LogRecord record = record(Level.INFO);
    record.setThrown(new IllegalStateException("why"));
    assertThat(new LogLine(true, Redaction.NONE).format(record).lines()).hasSize(1);
    assertThat(new LogLine(false, Redaction.NONE).format(record))
        .contains("IllegalStateException: why");
  }

  @Test
  void fieldsArePropertiesInJsonAndNamedValuesInText() {
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("domain", "shop");
    fields.put("descriptor", "user=\"b\u001Bob\",path={0}" + "x".repeat(100_000));
    fields.put("refusals", 12L);
    fields.put("shadow", false);
    LogRecord record = new StructuredRecord(Level.INFO, "io.x.Thing", "requests refused", fields);
    record.setInstant(Instant.parse("2026-11-21T00:00:00Z"));
    assertThat(new LogLine(true, Redaction.NONE).format(record))
        .startsWith(
            "{\"@timestamp\":\"2026-11-21T00:00:00Z\",\"level\":\"info\",\"logger\":\"io.x.Thing\","
                + "\"@message\":\"requests refused\",\"domain\":\"shop\",\"descriptor\":"
                + "\"user=\\\"b\uFFFDob\\\",path={0}xxx")
        .endsWith("\"refusals\":12,\"shadow\":false}\n")
        .hasSizeLessThan(10_000);
    assertThat(new LogLine(false, Redaction.NONE).format(record))
        .startsWith(
            "2026-11-21T00:00:00Z info  Thing: requests refused domain=\"shop\""
                + " descriptor=\"user=\\\"b\uFFFDob\\\",path={0}xxx")
        .doesNotContain("\u001B")
        .hasSizeLessThan(10_000);
  }

  @Test
  void aTextOfOthersStaysOneLineOfBoundedLengthWithoutControlCharacters() {
    LogRecord record = record(Level.INFO);
    record.setParameters(new Object[] {"a\u001B[31mb\nc\u202E" + "d".repeat(100_000)});
    record.setThrown(new IllegalStateException("e\u001Bf" + "g".repeat(100_000)));
    for (boolean json : new boolean[] {true, false}) {
      String line = new LogLine(json, Redaction.NONE).format(record);
      assertThat(line)
          .contains("a\uFFFD[31mb\uFFFDc\uFFFDd", "dd… (", "e\uFFFDf", "gg… (")
          .doesNotContain("\u001B", "\u202E")
          .hasSizeLessThan(20_000);
    }
  }

  private static LogRecord record(Level level) {
    LogRecord record = new LogRecord(level, "{0} \"file\"");
    record.setParameters(new Object[] {1});
    record.setLoggerName("io.x.Thing");
    record.setInstant(Instant.parse("2026-11-21T00:00:00Z"));
    return record;
  }
}
