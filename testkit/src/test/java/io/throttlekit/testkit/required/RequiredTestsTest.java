package io.throttlekit.testkit.required;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RequiredTestsTest {
  private static final Instant STARTED = Instant.parse("2026-11-21T10:00:00Z");

  static final class Here implements ExternalProgram {
    @Override
    public String name() {
      return "Here";
    }

    @Override
    public @Nullable String whyMissing() {
      return null;
    }
  }

  static final class Missing implements ExternalProgram {
    @Override
    public String name() {
      return "Missing";
    }

    @Override
    public String whyMissing() {
      return "no network";
    }
  }

  @Requires(Here.class)
  private static final class NeedsHere {}

  @Requires(Here.class)
  @Tag("thorough")
  private static final class NeedsHereIfThorough {}

  @Requires(Missing.class)
  private static final class NeedsMissing {}

  @Requires(Here.class)
  @Retention(RetentionPolicy.RUNTIME)
  private @interface NamesHere {}

  @Requires(Missing.class)
  @Retention(RetentionPolicy.RUNTIME)
  private @interface NamesMissing {}

  @NamesHere
  @NamesMissing
  private static final class NeedsBoth {}

  @TempDir Path folder;
  private Path classes = Path.of("");

  @BeforeEach
  void noClasses() throws IOException {
    classes = Files.createDirectories(folder.resolve("classes/io/throttlekit/testkit/required"));
  }

  @Test
  void passesWhenAllRan() throws IOException {
    Verdict verdict = verdict(NeedsHere.class, 3, 0);
    assertThat(verdict.failed()).isFalse();
    assertThat(verdict).hasToString("required tests: Here: 3 ran");
  }

  @Test
  void failsIfATestWasSkippedDespiteAnAvailableProgram() throws IOException {
    Verdict verdict = verdict(NeedsHere.class, 3, 1);
    assertThat(verdict.failed()).isTrue();
    assertThat(verdict.toString()).contains("2 ran, but it can be had", "NeedsHere");
  }

  @Test
  void failsWhenNoneRan() throws IOException {
    present(NeedsHere.class);
    assertThat(only().failed()).isTrue();
  }

  @Test
  void failsWhenTheReportIsOfAnEarlierBuild() throws IOException {
    present(NeedsHere.class);
    Path report = report(NeedsHere.class, 3, 0);
    Files.setLastModifiedTime(report, FileTime.from(STARTED.minusSeconds(1)));
    assertThat(only().failed()).isTrue();
  }

  @Test
  void passesWithAReasonIfTheProgramIsUnavailable() throws IOException {
    Verdict verdict = verdict(NeedsMissing.class, 1, 1);
    assertThat(verdict.failed()).isFalse();
    assertThat(verdict.toString()).contains("0 ran; it cannot be had (no network)");
  }

  @Test
  void skipsOnlyIfTheProgramIsUnavailable() {
    assertThat(SkippedWhereMissing.evaluate(NeedsHere.class).isDisabled()).isFalse();
    assertThat(SkippedWhereMissing.evaluate(RequiredTestsTest.class).isDisabled()).isFalse();
    assertThat(SkippedWhereMissing.evaluate(NeedsMissing.class).isDisabled()).isTrue();
    assertThat(SkippedWhereMissing.evaluate(NeedsMissing.class).getReason()).contains("no network");
  }

  @Test
  void aClassThatNeedsTwoProgramsIsSkippedForTheOneThatIsMissing() throws IOException {
    assertThat(SkippedWhereMissing.evaluate(NeedsBoth.class).isDisabled()).isTrue();
    Verdict verdict = verdict(NeedsBoth.class, 1, 1);
    assertThat(verdict.failed()).as("the other one is available, which does not help").isFalse();
    assertThat(verdict.toString()).contains("required tests: Missing: 0 ran");
  }

  @Test
  void requiresThoroughTestsOnlyIfTheyRun() throws IOException {
    present(NeedsHereIfThorough.class);
    assertThat(tests(false).verdicts()).isEmpty();
    assertThat(tests(true).verdicts()).singleElement().matches(Verdict::failed);
  }

  @Test
  void leavesOutTestsThatNeedNoProgram() throws IOException {
    present(RequiredTestsTest.class);
    assertThat(tests().verdicts()).isEmpty();
  }

  @Test
  void isDisabledOnlyTogetherWithTheTests() {
    assertThat(RequiredTests.switchedOff(Map.of("test", "${test}", "skipTests", "false"))).isNull();
    assertThat(RequiredTests.switchedOff(Map.of("skipTests", "${skipTests}"))).isNull();
    assertThat(RequiredTests.switchedOff(Map.of("skipTests", "true"))).isEqualTo("-DskipTests");
    assertThat(RequiredTests.switchedOff(Map.of("skipTests", ""))).isEqualTo("-DskipTests");
    assertThat(RequiredTests.switchedOff(Map.of("test", "XTest"))).isEqualTo("-Dtest=XTest");
  }

  private Verdict verdict(Class<?> test, int tests, int skipped) throws IOException {
    present(test);
    report(test, tests, skipped);
    return only();
  }

  private Verdict only() throws IOException {
    assertThat(tests().verdicts()).hasSize(1);
    return tests().verdicts().getFirst();
  }

  private RequiredTests tests() {
    return tests(false);
  }

  private RequiredTests tests(boolean thorough) {
    return new RequiredTests(
        folder.resolve("classes"),
        folder,
        STARTED,
        thorough,
        RequiredTestsTest.class.getClassLoader());
  }

  private void present(Class<?> test) throws IOException {
    Files.createFile(
        classes.resolve(test.getName().substring(test.getPackageName().length() + 1) + ".class"));
  }

  private Path report(Class<?> test, int tests, int skipped) throws IOException {
    Path report =
        Files.writeString(
            folder.resolve("TEST-" + test.getName() + ".xml"),
            "<testsuite name='%s' tests='%d' skipped='%d' time='1.0'/>"
                .formatted(test.getName(), tests, skipped));
    return Files.setLastModifiedTime(report, FileTime.from(STARTED.plusSeconds(1)));
  }
}
