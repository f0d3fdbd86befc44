package io.fibry.bench;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** A process that runs a server of {@link BenchmarkServer}, or the server in Go. */
final class ServerProcess implements AutoCloseable {
  /** The resources of the process. The heap is in bytes; the other values are counts. */
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
    String firstLine = out.readLine();
    if (firstLine == null) throw new IllegalStateException("the server did not start: " + String.join(" ", command));
    port = Integer.parseInt(firstLine.substring("port ".length()));
  }

  /** Starts a server that may have at most {@code maxDescriptors} open descriptors. */
  static ServerProcess withDescriptors(int maxDescriptors, String name) throws IOException {
    var wrapper = List.of("bash", "-c", "ulimit -n " + maxDescriptors + "; exec \"$@\"", "bash");
    return new ServerProcess(ChildJvm.command(wrapper, List.of(), BenchmarkServer.class, name));
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

  /** Returns the server in Go, which is built once; null if Go is missing or the build fails. */
  private static File goServer() throws IOException {
    var binary = new File(System.getProperty("java.io.tmpdir"), "fibry-load-go-" + ProcessHandle.current().pid());
    if (binary.exists()) return binary;
    var source = Path.of("src/main/go/server.go");
    if (!Files.exists(source)) source = Path.of("fibry-bench").resolve(source);
    Process compiler;
    try {
      compiler = new ProcessBuilder("go", "build", "-o", binary.toString(), source.toString()).inheritIO().start();
    } catch (IOException failure) {
      return null;
    }
    binary.deleteOnExit();
    return compiler.onExit().join().exitValue() == 0 ? binary : null;
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
