package io.throttlekit.demo;

/** What came of one request. */
enum Answer {
  ALLOWED,
  LIMITED,
  /** Neither: an error of the demo's own making, which should not happen. */
  FAILED
}
