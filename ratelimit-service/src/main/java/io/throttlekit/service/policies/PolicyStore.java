package io.throttlekit.service.policies;

import io.throttlekit.descriptors.PolicyBook;
import io.throttlekit.descriptors.Problem;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The policies in force: exchanged whole, by one write of one reference.
 *
 * <p>Thread-safe; there is one writer.
 */
public final class PolicyStore {

  private volatile @Nullable PolicyBook book;
  private volatile LoadStatus status = LoadStatus.none();

  /** A store without policies. */
  public PolicyStore() {}

  /** The policies in force; null until a first load was good. */
  public @Nullable PolicyBook book() {
    return book;
  }

  /** What became of the newest load. */
  public LoadStatus status() {
    return status;
  }

  /** Puts policies in force. */
  public void loaded(PolicyBook newest, List<Problem> problems, long nowMillis) {
    book = newest;
    status = status.loaded(nowMillis, problems);
  }

  /** Keeps what is in force and says why. */
  public void failed(List<Problem> problems, String error) {
    status = status.failed(problems, error);
  }
}
