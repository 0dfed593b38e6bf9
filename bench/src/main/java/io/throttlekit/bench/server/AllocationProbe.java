package io.throttlekit.bench.server;

import com.sun.management.ThreadMXBean;
import com.sun.tools.attach.AttachNotSupportedException;
import com.sun.tools.attach.VirtualMachine;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import javax.management.remote.JMXConnector;
import javax.management.remote.JMXConnectorFactory;
import javax.management.remote.JMXServiceURL;

/**
 * Reads the number of bytes that all threads of another JVM of this user have allocated since its
 * start.
 *
 * <p>The first reading loads its management agent, which allocates a little itself, so read after
 * latencies were measured, and over many requests.
 */
public final class AllocationProbe implements AutoCloseable {
  private final JMXConnector connector;
  private final ThreadMXBean threads;

  private AllocationProbe(JMXConnector connector, ThreadMXBean threads) {
    this.connector = connector;
    this.threads = threads;
  }

  @SuppressWarnings("BanJNDI") // the address was handed over by a process of this user
  public static AllocationProbe of(long pid) throws IOException {
    JMXConnector connector = JMXConnectorFactory.connect(new JMXServiceURL(agentOf(pid)));
    ThreadMXBean threads =
        ManagementFactory.newPlatformMXBeanProxy(
            connector.getMBeanServerConnection(),
            ManagementFactory.THREAD_MXBEAN_NAME,
            ThreadMXBean.class);
    return new AllocationProbe(connector, threads);
  }

  private static String agentOf(long pid) throws IOException {
    try {
      VirtualMachine machine = VirtualMachine.attach(Long.toString(pid));
      try {
        return machine.startLocalManagementAgent();
      } finally {
        machine.detach();
      }
    } catch (AttachNotSupportedException e) {
      throw new IOException("process " + pid + " is not a JVM that lets itself be looked into", e);
    }
  }

  public long allocatedBytes() {
    return threads.getTotalThreadAllocatedBytes();
  }

  @Override
  public void close() throws IOException {
    connector.close();
  }
}
