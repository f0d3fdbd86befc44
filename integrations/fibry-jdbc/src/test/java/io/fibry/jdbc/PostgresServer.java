package io.fibry.jdbc;

import static org.junit.jupiter.api.Assumptions.abort;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.postgresql.ds.PGSimpleDataSource;
import org.tukaani.xz.XZInputStream;

/**
 * A Postgres in a folder of its own. It refuses to run as root, so it runs as nobody then; where it
 * cannot run at all, tests are skipped, and say why.
 */
public final class PostgresServer implements AutoCloseable {
  private static final String PROGRAMS = "/postgres-linux-x86_64.txz";
  private static final String NOBODY = "65534";
  private static final int LIMIT = 60; // seconds

  private static final AtomicInteger SCHEMAS = new AtomicInteger();

  /** One for all tests of a JVM, or why there is none. */
  private static final Supplier<PostgresServer> SHARED = once();

  private final Path folder;
  private final List<String> options;
  private final int port;
  private Process process;

  private PostgresServer(Path folder, int port, List<String> options) {
    this.folder = folder;
    this.port = port;
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
    } catch (IOException | InterruptedException failure) {
      return skip(failure);
    }
  }

  private static <T> T skip(Throwable failure) {
    String why = "Postgres cannot be started here, so its tests are skipped: " + failure;
    System.out.println(why);
    return abort(why);
  }

  private static PostgresServer begin(String... options) throws IOException, InterruptedException {
    var folder = Files.createTempDirectory("fibry-postgres");
    var server = new PostgresServer(folder, freePort(), List.of(options));
    try {
      server.unpack();
      server.run("initdb", "-D", folder + "/data", "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-locale", "-N");
      server.start();
      return server;
    } catch (IOException | InterruptedException failure) {
      server.delete();
      throw failure;
    }
  }

  private static int freePort() throws IOException {
    try (var socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }

  private void unpack() throws IOException, InterruptedException {
    var tar = new ProcessBuilder("tar", "-x", "-C", folder.toString()).inheritIO().redirectInput(
        ProcessBuilder.Redirect.PIPE).start();
    try (InputStream packed = PostgresServer.class.getResourceAsStream(PROGRAMS); var out = tar.getOutputStream()) {
      if (packed == null) throw new IOException("there is no " + PROGRAMS + " on the class path");
      new XZInputStream(packed).transferTo(out);
    }
    if (tar.waitFor() != 0) throw new IOException("tar ended with " + tar.exitValue());
    if (isRoot()) check(new ProcessBuilder("chown", "-R", NOBODY + ":" + NOBODY, folder.toString()));
  }

  private static boolean isRoot() {
    return System.getProperty("user.name").equals("root");
  }

  private ProcessBuilder command(String program, List<String> arguments) {
    var command = new ArrayList<String>();
    if (isRoot()) command.addAll(List.of("setpriv", "--reuid=" + NOBODY, "--regid=" + NOBODY, "--clear-groups"));
    command.add(folder.resolve("bin").resolve(program).toString());
    command.addAll(arguments);
    return new ProcessBuilder(command).directory(folder.toFile()).redirectErrorStream(true);
  }

  private void run(String program, String... arguments) throws IOException, InterruptedException {
    check(command(program, List.of(arguments)));
  }

  private static void check(ProcessBuilder command) throws IOException, InterruptedException {
    var process = command.redirectErrorStream(true).start();
    var said = new String(process.getInputStream().readAllBytes());
    if (process.waitFor() != 0) throw new IOException(String.join(" ", command.command()) + ": " + said);
  }

  /** Also again, after it was killed. */
  public void start() throws IOException, InterruptedException {
    var arguments = new ArrayList<>(List.of("-D", folder + "/data", "-p", "" + port, "-k", "", "-h", "127.0.0.1"));
    for (var option : options) arguments.addAll(List.of("-c", option));
    process = command("postgres", arguments).redirectOutput(
        ProcessBuilder.Redirect.appendTo(folder.resolve("log").toFile())).start();
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(LIMIT);
    while (!isReady()) {
      if (!process.isAlive() || System.nanoTime() > end) {
        kill();
        throw new IOException(Files.readString(folder.resolve("log")));
      }
      process.waitFor(20, TimeUnit.MILLISECONDS);
    }
  }

  private boolean isReady() {
    try (var connection = source("public").getConnection()) {
      return connection.isValid(1);
    } catch (SQLException notYet) {
      return false;
    }
  }

  /** As a crash would, with all that it has started. */
  public void kill() throws InterruptedException {
    var all = Stream.concat(process.descendants(), Stream.of(process.toHandle())).toList();
    all.forEach(ProcessHandle::destroyForcibly);
    for (var one : all) one.onExit().join();
  }

  @Override
  public void close() {
    try {
      run("pg_ctl", "stop", "-D", folder + "/data", "-m", "immediate");
      delete();
    } catch (IOException | InterruptedException failure) {
      throw new IllegalStateException(failure);
    }
  }

  private void delete() throws IOException {
    try (var files = Files.walk(folder)) {
      for (var file : files.sorted(Comparator.reverseOrder()).toList()) Files.delete(file);
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
