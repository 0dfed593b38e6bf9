package io.throttlekit.service.authz;

import io.throttlekit.service.rls.CallListener;

/** Receives the calls of external authorization. */
public interface CheckListener extends CallListener {

  /** Called when a request yields no descriptor. */
  void undescribed();
}
