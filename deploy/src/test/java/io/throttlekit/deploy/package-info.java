/** The Helm chart, the alerts and the dashboards, checked without a cluster. */
@NullMarked
package io.throttlekit.deploy;

import org.jspecify.annotations.NullMarked;
