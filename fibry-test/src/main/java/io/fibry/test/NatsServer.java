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
 * on this machine only. Used by one thread.
 */
public final class NatsServer implements AutoCloseable {
  /** The text for users who have no such program. */
  public static final String HOW = "no nats-server was found; install one by `go install "
      + "github.com/nats-io/nats-server/v2@v2.15.2`, and put it in the path, or name it by the environment variable "
      + "NATS_SERVER or the system property fibry.nats";
  private static final String HERE = "127.0.0.1";
  private static final Duration START_TIMEOUT = Duration.ofSeconds(30);
  private static final int FIRST_PORT = 20_000; // below the ports that systems give away
  private static final int PORTS = 12_000;
  private static final int MAX_PORT_ATTEMPTS = 20; // attempts with others

  /** A port is in use. */
  private static final class PortTakenException extends IllegalStateException {
    private static final long serialVersionUID = 1;

    PortTakenException(String message) {
      super(message);
    }
  }

  private final Path folder;
  private final int port;
  private final int health; // its port
  private Process process;

  private NatsServer(Path folder, int port, int health) {
    this.folder = folder;
    this.port = port;
    this.health = health;
  }

  // ---- where it is

  /** {@return the program, or empty if it is not on this machine} */
  public static Optional<Path> find() {
    var named = Stream.of(System.getProperty("fibry.nats", ""), System.getenv().getOrDefault("NATS_SERVER", ""))
        .filter(path -> !path.isBlank()).map(Path::of);
    var inPath = Stream.of(System.getenv().getOrDefault("PATH", "").split(File.pathSeparator))
        .filter(path -> !path.isBlank()).map(path -> Path.of(path, "nats-server"));
    return Stream.concat(named, inPath).filter(Files::isExecutable).findFirst();
  }

  private static String program() {
    return find().orElseThrow(() -> new IllegalStateException(HOW)).toString();
  }

  // ---- starting

  /**
   * Starts one.
   *
   * @param folder for its data and its log
   * @return when it answers
   * @throws IllegalStateException if it is not on this machine, or does not start
   */
  public static NatsServer start(Path folder) {
    return start(folder, "");
  }

  /**
   * Starts one.
   *
   * @param folder for its data and its log
   * @param more lines of configuration
   * @return when it answers
   * @throws IllegalStateException if it is not on this machine, or does not start
   */
  public static NatsServer start(Path folder, String more) {
    return start(folder, more, () -> freePorts(2));
  }

  static NatsServer start(Path folder, String more, Supplier<List<Integer>> ports) {
    return withOtherPorts(() -> {
      var own = ports.get();
      return create(folder, "single", own.get(0), own.get(1), more).awaitStarted();
    });
  }

  /**
   * Starts several that make one network.
   *
   * @param folder for their data and logs
   * @param servers 3, say
   * @return when they have a leader
   * @throws IllegalStateException if it is not on this machine, or they do not start
   */
  public static List<NatsServer> cluster(Path folder, int servers) {
    return withOtherPorts(() -> cluster(folder, servers, freePorts(3 * servers)));
  }

  private static List<NatsServer> cluster(Path folder, int servers, List<Integer> ports) {
    String routes = IntStream.range(0, servers).mapToObj(i -> "nats://" + HERE + ":" + ports.get(3 * i + 2))
        .collect(Collectors.joining(", "));
    var all = new ArrayList<NatsServer>();
    boolean ready = false;
    try {
      for (int i = 0; i < servers; i++) {
        String more = "cluster { name: fibry, listen: \"" + HERE + ":" + ports.get(3 * i + 2) + "\", routes: [" + routes
            + "] }\n";
        all.add(create(folder.resolve("n" + i), "n" + i, ports.get(3 * i), ports.get(3 * i + 1), more).awaitStarted());
      }
      all.forEach(NatsServer::awaitReady);
      ready = true;
      return all;
    } finally {
      if (!ready) all.forEach(NatsServer::close);
    }
  }

  /** Another program may take a port between the moment when it was found free and its use. */
  private static <T> T withOtherPorts(Supplier<T> starting) {
    for (int times = 1;; times++) try {
      return starting.get();
    } catch (PortTakenException taken) {
      if (times == MAX_PORT_ATTEMPTS) throw taken;
    }
  }

