package io.fibry;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.engine.cell.Inside;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.support.Logged;
import io.fibry.support.Patience;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class WatchTest {
  record Watch(Exitable other, Function<ExitReason, Object> message) {}
  record Unwatch(Exitable other) {}

  private final ActorScope scope = Variants.scope(o -> o.withKillGrace(Duration.ofMillis(50)));
  private final List<Object> log = new CopyOnWriteArrayList<>();

  @AfterEach
  void cleanUp() {
    Gate.openAll();
  }

  private Actor<Object> watcher() {
    return watcher(Mailbox.unbounded());
  }

  private Actor<Object> watcher(Mailbox<Object> mailbox) {
    return watcher(scope.anonymous().mailbox(mailbox), log);
  }

  static Actor<Object> watcher(ActorBuilder<Object> builder, List<Object> log) {
    return builder.newActor((Object m, ActorContext<Object> context) -> {
      switch (m) {
        case Watch watch -> context.watch(watch.other(), watch.message());
        case Unwatch unwatch -> context.unwatch(unwatch.other());
        case Gate gate -> gate.pass();
        default -> log.add(m);
      }
    });
  }

  private Actor<Object> plain() {
    return scope.anonymous().onFailure(FailurePolicy.stop().withoutLog()).newActor((Object m) -> {
      if (m instanceof Gate gate) gate.passDeaf();
      if (m instanceof Exception failure) throw failure;
    });
  }

  private void sent(Actor<Object> actor, Object message) {
    actor.sendMessage(message);
    assertTrue(scope.awaitQuiescence(Patience.LONG));
    // the scope does not track anonymous actors of the root
    Patience.eventually(() -> Inside.isQuiet(actor));
  }

  /**
   * Ends it and waits until all watchers are told. They are told in the order of their watches,
   * after {@code close}.
   */
  private void endedAndAllTold(Exitable other) {
    var last = new CompletableFuture<Object>();
    sent(watcher(scope.anonymous(), new ArrayList<>()), new Watch(other, last::complete));
    other.close();
    Patience.value(last);
    assertTrue(scope.awaitQuiescence(Patience.LONG)); // each is told on a fiber of its own
  }

  private static <T> Consumer<T> named(String name, Consumer<T> code) {
    return new Consumer<>() {
      @Override
      public void accept(T value) {
        code.accept(value);
      }

      @Override
      public String toString() {
        return name;
      }
    };
  }

  private static final IOException PLANNED = new IOException("planned");

  record End(Consumer<Actor<Object>> act, ExitReason reason) {}

  static Stream<End> ends() {
    return Stream.of(
        new End(named("pill", Actor::sendPoisonPill), new ExitReason.Finished()),
        new End(named("askExit", Actor::askExit), new ExitReason.Stopped()),
        new End(named("kill", Actor::kill), new ExitReason.Killed()),
        new End(named("failure", actor -> actor.sendMessage(PLANNED)), new ExitReason.Failed(PLANNED)));
  }

  @Promise("18.1")
  @ParameterizedTest
  @MethodSource("ends")
  void watcherReceivesExitReason(End end) {
    var other = plain();
    var watcher = watcher();
    sent(watcher, new Watch(other, reason -> reason));

    end.act().accept(other);

    Patience.eventually(() -> !log.isEmpty());
    assertEquals(List.of(end.reason()), log);
  }

  @Promise("18.1")
  @ParameterizedTest
  @MethodSource("ends")
  void watchOfEndedActorNotifiesAtOnce(End end) {
    var other = plain();
    end.act().accept(other);
    Patience.ended(other::waitForExit);

    sent(watcher(), new Watch(other, reason -> reason));

    Patience.eventually(() -> !log.isEmpty());
    assertEquals(List.of(end.reason()), log);
  }

  @Promise("18.1")
  @Test
  void cutOffActorIsReportedAsKilled() {
    var other = plain();
    Gate.occupy(other);
    sent(watcher(), new Watch(other, reason -> reason));

    other.kill();

    Patience.eventually(() -> !log.isEmpty());
    assertEquals(List.of(new ExitReason.Killed()), log);
  }

  @Promise("18.1")
  @Test
  void actorOfClosedScopeIsReportedAsStopped() {
    var below = ActorSystem.openScope("below");
    sent(watcher(), new Watch(below.anonymous().newActor((Object m) -> {}), reason -> reason));

    below.close();

    Patience.eventually(() -> !log.isEmpty());
    assertEquals(List.of(new ExitReason.Stopped()), log);
  }

  @Promise("18.1")
  @Test
  void eachExitIsReportedOnce() {
    var watcher = watcher();
    var others = Stream.generate(this::plain).limit(100).toList();
    for (int i = 0; i < 100; i++) {
      int number = i;
      watcher.sendMessage(new Watch(others.get(i), reason -> number));
    }

    others.forEach(Exitable::askExit);

    Patience.eventually(() -> log.size() >= 100);
    watcher.close();
    assertEquals(100, log.stream().distinct().count());
    assertEquals(100, log.size());
  }

  @Promise("18.2")
  @Test
  void secondWatchReplacesMessageOfFirst() {
    var other = plain();
    var watcher = watcher();
    sent(watcher, new Watch(other, reason -> "old"));
    sent(watcher, new Watch(other, reason -> "new"));

    endedAndAllTold(other);

    watcher.close();
    assertEquals(List.of("new"), log);
  }

  @Promise("18.2")
  @Test
  void removedWatchSendsNothing() {
    var other = plain();
    var watcher = watcher();
    sent(watcher, new Watch(other, reason -> "told"));
    sent(watcher, new Unwatch(other));

    endedAndAllTold(other);

    watcher.close();
    assertEquals(List.of(), log);
  }

  @Promise("18.3")
  @ParameterizedTest
  @MethodSource("fullMailboxes")
  void exitMessageIsNeverRefusedByFullMailbox(Mailbox<Object> mailbox) {
    var other = plain();
    var watcher = watcher(mailbox);
    sent(watcher, new Watch(other, reason -> reason));
    var gate = Gate.occupy(watcher);
    watcher.sendMessage("fills it");

    other.close();
    gate.open();

    Patience.eventually(() -> log.size() == 2);
    assertEquals(List.of("fills it", new ExitReason.Finished()), log);
  }

  static Stream<Mailbox<Object>> fullMailboxes() {
    return Stream.of(Overflow.values()).map(overflow -> Mailbox.bounded(1, overflow));
  }

  @Test
  void manyWatchersMayWatchOneActor() {
    var other = plain();
    for (int i = 0; i < 10; i++) sent(watcher(), new Watch(other, reason -> reason));

    other.close();

    Patience.eventually(() -> log.size() == 10);
  }

  @Test
  void twoActorsMayWatchEachOther() {
    var a = watcher();
    var b = watcher();
    sent(a, new Watch(b, reason -> "b ended"));
    sent(b, new Watch(a, reason -> "a ended"));

    a.close();

    Patience.eventually(() -> !log.isEmpty());
    b.close();
    assertEquals(List.of("a ended"), log);
  }

  @Promise("18.5")
  @Test
  void watchOfSelfIsRefused() {
    var thrown = new CompletableFuture<Throwable>();
    scope.anonymous()
        .newActor((Object m, ActorContext<Object> context) -> thrown.complete(
            assertThrows(IllegalArgumentException.class, () -> context.watch(context.self(), reason -> reason))))
        .sendMessage("watch");

    assertTrue(Patience.value(thrown).getMessage().contains("its own end"));
  }

  @Promise("18.4")
  @Test
  void failingExitMessageFunctionIsLogged() {
    try (var logged = new Logged()) {
      var other = plain();
      sent(watcher(), new Watch(other, reason -> {
        throw new IllegalStateException("planned by the function");
      }));
      sent(watcher(), new Watch(other, reason -> null));
      sent(watcher(), new Watch(other, reason -> reason));

      other.close();

      Patience.eventually(() -> !log.isEmpty());
      assertEquals(List.of(new ExitReason.Finished()), log);
      for (String text : List.of("planned by the function", "the message about an end is null"))
        Patience.eventually(() -> logged.text().contains(text));
    }
  }

  @Promise("18.2")
  @Test
  void aWatchEndsWithItsActor() {
    var letters = new Letters();
    var quiet = Variants.scope(letters);
    var other = plain();
    var watcher = watcher(quiet.anonymous(), log);
    watcher.sendMessage(new Watch(other, reason -> "told"));
    watcher.close();

    endedAndAllTold(other);

    assertEquals(List.of(), letters.all);
  }

  // ---- objects that are no actors

  @Promise("18.5")
  @Test
  void anyExitableMayBeWatched() {
    var server = new Server();
    var gone = new Server();
    gone.exit.completeExceptionally(PLANNED);
    var watcher = watcher();
    sent(watcher, new Watch(server, reason -> reason));
    sent(watcher, new Watch(gone, reason -> reason));

    server.askExit();

    Patience.eventually(() -> log.size() == 2);
    assertEquals(List.of(new ExitReason.Failed(PLANNED), new ExitReason.Stopped()), log);
  }

  @Test
  void watchOfExitableCanBeRemoved() {
    var server = new Server();
    var watcher = watcher();
    sent(watcher, new Watch(server, reason -> "told"));
    sent(watcher, new Unwatch(server));

    server.askExit();

    watcher.close();
    assertEquals(List.of(), log);
  }
}
