package io.throttlekit.service.accesslog;

import io.throttlekit.service.sensor.Reading;

/** Is told what becomes of access logs. Thread-safe and quick. */
public interface AccessLogListener {

  /** Why an entry was not used. */
  enum Skipped {
    /** It was read before. */
    DUPLICATE,
    /** It is about a connection, not about a request. */
    TCP,
    /** Too many came in one message. */
    TOO_MANY,
    /** It could not be used, by a fault of this program. */
    FAILED
  }

  /** A stream began. */
  void opened();

  /** A stream ended. */
  void closed();

  /** A stream was ended, because there are too many or it named a node id that it may not use. */
  void turnedAway();

  /** A stream sent entries without having named a usable node id. */
  void withoutNode(int entries);

  /** An entry was read. */
  void read(Reading reading);

  /** Entries were not used. */
  void skipped(Skipped why, int entries);
}
