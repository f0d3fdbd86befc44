package io.fibry;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.engine.cell.Inside;
import io.fibry.support.Patience;
import io.fibry.support.Soak;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class WatchLeakTest {
  private static final int MANY = Soak.ON ? 1_000_000 : 200_000;

  private final List<Object> log = new ArrayList<>();

  @Promise("18.6")
  @Test
  void watchKeepsNeitherWatchedNorWatcherAlive() {
    var probes = new ArrayList<WeakReference<?>>();
    for (int i = 0; i < 10; i++) probes.addAll(pair(i % 2 == 0));

    assertTrue(LeakProbe.collected(probes));
  }

  private List<WeakReference<?>> pair(boolean foreign) {
    var nothing = new ArrayList<>();
    var watcher = WatchTest.watcher(ActorSystem.anonymous(), nothing);
    Exitable other = foreign ? new Server() : ActorSystem.anonymous().newActor((Object m) -> {});
    watcher.sendMessage(new WatchTest.Watch(other, reason -> other));
    Patience.eventually(() -> Inside.isIdle(watcher));
    return List.of(new WeakReference<>(watcher), new WeakReference<>(other));
  }

  @Promise("18.6")
  @Test
  void livingWatcherKeepsNoWatchedActorAlive() {
    var watcher = WatchTest.watcher(ActorSystem.anonymous(), log);
    var probes = new ArrayList<WeakReference<?>>();
    for (int i = 0; i < 10; i++) probes.add(watched(watcher, i % 2 == 0));

    assertTrue(LeakProbe.collected(probes));
    watcher.close();
  }

  private WeakReference<?> watched(Actor<Object> watcher, boolean foreign) {
    Exitable other = foreign ? new Server() : ActorSystem.anonymous().newActor((Object m) -> {});
    watcher.sendMessage(new WatchTest.Watch(other, reason -> other));
    Patience.eventually(() -> Inside.isIdle(watcher));
    return new WeakReference<>(other);
  }

  @Promise("18.6")
  @Test
  void watchedActorKeepsUnreferencedWatcherAlive() {
    var other = ActorSystem.anonymous().newActor((Object m) -> {});
    var told = new CompletableFuture<Object>();
    var watcher = new WeakReference<>(watching(other, told));
    LeakProbe.used(); // collects unreachable objects

    other.close();

    assertEquals(new ExitReason.Finished(), Patience.value(told));
    assertTrue(LeakProbe.collected(List.of(watcher)));
  }

  private static Actor<Object> watching(Exitable other, CompletableFuture<Object> told) {
    var watcher = ActorSystem.anonymous().newActor((Object m, ActorContext<Object> context) -> {
      if (m instanceof ExitReason) told.complete(m);
      else context.watch(other, reason -> reason);
    });
    watcher.sendMessage("watch");
    Patience.eventually(() -> Inside.isIdle(watcher));
    return watcher;
  }

  @Promise("18.6")
  @Test
  void removedWatchesLeaveNothing() {
    var other = ActorSystem.anonymous().newActor((Object m) -> {});
    watchAndUnwatch(other, 10_000);

    LeakProbe.assertLeavesAtMost(4L * MANY, () -> watchAndUnwatch(other, MANY));

    assertFalse(other.onExit().isDone());
  }

  private static void watchAndUnwatch(Exitable other, int times) {
    var done = new AtomicInteger();
    ActorSystem.anonymous().newActor((Object m, ActorContext<Object> context) -> {
      for (int i = 0; i < times; i++, done.incrementAndGet()) {
        context.watch(other, reason -> reason);
        context.unwatch(other);
      }
    }).sendMessage("go");
    Patience.progress(done::get, () -> done.get() == times);
  }

  @Promise("18.6")
  @Test
  void watchersThatEndedLeaveNothing() {
    var other = ActorSystem.anonymous().newActor((Object m) -> {});
    watchAndEnd(other, 1_000);

    LeakProbe.assertLeavesAtMost(16L * MANY / 10, () -> watchAndEnd(other, MANY / 10));
  }

  private static void watchAndEnd(Exitable other, int times) {
    var nothing = new ArrayList<>();
    for (int i = 0; i < times; i++) {
      var watcher = WatchTest.watcher(ActorSystem.anonymous().strategy(Strategy.CALLER), nothing);
      watcher.sendMessage(new WatchTest.Watch(other, reason -> reason));
      watcher.close();
    }
  }
}
