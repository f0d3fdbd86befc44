package io.fibry.nats;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.fibry.test.NatsServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;

/** A server for all tests of this process that harm none. */
public final class Servers {
  private static final AtomicInteger APPS = new AtomicInteger();
  private static NatsServer shared;

  private Servers() {}

  /** Skips the test where there is no program, unless it must be there. */
  public static void assumeThere() {
    boolean there = NatsServer.find().isPresent();
    if (!there && "required".equals(System.getProperty("fibry.nats"))) throw new AssertionError("no nats-server");
    assumeTrue(there, "no nats-server; CONTRIBUTING.md says how to get one");
  }

  public static synchronized NatsServer shared() {
    if (shared == null) shared = start();
    return shared;
  }

  /** Makes a network whose client declares no server dead, however busy the machine is. */
  public static NatsNetwork network() {
    return NatsNetwork.connectTo(shared().url()).withOptions(options -> options.pingInterval(Duration.ofMinutes(1)));
  }

  /** One for a test that harms it. */
  public static NatsServer start() {
    assumeThere();
    return NatsServer.start(folder());
  }

  public static Path folder() {
    try {
      var folder = Files.createTempDirectory(Path.of("target"), "nats-");
      ServerEvidence.made(folder);
      return folder;
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  /** An app that no other test has. */
  public static String app() {
    return "app-" + ProcessHandle.current().pid() + "-" + APPS.incrementAndGet();
  }
}
