package io.throttlekit.testkit.required;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.parsers.ParserConfigurationException;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;
import org.xml.sax.SAXException;

/**
 * Surefire's report of one test class.
 *
 * @param test the class's name
 * @param ran tests that ran in this build, 0 when there is no report of it
 * @param skipped tests that were skipped
 * @param failed names of the tests that failed, of an error or a failed assertion
 * @param seconds what the class took
 */
record TestReport(String test, int ran, int skipped, List<String> failed, double seconds) {

  /** Reads the report of a class in a folder; one of an earlier build counts as none. */
  static TestReport read(Path folder, String test, Instant started) {
    Path file = folder.resolve("TEST-" + test + ".xml");
    return isOfBuild(file, started) ? read(file) : new TestReport(test, 0, 0, List.of(), 0);
  }

  /** Reads all reports of a build in a folder, by name. */
  static List<TestReport> readAll(Path folder, Instant started) throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      return files
          .filter(file -> file.getFileName().toString().matches("TEST-.*\\.xml"))
          .filter(file -> isOfBuild(file, started))
          .sorted()
          .map(TestReport::read)
          .toList();
    }
  }

  private static boolean isOfBuild(Path file, Instant started) {
    try {
      return Files.exists(file) && !Files.getLastModifiedTime(file).toInstant().isBefore(started);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static TestReport read(Path file) {
    try {
      var factory = DocumentBuilderFactory.newInstance();
      factory.setFeature("http://apache.org/xml/features/disallow-doctype-decl", true);
      Element suite = factory.newDocumentBuilder().parse(file.toFile()).getDocumentElement();
      int skipped = Integer.parseInt(suite.getAttribute("skipped"));
      return new TestReport(
          suite.getAttribute("name"),
          Integer.parseInt(suite.getAttribute("tests")) - skipped,
          skipped,
          failures(suite),
          Double.parseDouble(suite.getAttribute("time").replace(",", "")));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (ParserConfigurationException | SAXException e) {
      throw new IllegalStateException(file + " cannot be read", e);
    }
  }

  private static List<String> failures(Element suite) {
    List<String> failed = new ArrayList<>();
    for (String kind : List.of("failure", "error")) {
      NodeList found = suite.getElementsByTagName(kind);
      for (int i = 0; i < found.getLength(); i++) {
        Element test = (Element) found.item(i).getParentNode();
        failed.add(test.getAttribute("classname") + "." + test.getAttribute("name"));
      }
    }
    return List.copyOf(failed);
  }

  boolean complete() {
    return ran > 0 && skipped == 0;
  }
}
