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
 * A Postgres in a folder of its own. It refuses to run as root, so it runs as nobody then. Where it
 * cannot run at all, tests are skipped, and say why; with {@code -Dfibry.postgres=required} they
 * fail.
 */
public final class PostgresServer implements AutoCloseable {
  private static final String PROGRAMS = "/postgres-linux-x86_64.txz";
  private static final String NOBODY = "65534";
  private static final int LOWEST = 20_000;
  private static final int PORTS = 12_000; // below the ports that systems give to clients

  private static final AtomicInteger SCHEMAS = new AtomicInteger();

  /** The programs are unpacked once in a JVM. */
  private static final FutureTask<Path> UNPACKED = new FutureTask<>(PostgresServer::unpack);

  /** One for all tests of a JVM, or why there is none. */
  private static final Supplier<PostgresServer> SHARED = once();

  private final Path folder;
  private final List<String> options;
  private int port;
  private Child process;

  private PostgresServer(Path folder, List<String> options) {
    this.folder = folder;
    this.options = options;
  }

  /** It leaves out the forces of the disk. */
  public static PostgresServer shared() {
    return SHARED.get();
  }

  private static Supplier<PostgresServer> once() {
    var making = new FutureTask<>(() -> {
      var server = begin("fsync=off");
      Runtime.getRuntime().addShutdownHook(new Thread(server::close));
      return server;
    });
    return () -> {
      making.run(); // the first time
      try {
        return making.get();
      } catch (ExecutionException failed) {
        return skip(failed.getCause());
      } catch (InterruptedException interrupt) {
        return skip(interrupt);
      }
    };
  }

  /** @param options settings, such as {@code fsync=off} */
  public static PostgresServer make(String... options) {
    try {
      return begin(options);
    } catch (IOException | InterruptedException | ExecutionException failure) {
      return skip(failure);
    }
  }

  /** A server that hangs is a failure, and so is a server that cannot run where it is required. */
  private static <T> T skip(Throwable failure) {
    boolean required = "required".equals(System.getProperty("fibry.postgres"));
    if (required || failure instanceof Error) throw new AssertionError("Postgres cannot be started", failure);
    String why = "Postgres cannot be started here, so its tests are skipped: " + failure;
    System.out.println(why);
    return abort(why);
  }

  private static PostgresServer begin(String... options)
      throws IOException, InterruptedException, ExecutionException {
    UNPACKED.run(); // the first time
    UNPACKED.get();
    var server = new PostgresServer(Files.createTempDirectory("fibry-postgres"), List.of(options));
    boolean begun = false;
    try {
      give(server.folder);
      run(server.command("initdb", "-D", server.folder + "/data", "-U", "postgres", "-A", "trust", "-E", "UTF8",
          "--no-locale", "-N"));
      do server.port = LOWEST + ThreadLocalRandom.current().nextInt(PORTS);
      while (!server.hasStarted());
      begun = true;
      return server;
    } finally {
      if (!begun) delete(server.folder);
    }
  }

  private static Path unpack() throws IOException {
    var folder = Files.createTempDirectory("fibry-postgres-programs");
    Runtime.getRuntime().addShutdownHook(new Thread(() -> delete(folder)));
    try (InputStream packed = PostgresServer.class.getResourceAsStream(PROGRAMS);
        var tar = Child.start(List.of("tar", "-x", "-C", folder.toString()))) {
      if (packed == null) throw new IOException("there is no " + PROGRAMS + " on the class path");
      try (var out = tar.input()) {
        new XZInputStream(packed).transferTo(out);
      }
      if (tar.exitCode() != 0) throw new IOException("the programs cannot be unpacked: " + tar.output());
    }
    give(folder);
    return folder;
  }

  /** The user that Postgres runs as owns the folder. */
  private static void give(Path folder) throws IOException {
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

  /** Starts it again, after it was killed. Another program may have its port, for a moment. */
  public void start() throws IOException {
    Patience.eventually("port " + port + " stays in use", this::hasStarted);
  }

  /** Returns false if the port is in use, or former processes are ending. */
  private boolean hasStarted() {
    var command = command("postgres", "-D", folder + "/data", "-p", "" + port, "-k", "", "-h", "127.0.0.1");
    for (var option : options) command.addAll(List.of("-c", option));
    process = Child.start(command);
    var line = process.awaitLine(one -> one.contains("ready to accept connections") || isFatal(one));
    if (isFatal(line)) {
      process.exitCode();
      process.close();
      if (isPassing(process.output())) return false;
      throw new IllegalStateException(process.output());
    }
    Patience.eventually("it takes no connection", this::isReady);
    return true;
  }

  /** For the server, not for a client that came before it was ready. */
  private static boolean isFatal(String line) {
    return line.contains("FATAL:") && !line.contains("the database system is ");
  }

  private static boolean isPassing(String output) {
    return output.contains("Address already in use") || output.contains("could not create any TCP/IP sockets")
        || output.contains("is still in use");
  }

  private boolean isReady() {
    try (var connection = source("public").getConnection()) {
      return connection.isValid(0);
    } catch (SQLException notYet) {
      return false;
    }
  }

  /** Kills the server and all of its processes, as a crash would. */
  public void kill() {
    var started = process.handle().descendants().toList();
    process.close();
    for (var one : started) one.onExit().join();
  }

  @Override
  public void close() {
    try {
      if (process.handle().isAlive()) run(command("pg_ctl", "stop", "-D", folder + "/data", "-m", "immediate"));
    } catch (IOException | RuntimeException ended) {
      // Children of a JVM that ends are killed meanwhile.
    }
    process.close();
    delete(folder);
  }

  private static void delete(Path folder) {
    try (var files = Files.walk(folder)) {
      for (var file : files.sorted(Comparator.reverseOrder()).toList()) Files.deleteIfExists(file);
    } catch (IOException | RuntimeException failure) {
      System.out.println(folder + " stays, since it cannot be deleted: " + failure);
    }
  }

  // ---- databases

  /** Connections to a schema that is empty. */
  public PGSimpleDataSource newSchema() throws SQLException {
    String name = "s" + SCHEMAS.incrementAndGet();
    try (var connection = source("public").getConnection(); var statement = connection.createStatement()) {
      statement.execute("create schema " + name);
    }
    return source(name);
  }

  private PGSimpleDataSource source(String schema) {
    var source = new PGSimpleDataSource();
    source.setServerNames(new String[] {"127.0.0.1"});
    source.setPortNumbers(new int[] {port});
    source.setUser("postgres");
    source.setDatabaseName("postgres");
    source.setCurrentSchema(schema);
    return source;
  }
}
