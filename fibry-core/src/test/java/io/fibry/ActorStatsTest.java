package io.fibry;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorStats.ActorState;
import io.fibry.DeadLetter.Reason;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.net.HttpRoutes;
import io.fibry.net.HttpServer;
import io.fibry.pool.Pools;
import io.fibry.support.Patience;
import io.fibry.testing.Gate;
import io.fibry.testing.Promise;
import io.fibry.testing.Variants;
import io.fibry.time.ManualScheduler;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.RejectedExecutionException;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Tests {@link ActorStats}, which contain as data the statistics that a dump shows as text. */
class ActorStatsTest {
  private final ManualScheduler clock = new ManualScheduler();
  private final ActorScope scope = ActorSystem.openScope("app", o -> o.withScheduler(clock));

  @AfterEach
  void close() {
    Gate.openAll();
    scope.closeWithin(Duration.ZERO);
  }

  private ActorStats statsOf(String name) {
    return scope.actors().stream().filter(stats -> stats.name().equals(name)).findFirst().orElseThrow();
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
    assertEquals(new ActorStats(List.of("app"), "worker", "FIBER", 0, Duration.ZERO, 1, 1, ActorState.IDLE,
        Optional.empty(), 0, 0, 0, "idle", Optional.empty(), Duration.ZERO, true, OptionalInt.empty(),
        Optional.empty(), 0, 0, 0, 0, List.of(), statsOf("worker").lastFailure()), statsOf("worker"));

    Gate.occupy(actor);
    actor.sendMessage("waits");
    statsOf("worker"); // by a manual clock, the busy time begins at this first read
    clock.advance(Duration.ofSeconds(3));

    var stats = statsOf("worker");
    assertEquals(List.of(1L, 1L, 1L), List.of(stats.queued(), stats.handled(), stats.failed()));
    assertTrue(stats.busyFor().compareTo(Duration.ofSeconds(3)) >= 0, stats::toString);
    assertEquals(ActorState.BUSY, stats.state(), stats::toString);
    assertEquals(Optional.of("Gate"), stats.messageType());
    assertTrue(stats.activity().startsWith("has been handling") || stats.activity().startsWith("is handling"),
        stats.activity());
  }

  @Test
  void restartsOfActorAreCounted() {
    var actor = scope.named("restarts").onFailure(FailurePolicy.restart().withoutLog()).newActor((String text) -> {
      throw new IllegalStateException("planned");
    });
    for (int i = 0; i < 3; i++) actor.sendMessage("fails");
    assertTrue(scope.awaitQuiescence(Patience.LONG));

    assertEquals(3, statsOf("restarts").restarted());
  }

  @Test
  void requestsThatExpireInMailboxAreCounted() {
    var actor = scope.named("slow").newActorWithReturn((Object message) -> {
      if (message instanceof Gate gate) gate.pass();
      return message;
    });
    var gate = Gate.occupy(actor);
    var requests = List.of(actor.sendMessageReturn("one", Duration.ofSeconds(1)),
        actor.sendMessageReturn("two", Duration.ofSeconds(1)));

    clock.advance(Duration.ofSeconds(1));

    for (var request : requests) assertInstanceOf(AskTimeoutException.class, Patience.failure(request));
    assertEquals(2, statsOf("slow").expired());
    assertTrue(scope.dump().contains("; 0 handled, 2 expired\n"), scope.dump());
    gate.open();
  }

  private void assertRefusedCount(long expected, String name) {
    assertCounts(expected, 0, name);
    assertTrue(scope.dump().contains("; 0 handled, " + expected + " refused\n"), scope.dump());
  }

  private void assertCounts(long expectedRefused, long expectedDropped, String name) {
    assertEquals(List.of(expectedRefused, expectedDropped), List.of(statsOf(name).refused(), statsOf(name).dropped()));
    long expected = expectedRefused + expectedDropped;
    var unhandled = scope.report().unhandled();
    assertEquals(expected, unhandled.get(Reason.REJECTED) + unhandled.get(Reason.DROPPED));
  }

  @Promise("19.17")
  @ParameterizedTest
  @EnumSource(names = {"REJECT", "DROP_NEWEST"})
  void messagesThatFullMailboxRefusesAreCounted(Overflow overflow) {
    var actor = scope.named("full").mailbox(Mailbox.bounded(1, overflow)).newActorWithReturn((Object message) -> {
      Gate.passOrThrow(message);
      return message;
    });
    Gate.occupy(actor);

    for (var message : List.of("waits", "second", "third")) actor.sendMessage(message);
    actor.sendMessageReturn("request");

    assertRefusedCount(3, "full");
  }

