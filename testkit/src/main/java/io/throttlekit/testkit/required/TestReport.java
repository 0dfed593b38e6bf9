package io.throttlekit.testkit.required;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.parsers.ParserConfigurationException;
import org.w3c.dom.Element;
import org.xml.sax.SAXException;

/**
 * Surefire's report of one test class.
 *
 * @param test the class's name
 * @param ran tests that ran in this build, 0 when there is no report of it
 * @param skipped tests that were skipped
 */
record TestReport(String test, int ran, int skipped) {

  static TestReport read(Path folder, String test, Instant started) {
    Path file = folder.resolve("TEST-" + test + ".xml");
    try {
      if (!Files.exists(file) || Files.getLastModifiedTime(file).toInstant().isBefore(started)) {
        return new TestReport(test, 0, 0);
      }
      var factory = DocumentBuilderFactory.newInstance();
      factory.setFeature("http://apache.org/xml/features/disallow-doctype-decl", true);
      Element suite = factory.newDocumentBuilder().parse(file.toFile()).getDocumentElement();
      int skipped = Integer.parseInt(suite.getAttribute("skipped"));
      return new TestReport(test, Integer.parseInt(suite.getAttribute("tests")) - skipped, skipped);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (ParserConfigurationException | SAXException e) {
      throw new IllegalStateException(file + " cannot be read", e);
    }
  }

  boolean complete() {
    return ran > 0 && skipped == 0;
  }
}
