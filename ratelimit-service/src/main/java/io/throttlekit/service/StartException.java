package io.throttlekit.service;

import java.util.List;

/** Signals that the process cannot start. The reasons are for the operator. */
public final class StartException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final transient List<String> reasons;

  StartException(List<String> reasons, Throwable cause) {
    super(String.join("; ", reasons), cause);
    this.reasons = List.copyOf(reasons);
  }

  StartException(List<String> reasons) {
    super(String.join("; ", reasons));
    this.reasons = List.copyOf(reasons);
  }

  /** Returns the reasons, one sentence each, at least one. */
  public List<String> reasons() {
    return reasons;
  }
}
