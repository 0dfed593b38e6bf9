package io.throttlekit.service.policies;

import io.throttlekit.descriptors.policy.PolicyBook;
import io.throttlekit.descriptors.source.Problem;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The effective policies, replaced as a whole by one write of one reference.
 *
 * <p>Thread-safe; there is one writer.
 */
public final class PolicyStore {

  private volatile @Nullable PolicyBook book;
  private volatile LoadStatus status = LoadStatus.none();
  private volatile @Nullable ControlPlaneStatus controlPlane;

  /** Creates a store without policies. */
  public PolicyStore() {}

  /** Returns the effective policies; null until the first successful load. */
  public @Nullable PolicyBook book() {
    return book;
  }

  /** Returns the status of the newest load. */
  public LoadStatus status() {
    return status;
  }

  /** Replaces the effective policies. */
  public void loaded(PolicyBook newest, List<Problem> problems, long nowMillis) {
    book = newest;
    status = status.loaded(nowMillis, problems);
  }

  /** Replaces the effective policies by some that contain last good states in place of errors. */
  public void loadedInPart(
      PolicyBook newest, List<Problem> problems, String error, long nowMillis) {
    book = newest;
    status = status.loaded(nowMillis, problems).failed(problems, error);
  }

  /** Returns the status of the control plane; null when policies come from files. */
  public @Nullable ControlPlaneStatus controlPlane() {
    return controlPlane;
  }

  /** Replaces the status of the control plane. */
  public void controlPlane(ControlPlaneStatus newest) {
    controlPlane = newest;
  }

  /** Keeps the effective policies and records the error. */
  public void failed(List<Problem> problems, String error) {
    status = status.failed(problems, error);
  }
}
