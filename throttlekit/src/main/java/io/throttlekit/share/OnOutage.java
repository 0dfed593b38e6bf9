package io.throttlekit.share;

/** What applies to a node whose coordinator does not answer. */
public enum OnOutage {
  /** Its share, until shortly before its lease ends; then nothing is admitted. */
  FAIL_CLOSED,

  /** The limit of the fleet, at each node. The fleet may exceed it by a factor of its size. */
  LOCAL_ONLY
}
