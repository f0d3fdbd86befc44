package io.fibry.test;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * A nats-server with JetStream as a child of this process, for tests and demonstrations. It listens
 * on the loopback address only. Used by one thread.
 */
public final class NatsServer implements AutoCloseable {
  /** Tells users without a nats-server how to install one. */
  public static final String INSTALL_HINT = "no nats-server was found; install one by `go install "
      + "github.com/nats-io/nats-server/v2@v2.15.2`, and put it in the path, or name it by the environment variable "
      + "NATS_SERVER or the system property fibry.nats";
  private static final String LOOPBACK = "127.0.0.1";
  private static final Duration START_TIMEOUT = Duration.ofSeconds(30);
  private static final int FIRST_PORT = 20_000; // below the ephemeral ports of operating systems
  private static final int PORTS = 12_000; // number of ports from FIRST_PORT on
  private static final int MAX_CHECKS = 20_000; // checks that a server is up, each followed by 5 ms of sleep
  private static final int MAX_PORT_ATTEMPTS = 20; // attempts to start if another program uses a port

  /** Thrown if another program uses a port of the server. */
  private static final class PortTakenException extends IllegalStateException {
    private static final long serialVersionUID = 1;

    PortTakenException(String message) {
      super(message);
    }
  }

  private final Path folder;
  private final int port;
  private final int healthPort;
  private Process process;

  private NatsServer(Path folder, int port, int healthPort) {
    this.folder = folder;
    this.port = port;
    this.healthPort = healthPort;
  }

  // ---- the program

  /** {@return the path of the nats-server program, or empty if this machine has none} */
  public static Optional<Path> find() {
    var configured = Stream.of(System.getProperty("fibry.nats", ""), System.getenv().getOrDefault("NATS_SERVER", ""))
        .filter(path -> !path.isBlank()).map(Path::of);
    var inPath = Stream.of(System.getenv().getOrDefault("PATH", "").split(File.pathSeparator))
        .filter(path -> !path.isBlank()).map(path -> Path.of(path, "nats-server"));
    return Stream.concat(configured, inPath).filter(Files::isExecutable).findFirst();
  }

  private static String program() {
    return find().orElseThrow(() -> new IllegalStateException(INSTALL_HINT)).toString();
  }

  // ---- starting

  /**
   * Starts a server, and returns when the server responds to clients.
   *
   * @param folder the folder for its data and its log
   * @return the running server
   * @throws IllegalStateException if this machine has no nats-server, or if the server does not
   * start
   */
  public static NatsServer start(Path folder) {
    return start(folder, "");
  }

  /**
   * Starts a server, and returns when the server responds to clients.
   *
   * @param folder the folder for its data and its log
   * @param extraConfiguration additional lines of configuration
   * @return the running server
   * @throws IllegalStateException if this machine has no nats-server, or if the server does not
   * start
   */
  public static NatsServer start(Path folder, String extraConfiguration) {
    return start(folder, extraConfiguration, () -> freePorts(2));
  }

  static NatsServer start(Path folder, String extraConfiguration, Supplier<List<Integer>> ports) {
    return retryIfPortTaken(() -> {
      var free = ports.get();
      return create(folder, "single", free.get(0), free.get(1), extraConfiguration).awaitStarted();
    });
  }

  /**
   * Starts a cluster, and returns when it has a leader.
   *
   * @param folder the folder for the data and logs of the servers
   * @param servers the number of servers, for example 3
   * @return the running servers
   * @throws IllegalStateException if this machine has no nats-server, or a server does not start
   */
  public static List<NatsServer> cluster(Path folder, int servers) {
    return retryIfPortTaken(() -> cluster(folder, servers, freePorts(3 * servers)));
  }

  private static List<NatsServer> cluster(Path folder, int servers, List<Integer> ports) {
    String routes = IntStream.range(0, servers).mapToObj(i -> "nats://" + LOOPBACK + ":" + ports.get(3 * i + 2))
        .collect(Collectors.joining(", "));
    var started = new ArrayList<NatsServer>();
    boolean isReady = false;
    try {
      for (int i = 0; i < servers; i++) {
        String clusterLines = "cluster { name: fibry, listen: \"" + LOOPBACK + ":" + ports.get(3 * i + 2)
            + "\", routes: [" + routes + "] }\n";
        started.add(
            create(folder.resolve("n" + i), "n" + i, ports.get(3 * i), ports.get(3 * i + 1), clusterLines)
                .awaitStarted());
      }
      started.forEach(NatsServer::awaitReady);
      isReady = true;
      return started;
    } finally {
      if (!isReady) started.forEach(NatsServer::close);
    }
  }