  @Promise("19.17")
  @Test
  void droppedMessagesAreCountedApartFromRefusedMessages() {
    var actor = scope.named("full").mailbox(Mailbox.bounded(1, Overflow.DROP_OLDEST))
        .newActorWithReturn((Object message) -> {
          Gate.passOrThrow(message);
          return message;
        });
    Gate.occupy(actor);

    for (var message : List.of("waits", "second", "third")) actor.sendMessage(message);
    actor.sendMessageReturn("request");
    actor.execute(() -> {}); // tasks have a capacity of 1, too
    for (int i = 0; i < 2; i++) assertThrows(RejectedExecutionException.class, () -> actor.execute(() -> {}));

    assertCounts(2, 3, "full");
    assertTrue(scope.dump().contains("; 0 handled, 2 refused, 3 dropped\n"), scope.dump());
  }

  @Promise("19.17")
  @Test
  void eachMessageOfRefusedBlockIsCounted() {
    var actor = scope.named("full").mailbox(Mailbox.bounded(2, Overflow.REJECT)).newActor(Gate::passOrThrow);
    Gate.occupy(actor);

    actor.sendMessage("waits");
    actor.sendMessages(List.of("second", "third"));

    assertRefusedCount(2, "full");
  }

  @Promise("19.17")
  @Test
  void messagesThatPoolRefusesAreCounted() {
    var builder = scope.named("pool").mailbox(Mailbox.bounded(1, Overflow.REJECT));
    var pool = Pools.fixed(builder, 1).newActor(Gate::passOrThrow);
    Gate.occupy(pool);

    for (var message : List.of("waits", "second", "third")) pool.sendMessage(message);

    assertEquals(2, statsOf("pool").refused());
  }

  /** The senders are platform threads, so that they refuse messages at the same time. */
  @Promise("19.17")
  @Test
  void refusalsOfConcurrentPlatformThreadsAreAllCounted() {
    var actor = scope.named("full").mailbox(Mailbox.bounded(1, Overflow.REJECT)).newActor(Gate::passOrThrow);
    Gate.occupy(actor);
    actor.sendMessage("waits");

    var senders = Stream.generate(() -> Thread.ofPlatform().start(() -> {
      for (int i = 0; i < 1_000; i++) actor.sendMessage("refused");
    })).limit(4).toList();
    senders.forEach(Patience::awaitEnd);

    assertRefusedCount(4_000, "full");
  }

  @Promise("19.10")
  @Test
  void actorStatsCoverChildScopesWithOneEntryPerPool() {
    var childScope = scope.openScope("below");
    childScope.named("first").newActor(message -> {});
    var pool = Pools.fixed(scope.named("pool"), 2).newActor((Gate gate) -> gate.pass());
    var gates = List.of(new Gate(), new Gate());
    for (var gate : gates) pool.sendMessage(gate);
    for (var gate : gates) Patience.await(gate.entered);

    assertEquals(List.of("below first", "app pool"),
        scope.actors().stream().map(stats -> stats.scope() + " " + stats.name()).toList());
    assertEquals(List.of("app", "below"), statsOf("first").scopes());
    assertEquals("2 of 2 at work", statsOf("pool").activity());
    assertEquals(2, statsOf("pool").maxWorkers());
    assertTrue(statsOf("pool").busyFor().isPositive());
    assertEquals(List.of("first"), childScope.actors().stream().map(ActorStats::name).toList());
  }

  @Promise("19.19")
  @ParameterizedTest
  @EnumSource(names = {"REJECT", "DROP_NEWEST", "DROP_OLDEST"})
  void actorStatsCountRefusedMessagesAndRequests(Overflow overflow) {
    var actor = scope.named("full").mailbox(Mailbox.bounded(2, overflow)).newActorWithReturn((Object message) -> {
      if (message instanceof Gate gate) gate.pass();
      return message;
    });
    var gate = new Gate();
    actor.sendMessage(gate);
    Patience.await(gate.entered);
    for (int i = 0; i < 5; i++) actor.sendMessage(i);
    actor.sendMessageReturn("a request");

    var stats = statsOf("full");

    assertEquals(List.of(2L, 4L), List.of(stats.queued(), stats.refused() + stats.dropped()));
    assertEquals(overflow == Overflow.DROP_OLDEST ? 4 : 0, stats.dropped());
    assertEquals(OptionalInt.of(2), stats.capacity());
    assertEquals(Optional.of(overflow), stats.overflow());
  }

  @Promise("19.19")
  @Test
  void actorStatsTellThatSendersOfFullMailboxWait() {
    scope.named("blocks").mailbox(Mailbox.bounded(2, Overflow.BLOCK)).newActor(message -> {});
    scope.named("sorts").mailbox(Mailbox.<String>priority(Comparator.naturalOrder())).newActor(message -> {});

    assertEquals(Optional.of(Overflow.BLOCK), statsOf("blocks").overflow());
    assertEquals(Optional.empty(), statsOf("sorts").overflow());
  }

  @Promise("19.19")
  @Test
  void poolStatsAndDumpShowRefusedMessages() {
    var pool = Pools.fixed(scope.named("pool").mailbox(Mailbox.bounded(1, Overflow.REJECT)), 1)
        .newActor((Gate gate) -> gate.pass());
    var gate = new Gate();
    pool.sendMessage(gate);
    Patience.await(gate.entered);
    for (int i = 0; i < 3; i++) pool.sendMessage(new Gate());

    assertEquals(2, statsOf("pool").refused());
    assertEquals(OptionalInt.of(1), statsOf("pool").capacity());
    assertEquals(Optional.of(Overflow.REJECT), statsOf("pool").overflow());
    assertTrue(scope.dump().contains("; 0 handled, 2 refused"), scope::dump);
  }

