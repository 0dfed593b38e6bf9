package io.throttlekit.simulator.concurrency;

import java.util.List;

/** A Markdown table, built row by row and printed in parts. Not thread-safe. */
final class MarkdownTable {
  private final StringBuilder text = new StringBuilder();

  /** Begins a table with the titles of its columns. */
  MarkdownTable(List<String> titles) {
    row(titles).text.append("|---".repeat(titles.size())).append("|\n");
  }

  /** Adds a row. */
  MarkdownTable row(List<String> cells) {
    text.append("| ").append(String.join(" | ", cells)).append(" |\n");
    return this;
  }

  /** Returns the text since the last call. */
  String take() {
    String part = text.toString();
    text.setLength(0);
    return part;
  }
}
