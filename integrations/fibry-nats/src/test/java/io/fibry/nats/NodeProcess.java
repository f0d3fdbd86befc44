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

  /** With the class path of this process. */
  public static NodeProcess start(String memory, Class<?> main, String... args) {
    return new NodeProcess(Child.java(List.of(memory), main, args));
  }

  /** Called by the process: {@link #awaitJoined} returns. */
  public static void tellJoined() {
    System.out.println(JOINED);
  }

  public void awaitJoined() {
    process.awaitLine(JOINED);
  }

  /** The process is stopped when this returns, if the system tells the states of threads. */
  public void pause() {
    process.pause();
    Patience.eventually("it still runs", this::isStill);
  }

  private boolean isStill() {
    var folder = Path.of("/proc/" + process.handle().pid() + "/task");
    if (!Files.exists(folder)) return true;
    try (var threads = Files.newDirectoryStream(folder)) {
      for (var thread : threads) {
        var states = Files.readString(thread.resolve("stat"));
        if (states.charAt(states.lastIndexOf(')') + 2) != 'T') return false; // behind the name
      }
      return true;
    } catch (IOException threadHasEnded) {
      return false;
    }
  }

  public void goOn() {
    process.resume();
  }

  /** At once; returns when it is gone. */
  public void kill() {
    process.kill();
  }

  /** All that it has printed. */
  public String output() {
    return process.output();
  }

  @Override
  public void close() {
    process.close();
  }
}
