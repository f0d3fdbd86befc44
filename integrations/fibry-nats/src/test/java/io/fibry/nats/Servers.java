package io.fibry.nats;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.fibry.support.Patience;
import io.fibry.test.NatsServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Starts servers: a shared server for tests that do not harm it, and separate servers for other
 * tests.
 */
public final class Servers {
  private static final AtomicInteger APPS = new AtomicInteger();
  private static NatsServer shared;

  private Servers() {}

  /** Skips the test if nats-server is not installed, or fails it if the server is required. */
  public static void assumeInstalled() {
    boolean isInstalled = NatsServer.find().isPresent();
    if (!isInstalled && "required".equals(System.getProperty("fibry.nats"))) throw new AssertionError("no nats-server");
    assumeTrue(isInstalled, "no nats-server; CONTRIBUTING.md says how to get one");
  }

  public static synchronized NatsServer shared() {
    if (shared == null) shared = start();
    return shared;
  }

  public static NatsNetwork network() {
    return network(shared());
  }

  public static NatsNetwork network(NatsServer server) {
    return network(server.url());
  }

  /** Makes a network whose client declares no server dead, however busy the machine is. */
  public static NatsNetwork network(String urls) {
    return NatsNetwork.connectTo(urls)
        .withOptions(options -> options.pingInterval(Duration.ofMinutes(1)).connectionTimeout(Patience.LONG));
  }

  /** Starts a server for a test that harms it. */
  public static NatsServer start() {
    assumeInstalled();
    return NatsServer.start(folder());
  }

  public static Path folder() {
    try {
      var folder = Files.createTempDirectory(Path.of("target"), "nats-");
      ServerEvidence.add(folder);
      return folder;
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  /** Returns the name of an app that no other test uses. */
  public static String app() {
    return "app-" + ProcessHandle.current().pid() + "-" + APPS.incrementAndGet();
  }
}
