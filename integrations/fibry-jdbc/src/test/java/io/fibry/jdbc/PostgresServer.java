package io.fibry.jdbc;

import static org.junit.jupiter.api.Assumptions.abort;

import io.fibry.support.Child;
import io.fibry.support.Patience;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.postgresql.ds.PGSimpleDataSource;
import org.tukaani.xz.XZInputStream;

/**
 * A Postgres server with its own folder. Postgres refuses to run as root. If the test runs as root,
 * the server runs as the user {@code nobody}. If Postgres cannot run at all, tests are skipped with
 * the reason; with {@code -Dfibry.postgres=required} they fail.
 */
public final class PostgresServer implements AutoCloseable {
  private static final String PROGRAMS = "/postgres-linux-x86_64.txz";
  private static final String NOBODY = "65534";
  private static final int LOWEST_PORT = 20_000;
  private static final int PORT_COUNT = 12_000; // these ports are below the ports that systems give to clients

  private static final AtomicInteger SCHEMAS = new AtomicInteger();

  /** Unpacks the programs, once in each JVM. */
  private static final FutureTask<Path> UNPACKED = new FutureTask<>(PostgresServer::unpack);

  /** Supplies the server that all tests of a JVM share, or skips the test. */
  private static final Supplier<PostgresServer> SHARED = startOnce();

  private final Path folder;
  private final List<String> options;
  private int port;
  private Child process;

  private PostgresServer(Path folder, List<String> options) {
    this.folder = folder;
    this.options = options;
  }

  /** Returns the server that all tests share. It does not sync its files to the disk. */
  public static PostgresServer shared() {
    return SHARED.get();
  }

  private static Supplier<PostgresServer> startOnce() {
    var startTask = new FutureTask<>(() -> {
      var server = begin("fsync=off");
      Runtime.getRuntime().addShutdownHook(new Thread(server::close));
      return server;
    });
    return () -> {
      startTask.run(); // does nothing after the first call
      try {
        return startTask.get();
      } catch (ExecutionException failure) {
        return skip(failure.getCause());
      } catch (InterruptedException interrupt) {
        return skip(interrupt);
      }
    };
  }

  /**
   * Starts a server.
   *
   * @param options settings, such as {@code fsync=off}
   */
  public static PostgresServer make(String... options) {
    try {
      return begin(options);
    } catch (IOException | InterruptedException | ExecutionException failure) {
      return skip(failure);
    }
  }

  /** Skips the test, or fails it if Postgres is required or if the server hangs. */
  private static <T> T skip(Throwable failure) {
    boolean required = "required".equals(System.getProperty("fibry.postgres"));
    if (required || failure instanceof Error) throw new AssertionError("Postgres cannot be started", failure);
    String message = "Postgres cannot be started here, so its tests are skipped: " + failure;
    System.out.println(message);
    return abort(message);
  }

  private static PostgresServer begin(String... options)
      throws IOException, InterruptedException, ExecutionException {
    UNPACKED.run(); // does nothing after the first call
    UNPACKED.get();
    var server = new PostgresServer(Files.createTempDirectory("fibry-postgres"), List.of(options));
    boolean started = false;
    try {
      giveToPostgres(server.folder);
      run(server.command("initdb", "-D", server.folder + "/data", "-U", "postgres", "-A", "trust", "-E", "UTF8",
          "--no-locale", "-N"));
      do server.port = LOWEST_PORT + ThreadLocalRandom.current().nextInt(PORT_COUNT);
      while (!server.tryStart());
      started = true;
      return server;
    } finally {
      if (!started) delete(server.folder);
    }
  }

  private static Path unpack() throws IOException {
    var folder = Files.createTempDirectory("fibry-postgres-programs");
    Runtime.getRuntime().addShutdownHook(new Thread(() -> delete(folder)));
    try (InputStream archive = PostgresServer.class.getResourceAsStream(PROGRAMS);
        var tar = Child.start(List.of("tar", "-x", "-C", folder.toString()))) {
      if (archive == null) throw new IOException("there is no " + PROGRAMS + " on the class path");
      try (var out = tar.input()) {
        new XZInputStream(archive).transferTo(out);
      }
      if (tar.exitCode() != 0) throw new IOException("the programs cannot be unpacked: " + tar.output());
    }
    giveToPostgres(folder);
    return folder;
  }