  /**
   * Starts servers. If another program has taken one of their ports, starts them again, up to 20
   * times in all.
   */
  private static <T> T retryIfPortTaken(Supplier<T> start) {
    for (int attempt = 1;; attempt++) try {
      return start.get();
    } catch (PortTakenException portTaken) {
      if (attempt == MAX_PORT_ATTEMPTS) throw portTaken;
    }
  }

  private static NatsServer create(Path folder, String name, int port, int healthPort, String extraConfiguration) {
    var server = new NatsServer(folder, port, healthPort);
    try {
      Files.createDirectories(folder);
      Files.writeString(server.configuration(), "server_name: " + name + "\nlisten: \"" + LOOPBACK + ":" + port
          + "\"\nhttp: \"" + LOOPBACK + ":" + healthPort + "\"\nlog_file: \"" + server.log()
          + "\"\njetstream { store_dir: \"" + folder.resolve("data")
          + "\" }\nports_file_dir: \"" + folder.toAbsolutePath() + "\"\nping_interval: 5s\n" + extraConfiguration);
      return server;
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  private static List<Integer> freePorts(int count) {
    var sockets = new ArrayList<ServerSocket>();
    try {
      while (sockets.size() < count) {
        int port = FIRST_PORT + ThreadLocalRandom.current().nextInt(PORTS);
        try {
          sockets.add(new ServerSocket(port, 1, InetAddress.getByName(LOOPBACK)));
        } catch (IOException portTaken) {
          continue;
        }
      }
      return sockets.stream().map(ServerSocket::getLocalPort).toList();
    } finally {
      for (var socket : sockets) try {
        socket.close();
      } catch (IOException failure) {
        throw new UncheckedIOException(failure);
      }
    }
  }

  private Path configuration() {
    return folder.toAbsolutePath().resolve("server.conf");
  }

  private Path log() {
    return folder.toAbsolutePath().resolve("server.log");
  }

  private NatsServer awaitStarted() {
    boolean isListening = false;
    try {
      Files.deleteIfExists(output()); // so that the file has the lines of this start only
      process = new ProcessBuilder(program(), "-c", configuration().toString()).redirectErrorStream(true)
          .redirectOutput(output().toFile()).start();
      StartedServers.add(process);
      awaitUp();
      isListening = true;
      return this;
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    } finally {
      if (!isListening) close();
    }
  }

  private Path output() {
    return folder.resolve("output.log");
  }

  /**
   * Waits until the server has written the file with its ports, and sends its INFO line. The server
   * writes the file when it listens, so another program at the port is not mistaken for the server.
   */
  private void awaitUp() {
    var portsFile = folder.resolve("nats-server_" + process.pid() + ".ports");
    await("does not listen", () -> Files.exists(portsFile));
    await("does not answer", () -> {
      try (var socket = new Socket()) {
        socket.connect(new InetSocketAddress(LOOPBACK, port), 1_000);
        socket.setSoTimeout(1_000);
        var line = new BufferedReader(new InputStreamReader(socket.getInputStream(), "US-ASCII")).readLine();
        return line != null && line.startsWith("INFO");
      }
    });
  }

  /** In a cluster, waits until there is a leader, and this server has caught up. */
  private void awaitReady() {
    try (var client = HttpClient.newHttpClient()) {
      var request = HttpRequest.newBuilder(URI.create("http://" + LOOPBACK + ":" + healthPort + "/healthz")).build();
      await("finds no leader", () -> client.send(request, BodyHandlers.ofString()).statusCode() == 200);
    }
  }

  @FunctionalInterface
  private interface ServerCheck {
    boolean passes() throws IOException, InterruptedException;
  }

  /**
   * Waits until a check passes. The time-out begins again if the server used processor time. The
   * number of checks is limited, too, because a check may cause the server to use processor time.
   */
  private void await(String problem, ServerCheck check) {
    long deadline = System.nanoTime() + START_TIMEOUT.toNanos();
    var lastCpuTime = Duration.ZERO;
    for (int checks = 1; !passesOrPauses(check); checks++) {
      if (!process.isAlive()) throw endedException();
      var cpuTime = process.info().totalCpuDuration().orElse(lastCpuTime);
      if (!cpuTime.equals(lastCpuTime)) deadline = System.nanoTime() + START_TIMEOUT.toNanos();
      if (System.nanoTime() - deadline > 0 || checks > MAX_CHECKS)
        throw new IllegalStateException("nats-server " + problem + ": " + lastLogLines());
      lastCpuTime = cpuTime;
    }
  }

  private static boolean passesOrPauses(ServerCheck check) {
    try {
      if (passes(check)) return true;
      TimeUnit.MILLISECONDS.sleep(5);
      return false;
    } catch (InterruptedException interrupt) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while a nats-server starts", interrupt);
    }
  }

  private IllegalStateException endedException() {
    String text = "nats-server ended: " + lastLogLines();
    return text.contains("address already in use") ? new PortTakenException(text) : new IllegalStateException(text);
  }

  private static boolean passes(ServerCheck check) throws InterruptedException {
    try {
      return check.passes();
    } catch (IOException noAnswerYet) {
      return false;
    }
  }

  private String lastLogLines() {
    try {
      var lines = new ArrayList<String>();
      for (var file : List.of(log(), output()))
        if (Files.exists(file)) lines.addAll(Files.readAllLines(file));
      return String.join("\n", lines.subList(Math.max(0, lines.size() - 5), lines.size()));
    } catch (IOException unreadable) {
      return "its log cannot be read";
    }
  }

  // ---- use

  /** {@return the URL for clients} */
  public String url() {
    return "nats://" + LOOPBACK + ":" + port;
  }

  /** Ends the server at once, as a crash does. */
  public void kill() {
    process.destroyForcibly();
    try {
      process.waitFor();
    } catch (InterruptedException interrupt) {
      Thread.currentThread().interrupt();
    }
  }

  /** Starts the server again, with the same ports and data. */
  public void restart() {
    if (process.isAlive()) kill();
    retryIfPortTaken(this::awaitStarted); // with the same ports: a program that took a port releases it soon
  }

  /**
   * Pauses the server until {@link #resume}. On systems with {@code /proc}, all its threads are
   * stopped when this returns.
   */
  public void pause() {
    signal("STOP");
    awaitStopped();
  }

  /** Waits until all threads are stopped: on a busy machine they may still run after the signal. */
  private void awaitStopped() {
    long begin = System.nanoTime();
    while (isRunning()) {
      if (!process.isAlive()) throw new IllegalStateException(this + " cannot be paused, because it has ended");
      if (System.nanoTime() - begin > START_TIMEOUT.toNanos()) throw new IllegalStateException(
          this + " still runs " + START_TIMEOUT.toSeconds() + " s after SIGSTOP");
      LockSupport.parkNanos(100_000);
    }
  }

  /** Returns whether a thread of the server runs; false if the system has no /proc. */
  private boolean isRunning() {
    try (var threads = Files.newDirectoryStream(Path.of("/proc/" + process.pid() + "/task"))) {
      for (var thread : threads) {
        var stat = Files.readString(thread.resolve("stat"));
        if (stat.charAt(stat.lastIndexOf(')') + 2) != 'T') return true; // the state follows `(name)`
      }
      return false;
    } catch (IOException unreadable) {
      return Files.exists(Path.of("/proc/" + process.pid())); // a thread just ended; the caller checks again
    }
  }

  /** Resumes the server. */
  public void resume() {
    signal("CONT");
  }

  private void signal(String name) {
    try {
      int code = new ProcessBuilder("kill", "-" + name, Long.toString(process.pid())).start().waitFor();
      if (code != 0) throw new IllegalStateException("kill -" + name + " of " + this + " ended with " + code);
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    } catch (InterruptedException interrupt) {
      Thread.currentThread().interrupt();
    }
  }

  /** Ends the server; its data stay. */
  @Override
  public void close() {
    if (process != null) kill();
  }

  @Override
  public String toString() {
    return "nats-server at " + url();
  }

  /** The started servers. A shutdown hook ends the running servers when this JVM ends. */
  private static final class StartedServers {
    private static final List<Process> STARTED = new ArrayList<>();

    static {
      Runtime.getRuntime().addShutdownHook(new Thread(() -> {
        synchronized (STARTED) {
          STARTED.forEach(Process::destroyForcibly);
        }
      }, "nats-servers"));
    }

    private StartedServers() {}

    static void add(Process process) {
      synchronized (STARTED) {
        STARTED.removeIf(server -> !server.isAlive());
        STARTED.add(process);
      }
    }
  }
}
