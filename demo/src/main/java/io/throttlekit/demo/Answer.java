package io.throttlekit.demo;

/** The outcome of one request. */
enum Answer {
  ALLOWED,
  LIMITED,
  /** An error of the demo itself, which should not happen. */
  FAILED
}
