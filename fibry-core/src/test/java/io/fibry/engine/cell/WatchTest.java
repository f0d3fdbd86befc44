package io.fibry.engine.cell;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Actor;
import io.fibry.ActorBuilder;
import io.fibry.ActorContext;
import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.ExitReason;
import io.fibry.Exitable;
import io.fibry.FailurePolicy;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.support.Logged;
import io.fibry.support.Patience;
import io.fibry.testing.FutureExitable;
import io.fibry.testing.Gate;
import io.fibry.testing.Promise;
import io.fibry.testing.RecordedLetters;
import io.fibry.testing.Variants;
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
  record Watch(Exitable target, Function<ExitReason, Object> message) {}
  record Unwatch(Exitable target) {}

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
        case Watch watch -> context.watch(watch.target(), watch.message());
        case Unwatch unwatch -> context.unwatch(unwatch.target());
        case Gate gate -> gate.pass();
        default -> log.add(m);
      }
    });
  }

  private Actor<Object> newPlainActor() {
    return scope.anonymous().onFailure(FailurePolicy.stop().withoutLog()).newActor((Object m) -> {
      if (m instanceof Gate gate) gate.passUninterruptibly();
      if (m instanceof Exception failure) throw failure;
    });
  }

  private void sendAndAwait(Actor<Object> actor, Object message) {
    actor.sendMessage(message);
    assertTrue(scope.awaitQuiescence(Patience.LONG));
    // `scope` is a root scope, which does not track its anonymous actors
    Patience.eventually(() -> ActorInternals.isQuiet(actor));
  }

  /**
   * Closes the target, and waits until all its watchers are notified. They are notified after
   * {@code close}, in the order of their watches, so this method adds a last watcher.
   */
  private void closeAndAwaitNotifications(Exitable target) {
    var lastNotification = new CompletableFuture<Object>();
    sendAndAwait(watcher(scope.anonymous(), new ArrayList<>()), new Watch(target, lastNotification::complete));
    target.close();
    Patience.value(lastNotification);
    assertTrue(scope.awaitQuiescence(Patience.LONG)); // each watcher is notified on its own fiber
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

  record End(Consumer<Actor<Object>> action, ExitReason reason) {}

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
    var target = newPlainActor();
    var watcher = watcher();
    sendAndAwait(watcher, new Watch(target, reason -> reason));

    end.action().accept(target);

    Patience.eventually(() -> !log.isEmpty());
    assertEquals(List.of(end.reason()), log);
  }

  @Promise("18.1")
  @ParameterizedTest
  @MethodSource("ends")
  void watchOfEndedActorNotifiesWatcher(End end) {
    var target = newPlainActor();
    end.action().accept(target);
    Patience.awaitEnd(target::waitForExit);

    sendAndAwait(watcher(), new Watch(target, reason -> reason));

    Patience.eventually(() -> !log.isEmpty());
    assertEquals(List.of(end.reason()), log);
  }

  @Promise("18.1")
  @Test
  void cutOffActorIsReportedAsKilled() {
    var target = newPlainActor();
    Gate.occupy(target);
    sendAndAwait(watcher(), new Watch(target, reason -> reason));

    target.kill();

    Patience.eventually(() -> !log.isEmpty());
    assertEquals(List.of(new ExitReason.Killed()), log);
  }

  @Promise("18.1")
  @Test
  void actorOfClosedScopeIsReportedAsStopped() {
    var child = ActorSystem.openScope("below");
    sendAndAwait(watcher(), new Watch(child.anonymous().newActor((Object m) -> {}), reason -> reason));

    child.close();

    Patience.eventually(() -> !log.isEmpty());
    assertEquals(List.of(new ExitReason.Stopped()), log);
  }

  @Promise("18.1")
  @Test
  void eachExitIsReportedOnce() {
    var watcher = watcher();
    var targets = Stream.generate(this::newPlainActor).limit(100).toList();
    for (int i = 0; i < 100; i++) {
      int number = i;
      watcher.sendMessage(new Watch(targets.get(i), reason -> number));
    }

    targets.forEach(Exitable::askExit);

    Patience.eventually(() -> log.size() >= 100);
    watcher.close();
    assertEquals(100, log.stream().distinct().count());
    assertEquals(100, log.size());
  }

  @Promise("18.2")
  @Test
  void secondWatchReplacesMessageFunctionOfFirstWatch() {
    var target = newPlainActor();
    var watcher = watcher();
    sendAndAwait(watcher, new Watch(target, reason -> "old"));
    sendAndAwait(watcher, new Watch(target, reason -> "new"));

    closeAndAwaitNotifications(target);

    watcher.close();
    assertEquals(List.of("new"), log);
  }

  @Promise("18.2")
  @Test
  void removedWatchSendsNothing() {
    var target = newPlainActor();
    var watcher = watcher();
    sendAndAwait(watcher, new Watch(target, reason -> "unexpected"));
    sendAndAwait(watcher, new Unwatch(target));

    closeAndAwaitNotifications(target);

    watcher.close();
    assertEquals(List.of(), log);
  }

  @Promise("18.3")
  @ParameterizedTest
  @MethodSource("fullMailboxes")
  void exitMessageIsNeverRefusedByFullMailbox(Mailbox<Object> mailbox) {
    var target = newPlainActor();
    var watcher = watcher(mailbox);
    sendAndAwait(watcher, new Watch(target, reason -> reason));
    var gate = Gate.occupy(watcher);
    watcher.sendMessage("fills it");

    target.close();
    gate.open();

    Patience.eventually(() -> log.size() == 2);
    assertEquals(List.of("fills it", new ExitReason.Finished()), log);
  }

  static Stream<Mailbox<Object>> fullMailboxes() {
    return Stream.of(Overflow.values()).map(overflow -> Mailbox.bounded(1, overflow));
  }

  @Test
  void manyWatchersMayWatchOneActor() {
    var target = newPlainActor();
    for (int i = 0; i < 10; i++) sendAndAwait(watcher(), new Watch(target, reason -> reason));

    target.close();

    Patience.eventually(() -> log.size() == 10);
  }

  @Test
  void twoActorsMayWatchEachOther() {
    var a = watcher();
    var b = watcher();
    sendAndAwait(a, new Watch(b, reason -> "b ended"));
    sendAndAwait(b, new Watch(a, reason -> "a ended"));

    a.close();

    Patience.eventually(() -> !log.isEmpty());
    b.close();
    assertEquals(List.of("a ended"), log);
  }

  @Promise("18.5")
  @Test
  void watchOfSelfIsRefused() {
    var failure = new CompletableFuture<Throwable>();
    scope.anonymous()
        .newActor((Object m, ActorContext<Object> context) -> failure.complete(
            assertThrows(IllegalArgumentException.class, () -> context.watch(context.self(), reason -> reason))))
        .sendMessage("watch");

    assertTrue(Patience.value(failure).getMessage().contains("its own end"));
  }

  @Promise("18.4")
  @Test
  void failingExitMessageFunctionIsLogged() {
    try (var logged = new Logged()) {
      var target = newPlainActor();
      sendAndAwait(watcher(), new Watch(target, reason -> {
        throw new IllegalStateException("planned by the function");
      }));
      sendAndAwait(watcher(), new Watch(target, reason -> null));
      sendAndAwait(watcher(), new Watch(target, reason -> reason));

      target.close();

      Patience.eventually(() -> !log.isEmpty());
      assertEquals(List.of(new ExitReason.Finished()), log);
      for (String text : List.of("planned by the function", "the function of a watch returned null; return a message"))
        Patience.eventually(() -> logged.text().contains(text));
    }
  }

  @Promise("18.2")
  @Test
  void exitOfWatchedActorIsNotSentToEndedWatcher() {
    var letters = new RecordedLetters();
    var watcherScope = Variants.scope(letters);
    var target = newPlainActor();
    var watcher = watcher(watcherScope.anonymous(), log);
    watcher.sendMessage(new Watch(target, reason -> "unexpected"));
    watcher.close();

    closeAndAwaitNotifications(target);

    assertEquals(List.of(), letters.all);
  }

  // ---- watched objects that are no actors

  @Promise("18.5")
  @Test
  void anyExitableMayBeWatched() {
    var server = new FutureExitable();
    var failedServer = new FutureExitable();
    failedServer.exit.completeExceptionally(PLANNED);
    var watcher = watcher();
    sendAndAwait(watcher, new Watch(server, reason -> reason));
    sendAndAwait(watcher, new Watch(failedServer, reason -> reason));

    server.askExit();

    Patience.eventually(() -> log.size() == 2);
    assertEquals(List.of(new ExitReason.Failed(PLANNED), new ExitReason.Stopped()), log);
  }

  @Test
  void watchOfExitableCanBeRemoved() {
    var server = new FutureExitable();
    var watcher = watcher();
    sendAndAwait(watcher, new Watch(server, reason -> "unexpected"));
    sendAndAwait(watcher, new Unwatch(server));

    server.askExit();

    watcher.close();
    assertEquals(List.of(), log);
  }
}
