package io.throttlekit.simulator.concurrency;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.StringReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.w3c.dom.Document;
import org.xml.sax.InputSource;

@Tag("slow")
class ConcurrencyReportTest {
  private static final int MAX_BYTES = 40_000;

  @TempDir private Path folder;

  @Test
  void theReportIsReproducibleAndItsJsonIsOneLine() {
    ConcurrencyReport report = report();
    assertThat(report().markdown()).isEqualTo(report.markdown());
    assertThat(report().json()).isEqualTo(report.json());
    assertThat(report.markdown())
        .startsWith("| target | | ProbedVegas | no limit |\n|---|---|---|---|\n")
        .containsPattern(
            "\n\\| T1 goodput at 2× \\| ≥ 0\\.980 \\| [01]\\.\\d{3} \\| 0\\.000 ✗ \\|\n");
    assertThat(report.json())
        .startsWith(
            "{\"scenarios\":[{\"name\":\"step-2\",\"targets\":[\"T1 goodput at 2× ≥ 0.980\"")
        .contains("{\"algorithm\":\"no limit\",\"figures\":[0.0000,1000.0000,0.0000]}")
        .doesNotContain("\n");
  }

  @Test
  void figuresAreTheWorstOfAllSeeds() {
    Scenario scenario = scenario();
    Contender ours = Contenders.probedVegas();
    double worst = 1;
    for (int seed = 1; seed <= 3; seed++) {
      worst = Math.min(worst, scenario.play(ours, seed).goodput(120, 180));
    }
    assertThat(ContenderResult.of(scenario, ours, 3).figures().getFirst()).isEqualTo(worst);
  }

  @Test
  void drawsARowForEachAlgorithmInAFileForEachScenario() throws Exception {
    report().draw(folder);
    Path file = folder.resolve("step-2.svg");
    assertThat(folder).isDirectoryContaining(file::equals);
    Document svg = parsed(Files.readString(file));
    assertThat(svg.getDocumentElement().getTagName()).isEqualTo("svg");
    assertThat(svg.getElementsByTagName("path").getLength()).isEqualTo(2 * 4 * 2);
    assertThat(Files.readString(file)).contains("prefers-color-scheme:dark", ">no limit<");
  }

  @Test
  void chartsOfAllAlgorithmsStaySmall() throws IOException {
    ConcurrencyReport.of(List.of(scenario()), Contenders.all(), 1).draw(folder);
    assertThat(Files.size(folder.resolve("step-2.svg"))).isLessThan(MAX_BYTES);
  }

  private static ConcurrencyReport report() {
    Contender none = Contenders.all().getLast();
    return ConcurrencyReport.of(List.of(scenario()), List.of(Contenders.probedVegas(), none), 2);
  }

  private static Scenario scenario() {
    return Scenarios.all().get(1);
  }

  private static Document parsed(String xml) throws Exception {
    return DocumentBuilderFactory.newDefaultInstance()
        .newDocumentBuilder()
        .parse(new InputSource(new StringReader(xml)));
  }
}
