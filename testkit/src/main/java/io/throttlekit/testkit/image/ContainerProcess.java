package io.throttlekit.testkit.image;

import com.github.dockerjava.api.DockerClient;
import com.github.dockerjava.api.command.InspectContainerResponse.ContainerState;
import com.github.dockerjava.api.exception.ConflictException;
import com.github.dockerjava.api.exception.NotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.testcontainers.DockerClientFactory;
import org.testcontainers.containers.BindMode;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.containers.startupcheck.StartupCheckStrategy;

/**
 * A program of an image as a process, so that tests stop, kill and pause it like a local one.
 *
 * <p>The container has the host's network, and its folders are the host's: the one for temporary
 * files and the working folder. Docker must run on this machine, because its process id is the
 * host's.
 */
public final class ContainerProcess extends Process {
  private static final long POLL_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

  private final GenericContainer<?> container;
  private final DockerClient docker = DockerClientFactory.instance().client();
  private final long pid;

  private ContainerProcess(GenericContainer<?> container) {
    this.container = container;
    Long started = state().getPidLong();
    this.pid = started == null ? 0 : started;
  }

  /**
   * Starts a command of an image. Does not wait until it answers.
   *
   * @param log a file in the folder for temporary files or below the working folder
   */
  public static ContainerProcess start(String image, List<String> command, Path log)
      throws IOException {
    List<String> shell =
        new ArrayList<>(List.of("sh", "-c", "exec \"$@\" >>'" + log + "' 2>&1", "sh"));
    shell.addAll(command);
    String temporary = System.getProperty("java.io.tmpdir");
    String working = Path.of("..").toAbsolutePath().normalize().toString();
    String user = Files.getAttribute(log.getParent(), "unix:uid").toString();
    GenericContainer<?> container =
        new GenericContainer<>(image)
            .withNetworkMode("host")
            .withFileSystemBind(temporary, temporary, BindMode.READ_WRITE)
            .withFileSystemBind(working, working, BindMode.READ_WRITE)
            .withCreateContainerCmdModifier(create -> {
              create.withUser(user).withEntrypoint(shell).withCmd();
              // PostgreSQL as root needs a user namespace
              Objects.requireNonNull(create.getHostConfig())
                  .withSecurityOpts(List.of("seccomp=unconfined"));
            })
            .withStartupCheckStrategy(new AtOnce());
    container.start();
    return new ContainerProcess(container);
  }

  /** Regards a container as started even if its command has ended. */
  private static final class AtOnce extends StartupCheckStrategy {
    @Override
    public StartupStatus checkStartupState(DockerClient client, String id) {
      return StartupStatus.SUCCESSFUL;
    }
  }

  @Override
  public long pid() {
    return pid;
  }

  @Override
  public ProcessHandle toHandle() {
    return ProcessHandle.of(pid).orElseThrow(() -> new IllegalStateException("ended: " + pid));
  }

  @Override
  public boolean isAlive() {
    return Boolean.TRUE.equals(state().getRunning());
  }

  @Override
  public int exitValue() {
    ContainerState state = state();
    if (Boolean.TRUE.equals(state.getRunning())) {
      throw new IllegalThreadStateException("still running");
    }
    Long code = state.getExitCodeLong();
    return code == null ? -1 : code.intValue();
  }

  @Override
  public int waitFor() throws InterruptedException {
    while (!waitFor(1, TimeUnit.MINUTES)) {}
    return exitValue();
  }

  @Override
  public boolean waitFor(long timeout, TimeUnit unit) throws InterruptedException {
    long end = System.nanoTime() + unit.toNanos(timeout);
    while (isAlive()) {
      if (Thread.interrupted()) {
        throw new InterruptedException();
      }
      if (System.nanoTime() - end >= 0) {
        return false;
      }
      LockSupport.parkNanos(POLL_NANOS);
    }
    return true;
  }

  @Override
  public void destroy() {
    signal("TERM");
  }

  @Override
  public Process destroyForcibly() {
    signal("KILL");
    return this;
  }

  private void signal(String name) {
    try {
      docker.killContainerCmd(container.getContainerId()).withSignal(name).exec();
    } catch (ConflictException | NotFoundException _) {
      // it has ended
    }
  }

  private ContainerState state() {
    return docker.inspectContainerCmd(container.getContainerId()).exec().getState();
  }

  @Override
  public OutputStream getOutputStream() {
    return OutputStream.nullOutputStream();
  }

  @Override
  public InputStream getInputStream() {
    return InputStream.nullInputStream();
  }

  @Override
  public InputStream getErrorStream() {
    return InputStream.nullInputStream();
  }
}
