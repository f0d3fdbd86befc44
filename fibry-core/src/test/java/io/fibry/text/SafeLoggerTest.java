package io.fibry.text;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorSystem;
import io.fibry.FailurePolicy;
import io.fibry.net.HttpRoutes;
import io.fibry.net.HttpServer;
import io.fibry.net.RawClient;
import io.fibry.support.Logged;
import io.fibry.support.Patience;
import io.fibry.support.UnreadableException;
import io.fibry.testing.Promise;
import java.io.PrintStream;
import java.lang.reflect.Proxy;
import java.util.ArrayDeque;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.slf4j.Logger;
import org.slf4j.MarkerFactory;
import org.slf4j.event.Level;
import org.slf4j.helpers.SubstituteLogger;

/** Tests that a failing logger, or an exception without a text, disturbs no work. */
class SafeLoggerTest {
  private static final String STAND_IN =
      "UnreadableException (its toString threw java.lang.UnsupportedOperationException), which could not be logged";

  /** A stream to which the logger cannot write. */
  private static final class BrokenStream extends PrintStream {
    BrokenStream() {
      super(System.err);
    }

    @Override
    public void println(String line) {
      throw new IllegalStateException("no space");
    }
  }

  @Promise("8.10")
  @Test
  void unreadableExceptionIsLoggedByClassAndStack() {
    var logger = SafeLogger.of(SafeLoggerTest.class);
    try (var log = new Logged()) {
      logger.error("{} failed at {}", "a", 1, new UnreadableException());
      logger.warn("two", new RuntimeException("outer", new UnreadableException()));
      logger.info("{} three", "x");

      assertTrue(log.text().contains("a failed at 1"), log::text);
      assertTrue(log.text().contains(STAND_IN), log::text);
      assertTrue(log.text().contains("unreadableExceptionIsLoggedByClassAndStack"), log::text);
      assertTrue(log.text().contains("java.lang.RuntimeException: outer, which could not be logged"), log::text);
      assertTrue(log.text().contains("x three"), log::text);
      assertFalse(logger.isTraceEnabled());
    }
  }

  /** A thread gets such a logger if another thread has nearly finished to initialize slf4j. */
  @Promise("8.10")
  @Test
  void loggerThatSlf4jMadeTooLateIsReplaced() {
    var late = new SubstituteLogger(SafeLoggerTest.class.getName(), new ArrayDeque<>(), true);
    late.error("a late logger loses lines");
    var logger = new SafeLogger(late);
    try (var log = new Logged()) {
      assertTrue(logger.isErrorEnabled());
      logger.error("one");
      logger.info("two");

      assertEquals(2, log.lines(SafeLoggerTest.class.getName()).size(), log::text);
      assertTrue(log.text().contains("one") && log.text().contains("two"), log::text);
    }
  }

  @Promise("8.10")
  @Test
  void brokenLogEndsNoCall() {
    var original = System.err;
    System.setErr(new BrokenStream());
    try {
      SafeLogger.of(SafeLoggerTest.class).error("lost", new IllegalStateException("any"));
    } finally {
      System.setErr(original);
    }
  }

  /** A filter of the provider is user code, and decides whether a level is enabled. */
  @Promise("8.10")
  @Test
  void throwingFilterOfLoggerEndsNoCall() {
    var failing = (Logger) Proxy.newProxyInstance(Logger.class.getClassLoader(), new Class<?>[] {Logger.class},
        (proxy, method, arguments) -> {
          if (method.getName().equals("getName")) return "failing";
          throw new IllegalStateException("a filter failed");
        });
    var logger = new SafeLogger(failing);

    for (var level : Level.values()) {
      assertFalse(logger.isEnabledForLevel(level), level::toString);
      logger.atLevel(level).log("lost");
    }
    logger.error("lost", new IllegalStateException("any"));
    logger.warn("lost {}", 1);
    logger.info("lost {} {}", 1, 2);
    logger.debug("lost");
    logger.trace("lost");
    assertFalse(logger.isErrorEnabled(MarkerFactory.getMarker("any")));
  }

  @Promise("8.10")
  @Test
  void unreadableExceptionOfRouteGets500AndKeepsConnection() throws Exception {
    var routes = HttpRoutes.none().text("GET /broken", exchange -> {
      throw new UnreadableException();
    }).text("GET /fine", exchange -> "fine");
    try (var log = new Logged();
        var scope = ActorSystem.openScope("unreadable");
        var server = HttpServer.open(scope.named("web"), 0, routes, o -> o);
        var client = new RawClient(server.port())) {
      client.send("GET /broken HTTP/1.1\r\nHost: a\r\n\r\n");
      assertEquals("500", RawClient.codes(client.readResponse()));
      client.send("GET /fine HTTP/1.1\r\nHost: a\r\n\r\n");
      assertEquals("200", RawClient.codes(client.readResponse()));
      assertTrue(log.entriesAbout("'web'").contains(STAND_IN), log::text);
    }
  }

  @Promise("8.10")
  @Test
  void unreadableExceptionOfHandlerRestartsActorByPolicy() {
    var states = new AtomicInteger();
    try (var log = new Logged(); var scope = ActorSystem.openScope("unreadable")) {
      var actor = scope.named("reader").onFailure(FailurePolicy.restart()).initialState(states::incrementAndGet)
          .newActorWithReturn((Integer state, String message) -> {
            if (message.equals("bad")) throw new UnreadableException();
            return state;
          });
      actor.sendMessage("bad");
      assertEquals(2, actor.ask("good"));
      Patience.eventually(() -> log.entriesAbout("'reader'").contains(STAND_IN));
    }
  }
}
