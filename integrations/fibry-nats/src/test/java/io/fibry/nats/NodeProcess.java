package io.fibry.nats;

import io.fibry.support.Child;
import io.fibry.support.Patience;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** A node in a process of its own, which can be paused, resumed and killed. Used by one thread. */
public final class NodeProcess implements AutoCloseable {
  private static final String JOINED = "joined";

  private final Child process;

  private NodeProcess(Child process) {
    this.process = process;
  }

  /** Starts a process with the class path of this process. */
  public static NodeProcess start(String memory, Class<?> main, String... args) {
    return new NodeProcess(Child.java(List.of(memory), main, args));
  }

  /** Called in the process of the node; makes {@link #awaitJoined} return. */
  public static void reportJoined() {
    System.out.println(JOINED);
  }

  public void awaitJoined() {
    process.awaitLine(JOINED);
  }

  /**
   * Pauses the process. Waits until all its threads are stopped, if the system shows their states
   * in files.
   */
  public void pause() {
    process.pause();
    Patience.eventually("the process still runs", this::isStopped);
  }

  private boolean isStopped() {
    var folder = Path.of("/proc/" + process.handle().pid() + "/task");
    if (!Files.exists(folder)) return true;
    try (var threads = Files.newDirectoryStream(folder)) {
      for (var thread : threads) {
        var states = Files.readString(thread.resolve("stat"));
        if (states.charAt(states.lastIndexOf(')') + 2) != 'T') return false; // the state follows the name
      }
      return true;
    } catch (IOException failure) { // a thread has ended
      return false;
    }
  }

  public void resume() {
    process.resume();
  }

  /** Kills the process at once. Returns when it has ended. */
  public void kill() {
    process.kill();
  }

  public boolean isAlive() {
    return process.handle().isAlive();
  }

  /** Returns all that the process has printed. */
  public String output() {
    return process.output();
  }

  @Override
  public void close() {
    process.close();
  }
}
