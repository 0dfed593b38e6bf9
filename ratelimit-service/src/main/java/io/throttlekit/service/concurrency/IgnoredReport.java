package io.throttlekit.service.concurrency;

/** The reason for which a value beside a release is ignored. The release itself counts. */
public enum IgnoredReport {
  /** Its descriptor has no hits of its own. */
  NO_VALUE,
  /** No request ends with this value. */
  OUT_OF_RANGE,
  /** The latency is longer than the permit was held. */
  TOO_LONG,
  /** The call does not release the permit that it is about. */
  NO_RELEASE
}
