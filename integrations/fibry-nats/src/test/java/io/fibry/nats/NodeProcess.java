package io.fibry.nats;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** A node that is a process, which can stand still, go on, and be killed. Of one thread. */
public final class NodeProcess implements AutoCloseable {
  private final Process process;

  private NodeProcess(Process process) {
    this.process = process;
  }

  /** With the class path of this process. */
  public static NodeProcess start(String memory, Class<?> main, String... args) throws IOException {
    var command = new ArrayList<>(List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(), memory,
        "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-cp", System.getProperty("java.class.path"), main.getName()));
    command.addAll(List.of(args));
    return new NodeProcess(new ProcessBuilder(command).inheritIO().start());
  }

  public void pause() throws IOException, InterruptedException {
    signal("STOP");
  }

  public void goOn() throws IOException, InterruptedException {
    signal("CONT");
  }

  private void signal(String name) throws IOException, InterruptedException {
    int code = new ProcessBuilder("kill", "-" + name, Long.toString(process.pid())).start().waitFor();
    if (code != 0) throw new IllegalStateException("no signal " + name + " to a node: code " + code);
  }

  /** At once; returns when it is gone. */
  public void kill() throws InterruptedException {
    process.destroyForcibly().waitFor();
  }

  @Override
  public void close() {
    process.destroyForcibly();
  }
}
