package io.throttlekit.bench.chaos;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Path;

/** Placeholder. */
public record Matrix(long seed, Path folder) {
  public MatrixReport run(PrintStream log) throws IOException, InterruptedException {
    throw new IOException("later");
  }

  public record MatrixReport(CampaignReport report) {}
}