  private static NatsServer create(Path folder, String name, int port, int health, String more) {
    var server = new NatsServer(folder, port, health);
    try {
      Files.createDirectories(folder);
      Files.writeString(server.configuration(), "server_name: " + name + "\nlisten: \"" + HERE + ":" + port
          + "\"\nhttp: \"" + HERE + ":" + health + "\"\nlog_file: \"" + server.log() + "\"\njetstream { store_dir: \""
          + folder.resolve("data") + "\" }\nports_file_dir: \"" + folder.toAbsolutePath() + "\"\nping_interval: 5s\n"
          + more);
      return server;
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  private static List<Integer> freePorts(int count) {
    var open = new ArrayList<ServerSocket>();
    try {
      while (open.size() < count) {
        int port = FIRST_PORT + ThreadLocalRandom.current().nextInt(PORTS);
        try {
          open.add(new ServerSocket(port, 1, InetAddress.getByName(HERE)));
        } catch (IOException taken) {
          continue;
        }
      }
      return open.stream().map(ServerSocket::getLocalPort).toList();
    } finally {
      for (var one : open) try {
        one.close();
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
    boolean up = false;
    try {
      Files.deleteIfExists(output()); // so that its last words are of this start
      process = new ProcessBuilder(program(), "-c", configuration().toString()).redirectErrorStream(true)
          .redirectOutput(output().toFile()).start();
      OrphanServers.add(process);
      awaitUp();
      up = true;
      return this;
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    } finally {
      if (!up) close();
    }
  }

  private Path output() {
    return folder.resolve("output.log");
  }

  /**
   * The server writes the file with its ports when it listens, so another program at its port is
   * not mistaken for it. Then it sends a line of information to each client.
   */
  private void awaitUp() {
    var ports = folder.resolve("nats-server_" + process.pid() + ".ports");
    await("it does not listen", () -> Files.exists(ports));
    await("it does not answer", () -> {
      try (var socket = new Socket()) {
        socket.connect(new InetSocketAddress(HERE, port), 1_000);
        socket.setSoTimeout(1_000);
        var line = new BufferedReader(new InputStreamReader(socket.getInputStream(), "US-ASCII")).readLine();
        return line != null && line.startsWith("INFO");
      }
    });
  }

  /** In a network: until there is a leader, and this server has caught up. */
  private void awaitReady() {
    try (var client = HttpClient.newHttpClient()) {
      var request = HttpRequest.newBuilder(URI.create("http://" + HERE + ":" + health + "/healthz")).build();
      await("it finds no leader", () -> client.send(request, BodyHandlers.ofString()).statusCode() == 200);
    }
  }

  @FunctionalInterface
  private interface ServerCheck {
    boolean passes() throws IOException, InterruptedException;
  }

  /** The patience begins again as long as the server works, since a busy machine delays it. */
  private void await(String otherwise, ServerCheck check) {
    long end = System.nanoTime() + START_TIMEOUT.toNanos();
    for (var worked = Duration.ZERO; !passesUninterrupted(check);) {
      if (!process.isAlive()) throw endedException();
      var now = process.info().totalCpuDuration().orElse(worked);
      if (!now.equals(worked)) end = System.nanoTime() + START_TIMEOUT.toNanos();
      else if (System.nanoTime() - end > 0) throw new IllegalStateException(
          "nats-server " + otherwise + ": " + lastWords());
      worked = now;
    }
  }

  private static boolean passesUninterrupted(ServerCheck check) {
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
    String text = "nats-server ended: " + lastWords();
    return text.contains("address already in use") ? new PortTakenException(text) : new IllegalStateException(text);
  }

  private static boolean passes(ServerCheck check) throws InterruptedException {
    try {
      return check.passes();
    } catch (IOException notYet) {
      return false;
    }
  }

  private String lastWords() {
    try {
      var lines = new ArrayList<String>();
      for (var file : List.of(log(), output()))
        if (Files.exists(file)) lines.addAll(Files.readAllLines(file));
      return String.join("\n", lines.subList(Math.max(0, lines.size() - 5), lines.size()));
    } catch (IOException none) {
      return "its log cannot be read";
    }
  }

  // ---- use

  /** {@return where clients connect to} */
  public String url() {
    return "nats://" + HERE + ":" + port;
  }

  /** Ends it at once, as a crash does. */
  public void kill() {
    process.destroyForcibly();
    try {
      process.waitFor();
    } catch (InterruptedException interrupt) {
      Thread.currentThread().interrupt();
    }
  }

  /** Starts it again, with the same port and data. */
  public void restart() {
    if (process.isAlive()) kill();
    withOtherPorts(this::awaitStarted); // the same ports, because a program that has one meanwhile soon gives it back
  }

  /** Pauses the server until {@link #resume}; it is stopped when this method returns. */
  public void pause() {
    signal("STOP");
    awaitStandstill();
  }

  /** On a busy machine a program runs for a while after the signal. */
  private void awaitStandstill() {
    long begin = System.nanoTime();
    while (isMoving()) {
      if (!process.isAlive()) throw new IllegalStateException(this + " cannot be paused, for it has ended");
      if (System.nanoTime() - begin > START_TIMEOUT.toNanos()) throw new IllegalStateException(
          this + " still runs " + START_TIMEOUT.toSeconds() + " s after it was told to pause");
      LockSupport.parkNanos(100_000);
    }
  }

  /** False also where the system does not tell the states of threads. */
  private boolean isMoving() {
    try (var threads = Files.newDirectoryStream(Path.of("/proc/" + process.pid() + "/task"))) {
      for (var thread : threads) {
        var states = Files.readString(thread.resolve("stat"));
        if (states.charAt(states.lastIndexOf(')') + 2) != 'T') return true; // behind the name
      }
      return false;
    } catch (IOException untold) {
      return Files.exists(Path.of("/proc/" + process.pid())); // a thread has just ended
    }
  }

  /** Resumes the server. */
  public void resume() {
    signal("CONT");
  }

  private void signal(String name) {
    try {
      int code = new ProcessBuilder("kill", "-" + name, Long.toString(process.pid())).start().waitFor();
      if (code != 0) throw new IllegalStateException("no signal " + name + " to nats-server: code " + code);
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    } catch (InterruptedException interrupt) {
      Thread.currentThread().interrupt();
    }
  }

  /** Ends it; its data stay. */
  @Override
  public void close() {
    if (process != null) kill();
  }

  @Override
  public String toString() {
    return "nats-server at " + url();
  }

  /** Servers that a process leaves behind when it ends. */
  private static final class OrphanServers {
    private static final List<Process> ALL = new ArrayList<>();

    static {
      Runtime.getRuntime().addShutdownHook(new Thread(() -> {
        synchronized (ALL) {
          ALL.forEach(Process::destroyForcibly);
        }
      }, "nats-servers"));
    }

    private OrphanServers() {}

    static void add(Process process) {
      synchronized (ALL) {
        ALL.removeIf(one -> !one.isAlive());
        ALL.add(process);
      }
    }
  }
}
