package io.fibry.engine.cell;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Actor;
import io.fibry.ActorSystem;
import io.fibry.ActorWithReturn;
import io.fibry.Strategy;
import io.fibry.mailbox.Mailbox;
import io.fibry.support.Patience;
import io.fibry.support.Soak;
import io.fibry.testing.Gate;
import io.fibry.testing.LeakProbe;
import io.fibry.testing.Promise;
import io.fibry.testing.Variants;
import io.fibry.time.Scheduler;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class ActorLeakTest {
  private static final int ACTORS = Soak.ON ? 1_000_000 : 100_000;

  @Test
  void startedAndStoppedActorsLeaveNeitherMemoryNorThreads() {
    startAndStop(10_000);
    var threads = threads();

    LeakProbe.assertLeavesAtMost(8L * ACTORS, () -> startAndStop(ACTORS));

    assertTrue(LeakProbe.eventually(() -> newThreads(threads).size() <= 2), () -> newThreads(threads).toString());
  }

  private static void startAndStop(int times) {
    for (int i = 0; i < times; i++) {
      var actor =
          (i % 1_000 == 0 ? ActorSystem.named("leak" + i) : ActorSystem.anonymous()).newActor((Integer message) -> {});
      actor.sendMessage(i);
      if (i % 3 == 0) actor.askExit();
      else actor.sendPoisonPill();
      if (i % 1_000 == 0) actor.waitForExit();
    }
  }

  private static Set<Thread> threads() {
    return Set.copyOf(Thread.getAllStackTraces().keySet());
  }

  /**
   * Returns the platform threads that are not in {@code oldThreads}. The result omits threads of
   * the JDK such as carriers, which start and end at any time.
   */
  private static Set<Thread> newThreads(Set<Thread> oldThreads) {
    return threads().stream().filter(thread -> !oldThreads.contains(thread)
        && !thread.getName().startsWith("ForkJoinPool")
        && !thread.getName().startsWith("VirtualThread")).collect(Collectors.toSet());
  }

  @Test
  void residentThreadsEndWithTheirActors() {
    for (var strategy : List.of(Strategy.THREAD, Strategy.RESIDENT_FIBER)) {
      var threads = new ConcurrentLinkedQueue<Thread>();
      var actors = Stream.generate(() -> ActorSystem.anonymous().strategy(strategy)
          .newActor((Integer i) -> threads.add(Thread.currentThread()))).limit(200).toList();
      for (var actor : actors) actor.sendMessage(1);

      for (var actor : actors) actor.close();

      assertEquals(200, Set.copyOf(threads).size());
      Patience.eventually("threads of ended actors are still alive", () -> threads.stream().noneMatch(Thread::isAlive));
    }
  }

  @Promise("11.2")
  @Test
  void manyUnreferencedIdleActorsAreGarbage() {
    var probes = new ArrayList<WeakReference<?>>();

    LeakProbe.assertLeavesAtMost(4L * ACTORS, () -> startAndForget(probes));

    assertTrue(LeakProbe.collected(probes));
  }

  private static void startAndForget(List<WeakReference<?>> probes) {
    for (int i = 0; i < ACTORS; i++) {
      var actor = ActorSystem.anonymous().newActorWithReturn((Integer message) -> message);
      if (i % 1_000 == 0) assertEquals(i, Patience.value(actor.sendMessageReturn(i)));
      if (i % 1_000 == 0) probes.add(new WeakReference<>(actor));
    }
  }

  @Test
  void cancelledTimersLeaveNoMemory() {
    var actor = ActorSystem.anonymous().newActor((byte[] message) -> {});
    setTimers(actor, 1_000);

    LeakProbe.assertLeavesAtMost(2_000_000, () -> setTimers(actor, 100_000));
  }

  private static void setTimers(Actor<byte[]> actor, int count) {
    var timers = new ArrayList<Scheduler.Timer>();
    for (int i = 0; i < count; i++) timers.add(i % 2 == 0 ? actor.sendMessageLater(new byte[100], Duration.ofHours(1))
        : actor.sendMessageEvery(new byte[100], Duration.ofHours(1)));
    for (var timer : timers) assertTrue(timer.cancel());
    for (int i = 0; i < count; i++) actor.sendMessageLater("key", new byte[100], Duration.ofHours(1));
  }

  @Test
  void firedTimerRetainsNeitherMessageNorActor() {
    var handled = new CountDownLatch(1);
    var actor = ActorSystem.anonymous().newActor((Object message) -> handled.countDown());
    var message = new Object();
    var timer = actor.sendMessageLater(message, Duration.ofMillis(1));
    var references = List.of(new WeakReference<>(actor), new WeakReference<>(message));
    Patience.await(handled);

    actor = null;
    message = null;

    assertTrue(LeakProbe.collected(references));
    assertFalse(timer.cancel());
  }

  @Test
  void cancelledTimerRetainsNoKey() {
    var actor = ActorSystem.anonymous().newActor((Object message) -> {});
    var key = new Object();
    var timer = actor.sendMessageLater(key, "message", Duration.ofHours(1));
    var reference = new WeakReference<>(key);

    key = null;
    assertTrue(timer.cancel());

    assertTrue(LeakProbe.collected(reference));
    assertFalse(timer.cancel());
  }

  @Test
  void timersDoNotKeepEndedActorInMemory() {
    var actor = ActorSystem.anonymous().newActor((Object message) -> {});
    for (int i = 0; i < 10_000; i++) actor.sendMessageEvery("tick", Duration.ofHours(1));
    var probe = new WeakReference<>(actor);

    actor.close();
    actor = null;

    assertTrue(LeakProbe.collected(probe));
  }

  @Test
  void timerOfEndedActorRetainsNoMessageOfOtherTimer() {
    var actor = ActorSystem.anonymous().newActor((Object message) -> {});
    var earlierTimer = actor.sendMessageLater("before", Duration.ofHours(1));
    var message = new WeakReference<>(setKeyedTimer(actor));
    var laterTimer = actor.sendMessageLater("after", Duration.ofHours(1));

    actor.close();

    assertTrue(LeakProbe.collected(message));
    assertFalse(earlierTimer.cancel() || laterTimer.cancel());
  }

  /**
   * Sets a timer with a key. At the end of the actor, the message of a timer without a key becomes
   * a dead letter, which the scope keeps in memory.
   */
  private static Object setKeyedTimer(Actor<Object> actor) {
    var message = new Object();
    actor.sendMessageLater("key", message, Duration.ofHours(1));
    return message;
  }

  static Stream<Variants.Variant> variants() {
    return Variants.all().filter(v -> v.mailbox() == Mailbox.unbounded() || v.mailbox().isSelective());
  }

  @ParameterizedTest
  @MethodSource("variants")
  void idleActorKeepsNoReferenceToLastMessageOrFuture(Variants.Variant variant) {
    var actor = variant.builder(Variants.scope(o -> o)).newActorWithReturn((Object message) -> 1);
    var message = new WeakReference<>(send(actor));
    var future = new WeakReference<>(request(actor));

    assertTrue(LeakProbe.collected(message));
    assertTrue(LeakProbe.collected(future));
    assertEquals(1, Patience.value(actor.sendMessageReturn("alive")));
    actor.close();
  }

  private static Object send(Actor<Object> actor) {
    var message = new Object();
    actor.sendMessage(message);
    return message;
  }

  private static CompletableFuture<?> request(ActorWithReturn<Object, Integer> actor) {
    var future = actor.sendMessageReturn(new Object());
    Patience.value(future);
    return future;
  }

  @Test
  void idleActorReleasesItsActivationObject() {
    var actor = ActorSystem.anonymous().newActorWithReturn((Integer i) -> i);

    actor.ask(1);

    Patience.eventually(() -> !ActorInternals.hasActivation(actor));
    assertNull(ActorInternals.strandedNode(actor));
  }

  @Test
  void handledMessagesAreCollectedWhileLongMessageRuns() {
    var gate = new Gate();
    var actor = ActorSystem.anonymous().newActor((Object message) -> {
      if (message instanceof Gate receivedGate) receivedGate.pass();
    });
    var probes = Stream.generate(() -> new WeakReference<>(send(actor))).limit(100).toList();

    actor.sendMessage(gate);

    Patience.await(gate.entered);
    assertTrue(LeakProbe.collected(probes));
    assertFalse(probes.isEmpty());
    gate.open();
  }
}