  @Promise("19.19")
  @Test
  void refusalsOfConcurrentFibersAreAllCounted() {
    var actor = scope.named("full").mailbox(Mailbox.bounded(1, Overflow.REJECT)).newActor((Gate gate) -> gate.pass());
    var gate = new Gate();
    actor.sendMessage(gate);
    Patience.await(gate.entered);
    actor.sendMessage(new Gate()); // fills the mailbox
    var senders = IntStream.range(0, 4).mapToObj(number -> Patience.startFiber(() -> {
      for (int i = 0; i < 1_000; i++) actor.sendMessage(new Gate());
    })).toList();
    senders.forEach(Patience::awaitEnd);

    assertEquals(4_000, statsOf("full").refused());
  }

  @Promise("19.20")
  @Test
  void busyTimeIsExactUnlessClockIsManualOrRequestIsInline() {
    var manualActor = scope.named("manual").newActor(Gate::passOrThrow);
    Gate.occupy(manualActor);
    assertFalse(statsOf("manual").isBusyForExact());
    try (var realTimeScope = ActorSystem.openScope("real")) {
      var plainActor = realTimeScope.named("plain").newActor(Gate::passOrThrow);
      var plainGate = Gate.occupy(plainActor);
      assertTrue(busyStats(realTimeScope).isBusyForExact());
      plainGate.open();
      assertTrue(realTimeScope.awaitQuiescence(Patience.LONG));
      assertTrue(realTimeScope.actors().getFirst().isBusyForExact());

      var inlineActor = realTimeScope.named("inline").inlineRequests().newActorWithReturn((Gate gate) -> {
        gate.pass();
        return "passed";
      });
      var inlineGate = new Gate();
      Patience.startFiber(() -> inlineActor.ask(inlineGate));
      Patience.await(inlineGate.entered);
      assertFalse(busyStats(realTimeScope).isBusyForExact());
      inlineGate.open();
    }
  }

  @Promise("19.21")
  @Test
  void actorStatsShowStackOfRunningHandler() {
    scope.named("idle").newActor(message -> {});
    var stuckActor = scope.named("stuck").newActor(Gate::passOrThrow);
    Gate.occupy(stuckActor);
    var pool = Pools.fixed(scope.named("pool"), 2).newActor((Gate gate) -> gate.pass());
    var gate = new Gate();
    pool.sendMessage(gate);
    Patience.await(gate.entered);

    assertEquals(List.of(), statsOf("idle").stack());
    for (var name : List.of("stuck", "pool"))
      Patience.eventually(() -> statsOf(name).stack().stream()
          .anyMatch(frame -> frame.getClassName().equals(Gate.class.getName())));
  }

  private static ActorStats busyStats(ActorScope scope) {
    return scope.actors().stream().filter(stats -> stats.busyFor().isPositive()).findFirst().orElseThrow();
  }

  private static void assertBusySince(long startNanos, ActorScope scope) {
    Patience.eventually(() -> System.nanoTime() - startNanos > 150_000_000);
    long minNanos = System.nanoTime() - startNanos - 20_000_000; // because the recorded start may be 20 ms late

    var stats = busyStats(scope); // the first read of the busy time

    assertTrue(stats.busyFor().toNanos() >= minNanos, () -> stats + ", but at least " + minNanos + " ns");
    assertTrue(scope.dump().contains(" for at least "), scope::dump);
  }

  @Promise("19.10")
  @ParameterizedTest
  @MethodSource("io.fibry.testing.Variants#all")
  void busyTimeBeginsWithMessageNotWithFirstStatsRead(Variants.Variant variant) {
    try (var realTimeScope = ActorSystem.openScope("real")) {
      var actor = variant.named(realTimeScope, "stuck").newActor(message -> {
        if (message instanceof Gate gate) gate.pass();
      });
      var gate = Gate.occupy(actor);

      assertBusySince(System.nanoTime(), realTimeScope);
      gate.open();
    }
  }

  @Promise("19.10")
  @Test
  void busyTimeBeginsWithHttpExchangeNotWithFirstStatsRead() throws IOException {
    var gate = new Gate();
    var routes = HttpRoutes.none().text("/slow", exchange -> {
      gate.pass();
      return "late";
    });
    try (var realTimeScope = ActorSystem.openScope("real")) {
      var server = HttpServer.open(realTimeScope.anonymous(), 0, routes, o -> o);
      try (var client = new Socket(InetAddress.getLoopbackAddress(), server.port())) {
        client.getOutputStream().write("GET /slow HTTP/1.1\r\nHost: localhost\r\n\r\n".getBytes());
        Patience.await(gate.entered);

        assertBusySince(System.nanoTime(), realTimeScope);
        gate.open();
      }
    }
  }
}