  /** Gives the folder to the user as whom Postgres runs. */
  private static void giveToPostgres(Path folder) throws IOException {
    if (isRoot()) run(List.of("chown", "-R", NOBODY + ":" + NOBODY, folder.toString()));
  }

  private static boolean isRoot() {
    return System.getProperty("user.name").equals("root");
  }

  private List<String> command(String program, String... arguments) {
    var command = new ArrayList<>(List.of("env", "-C", folder.toString()));
    if (isRoot()) command.addAll(List.of("setpriv", "--reuid=" + NOBODY, "--regid=" + NOBODY, "--clear-groups"));
    command.add(UNPACKED.resultNow().resolve("bin").resolve(program).toString());
    command.addAll(List.of(arguments));
    return command;
  }

  private static void run(List<String> command) throws IOException {
    try (var child = Child.start(command)) {
      if (child.exitCode() != 0) throw new IOException(String.join(" ", command) + ": " + child.output());
    }
  }

  /** Starts the server again after a kill. Waits while another program uses its port. */
  public void start() throws IOException {
    Patience.eventually("port " + port + " stays in use", this::tryStart);
  }

  /** Returns false if the port is in use, or if earlier processes have not ended yet. */
  private boolean tryStart() {
    var command = command("postgres", "-D", folder + "/data", "-p", "" + port, "-k", "", "-h", "127.0.0.1");
    for (var option : options) command.addAll(List.of("-c", option));
    process = Child.start(command);
    var line = process.awaitLine(text -> text.contains("ready to accept connections") || isFatal(text));
    if (isFatal(line)) {
      process.exitCode();
      process.close();
      if (isTemporary(process.output())) return false;
      throw new IllegalStateException(process.output());
    }
    Patience.eventually("the server accepts no connection", this::isReady);
    return true;
  }

  /**
   * Returns whether the line reports that the server failed. A line about a client that connects
   * too early does not count.
   */
  private static boolean isFatal(String line) {
    return line.contains("FATAL:") && !line.contains("the database system is ");
  }

  private static boolean isTemporary(String output) {
    return output.contains("Address already in use") || output.contains("could not create any TCP/IP sockets")
        || output.contains("is still in use");
  }

  private boolean isReady() {
    try (var connection = source("public", port).getConnection()) {
      return connection.isValid(0);
    } catch (SQLException refused) {
      return false;
    }
  }

  /** Kills the server and all of its processes, as a crash would. */
  public void kill() {
    var descendants = process.handle().descendants().toList();
    process.close();
    for (var child : descendants) child.onExit().join();
  }

  /** Pauses all processes of the server until {@link #resume}. */
  public void pause() {
    signal("STOP");
  }

  public void resume() {
    signal("CONT");
  }

  private void signal(String name) {
    var command = new ArrayList<>(List.of("kill", "-" + name, Long.toString(process.handle().pid())));
    process.handle().descendants().forEach(child -> command.add(Long.toString(child.pid())));
    try (var kill = Child.start(command)) {
      kill.exitCode(); // not 0 if one of these processes has ended before the signal
    }
  }

  @Override
  public void close() {
    try {
      if (process.handle().isAlive()) run(command("pg_ctl", "stop", "-D", folder + "/data", "-m", "immediate"));
    } catch (IOException | RuntimeException failure) {
      // While a JVM exits, its child processes may be killed already.
    }
    process.close();
    delete(folder);
  }

  private static void delete(Path folder) {
    try (var files = Files.walk(folder)) {
      for (var file : files.sorted(Comparator.reverseOrder()).toList()) Files.deleteIfExists(file);
    } catch (IOException | RuntimeException failure) {
      System.out.println(folder + " stays, because it cannot be deleted: " + failure);
    }
  }

  // ---- databases

  /** Creates an empty schema, and returns a source of connections to it. */
  public PGSimpleDataSource newSchema() throws SQLException {
    String name = "s" + SCHEMAS.incrementAndGet();
    try (var connection = source("public", port).getConnection(); var statement = connection.createStatement()) {
      statement.execute("create schema " + name);
    }
    return source(name, port);
  }

  int port() {
    return port;
  }

  /** Returns a source of connections to a schema, at the port of a server or of its proxy. */
  static PGSimpleDataSource source(String schema, int port) {
    var source = new PGSimpleDataSource();
    source.setServerNames(new String[] {"127.0.0.1"});
    source.setPortNumbers(new int[] {port});
    source.setUser("postgres");
    source.setDatabaseName("postgres");
    source.setCurrentSchema(schema);
    return source;
  }
}
