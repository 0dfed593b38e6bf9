package io.throttlekit.service.concurrency.sensors;

/** Counts streams. For one thread. */
abstract class StreamCounts implements StreamListener {
  int streams;
  int rejected;

  @Override
  public void opened() {
    streams++;
  }

  @Override
  public void closed() {
    streams--;
  }

  @Override
  public void rejected() {
    rejected++;
  }
}
