package io.fibry.engine.cell;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Actor;
import io.fibry.ActorContext;
import io.fibry.ActorSystem;
import io.fibry.ExitReason;
import io.fibry.Exitable;
import io.fibry.Strategy;
import io.fibry.support.Patience;
import io.fibry.support.Soak;
import io.fibry.testing.FutureExitable;
import io.fibry.testing.LeakProbe;
import io.fibry.testing.Promise;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class WatchLeakTest {
  private static final int WATCHES = Soak.ON ? 1_000_000 : 200_000;

  private final List<Object> log = new ArrayList<>();

  @Promise("18.6")
  @Test
  void watcherAndWatchedActorAreCollectedIfUnreferenced() {
    var probes = new ArrayList<WeakReference<?>>();
    for (int i = 0; i < 10; i++) probes.addAll(probesOfPair(i % 2 == 0));

    assertTrue(LeakProbe.collected(probes));
  }

  private List<WeakReference<?>> probesOfPair(boolean isServer) {
    var unusedLog = new ArrayList<>();
    var watcher = WatchTest.watcher(ActorSystem.anonymous(), unusedLog);
    Exitable target = isServer ? new FutureExitable() : ActorSystem.anonymous().newActor((Object m) -> {});
    watcher.sendMessage(new WatchTest.Watch(target, reason -> target));
    Patience.eventually(() -> ActorInternals.isIdle(watcher));
    return List.of(new WeakReference<>(watcher), new WeakReference<>(target));
  }

  @Promise("18.6")
  @Test
  void watcherKeepsNoWatchedActorInMemory() {
    var watcher = WatchTest.watcher(ActorSystem.anonymous(), log);
    var probes = new ArrayList<WeakReference<?>>();
    for (int i = 0; i < 10; i++) probes.add(probeOfTarget(watcher, i % 2 == 0));

    assertTrue(LeakProbe.collected(probes));
    watcher.close();
  }

  private WeakReference<?> probeOfTarget(Actor<Object> watcher, boolean isServer) {
    Exitable target = isServer ? new FutureExitable() : ActorSystem.anonymous().newActor((Object m) -> {});
    watcher.sendMessage(new WatchTest.Watch(target, reason -> target));
    Patience.eventually(() -> ActorInternals.isIdle(watcher));
    return new WeakReference<>(target);
  }

  @Promise("18.6")
  @Test
  void watchedActorKeepsUnreferencedWatcherUntilItEnds() {
    var target = ActorSystem.anonymous().newActor((Object m) -> {});
    var exitReason = new CompletableFuture<Object>();
    var watcher = new WeakReference<>(newWatcher(target, exitReason));
    LeakProbe.used(); // collects unreachable objects

    target.close();

    assertEquals(new ExitReason.Finished(), Patience.value(exitReason));
    assertTrue(LeakProbe.collected(List.of(watcher)));
  }

  private static Actor<Object> newWatcher(Exitable target, CompletableFuture<Object> exitReason) {
    var watcher = ActorSystem.anonymous().newActor((Object m, ActorContext<Object> context) -> {
      if (m instanceof ExitReason) exitReason.complete(m);
      else context.watch(target, reason -> reason);
    });
    watcher.sendMessage("watch");
    Patience.eventually(() -> ActorInternals.isIdle(watcher));
    return watcher;
  }

  @Promise("18.6")
  @Test
  void removedWatchesLeaveNoMemory() {
    var target = ActorSystem.anonymous().newActor((Object m) -> {});
    watchAndUnwatch(target, 10_000);

    LeakProbe.assertLeavesAtMost(4L * WATCHES, () -> watchAndUnwatch(target, WATCHES));

    assertFalse(target.onExit().isDone());
  }

  private static void watchAndUnwatch(Exitable target, int times) {
    var count = new AtomicInteger();
    ActorSystem.anonymous().newActor((Object m, ActorContext<Object> context) -> {
      for (int i = 0; i < times; i++, count.incrementAndGet()) {
        context.watch(target, reason -> reason);
        context.unwatch(target);
      }
    }).sendMessage("go");
    Patience.progress(count::get, () -> count.get() == times);
  }

  @Promise("18.6")
  @Test
  void endedWatchersLeaveNoMemory() {
    var target = ActorSystem.anonymous().newActor((Object m) -> {});
    watchAndEnd(target, 1_000);

    LeakProbe.assertLeavesAtMost(16L * WATCHES / 10, () -> watchAndEnd(target, WATCHES / 10));
  }

  private static void watchAndEnd(Exitable target, int times) {
    var unusedLog = new ArrayList<>();
    for (int i = 0; i < times; i++) {
      var watcher = WatchTest.watcher(ActorSystem.anonymous().strategy(Strategy.CALLER), unusedLog);
      watcher.sendMessage(new WatchTest.Watch(target, reason -> reason));
      watcher.close();
    }
  }
}
