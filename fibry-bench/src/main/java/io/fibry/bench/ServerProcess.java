package io.fibry.bench;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** A server of {@link BenchmarkServer}, or that in Go, in a process of its own. */
final class ServerProcess implements AutoCloseable {
  /** The resources of the process; the heap in bytes. */
  record Usage(long heap, long descriptors, long threads) {}

  private final Process process;
  private final BufferedReader out;
  private final int port;

  ServerProcess(String name) throws IOException {
    this(command(name));
  }

  private ServerProcess(List<String> command) throws IOException {
    process = ChildJvm.start(command);
    out = process.inputReader();
    String first = out.readLine();
    if (first == null) throw new IllegalStateException("the server did not start: " + String.join(" ", command));
    port = Integer.parseInt(first.substring("port ".length()));
  }

  /** A server that may open at most {@code most} descriptors. */
  static ServerProcess withDescriptors(int most, String name) throws IOException {
    return new ServerProcess(ChildJvm.command(List.of("bash", "-c", "ulimit -n " + most + "; exec \"$@\"", "bash"),
        List.of(), BenchmarkServer.class, name));
  }

  private static List<String> command(String name) throws IOException {
    if (!name.startsWith("go")) return ChildJvm.command(List.of(), List.of(), BenchmarkServer.class, name);
    var command = new ArrayList<>(List.of(goServer().toString()));
    if (name.equals("go-keep")) command.add("keep");
    return command;
  }

  static boolean hasGo() throws IOException {
    return goServer() != null;
  }

  /** Builds it once; null if there is no Go. */
  private static File goServer() throws IOException {
    var built = new File(System.getProperty("java.io.tmpdir"), "fibry-load-go-" + ProcessHandle.current().pid());
    if (built.exists()) return built;
    var source = Path.of("src/main/go/server.go");
    if (!Files.exists(source)) source = Path.of("fibry-bench").resolve(source);
    Process compiler;
    try {
      compiler = new ProcessBuilder("go", "build", "-o", built.toString(), source.toString()).inheritIO().start();
    } catch (IOException absent) {
      return null;
    }
    built.deleteOnExit();
    return compiler.onExit().join().exitValue() == 0 ? built : null;
  }

  int port() {
    return port;
  }

  Usage usage() throws IOException {
    process.getOutputStream().write('\n');
    process.getOutputStream().flush();
    long[] numbers = Arrays.stream(out.readLine().split(" ")).mapToLong(Long::parseLong).toArray();
    return new Usage(numbers[0], numbers[1], numbers[2]);
  }

  @Override
  public void close() throws IOException {
    process.getOutputStream().close();
    process.onExit().join();
  }
}
