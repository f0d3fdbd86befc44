package io.fibry;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.net.HttpRoutes;
import io.fibry.net.HttpServer;
import io.fibry.pool.Pools;
import io.fibry.support.Patience;
import io.fibry.time.ManualScheduler;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The dump as data. */
class ActorFiguresTest {
  private final ManualScheduler clock = new ManualScheduler();
  private final ActorScope scope = ActorSystem.openScope("app", o -> o.withScheduler(clock));

  @AfterEach
  void close() {
    Gate.openAll();
    scope.closeWithin(Duration.ZERO);
  }

  private ActorStats of(String name) {
    return scope.actors().stream().filter(one -> one.name().equals(name)).findFirst().orElseThrow();
  }

  @Promise("19.10")
  @Test
  void actorStatsShowActivityAndCounts() {
    var actor = scope.named("worker").onFailure(FailurePolicy.resume().withoutLog()).newActor((Object message) -> {
      if (message instanceof Gate gate) gate.pass();
      if (message instanceof RuntimeException failure) throw failure;
    });
    actor.sendMessage("one");
    actor.sendMessage(new IllegalStateException("planned"));
    assertTrue(scope.awaitQuiescence(Patience.LONG));
    assertEquals(new ActorStats(List.of("app"), "worker", "FIBER", 0, 1, 1, "idle", Duration.ZERO), of("worker"));

    Gate.occupy(actor);
    actor.sendMessage("waits");
    of("worker"); // the first look
    clock.advance(Duration.ofSeconds(3));

    var busy = of("worker");
    assertEquals(List.of(1L, 1L, 1L), List.of(busy.queued(), busy.handled(), busy.failed()));
    assertTrue(busy.busyFor().compareTo(Duration.ofSeconds(3)) >= 0, busy::toString);
    assertTrue(busy.activity().startsWith("has been handling") || busy.activity().startsWith("is handling"),
        busy.activity());
  }

  @Promise("19.10")
  @Test
  void actorStatsCoverChildScopesWithOneEntryPerPool() {
    var below = scope.openScope("below");
    below.named("first").newActor(message -> {});
    var pool = Pools.fixed(scope.named("pool"), 2).newActor((Gate gate) -> gate.pass());
    var gates = List.of(new Gate(), new Gate());
    for (var gate : gates) pool.sendMessage(gate);
    for (var gate : gates) Patience.await(gate.entered);

    assertEquals(List.of("below first", "app pool"),
        scope.actors().stream().map(one -> one.scope() + " " + one.name()).toList());
    assertEquals(List.of("app", "below"), of("first").scopes());
    assertEquals("2 of 2 at work", of("pool").activity());
    assertTrue(of("pool").busyFor().isPositive());
    assertEquals(List.of("first"), below.actors().stream().map(ActorStats::name).toList());
  }

  private static ActorStats ofOne(ActorScope scope) {
    return scope.actors().stream().filter(one -> one.busyFor().isPositive()).findFirst().orElseThrow();
  }

  private static void assertBusySince(long begun, ActorScope scope) {
    Patience.eventually(() -> System.nanoTime() - begun > 150_000_000);
    long atLeast = System.nanoTime() - begun - 20_000_000; // since the last move of the coarse clock

    var figures = ofOne(scope); // the first look

    assertTrue(figures.busyFor().toNanos() >= atLeast, () -> figures + ", but at least " + atLeast + " ns");
    assertTrue(scope.dump().contains(" for at least "), scope::dump);
  }

  @Promise("19.10")
  @ParameterizedTest
  @MethodSource("io.fibry.Variants#all")
  void busyTimeStartsWithMessageNotWithFirstRead(Variants.Variant variant) {
    try (var real = ActorSystem.openScope("real")) {
      var actor = variant.named(real, "stuck").newActor(message -> {
        if (message instanceof Gate gate) gate.pass();
      });
      var gate = Gate.occupy(actor);

      assertBusySince(System.nanoTime(), real);
      gate.open();
    }
  }

  @Promise("19.10")
  @Test
  void busyTimeStartsWithHttpExchangeNotWithFirstRead() throws IOException {
    var gate = new Gate();
    var routes = HttpRoutes.none().text("/slow", exchange -> {
      gate.pass();
      return "late";
    });
    try (var real = ActorSystem.openScope("real")) {
      var server = HttpServer.open(real.anonymous(), 0, routes, o -> o);
      try (var client = new Socket(InetAddress.getLoopbackAddress(), server.port())) {
        client.getOutputStream().write("GET /slow HTTP/1.1\r\nHost: localhost\r\n\r\n".getBytes());
        Patience.await(gate.entered);

        assertBusySince(System.nanoTime(), real);
        gate.open();
      }
    }
  }
}
