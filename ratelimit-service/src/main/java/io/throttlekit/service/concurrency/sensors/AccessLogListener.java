package io.throttlekit.service.concurrency.sensors;

/** Listener for the reception of access logs. Thread-safe and quick. */
public interface AccessLogListener extends StreamListener {

  /** Reason why an entry was not used. */
  enum Skipped {
    /** It was read before. */
    DUPLICATE,
    /** It describes a connection instead of a request. */
    TCP,
    /** The message had too many entries. */
    TOO_MANY,
    /** It could not be processed because of an error in this program. */
    FAILED
  }

  /** A stream sent entries before a usable node id. */
  void withoutNode(int entries);

  /** An entry was read. */
  void read(Reading reading);

  /** Entries were not used. */
  void skipped(Skipped why, int entries);
}
