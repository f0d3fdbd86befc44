package io.fibry.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Actor;
import io.fibry.ActorBuilder;
import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.LeakProbe;
import io.fibry.Strategy;
import io.fibry.support.Patience;
import io.fibry.support.Soak;
import io.fibry.time.ManualScheduler;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The memory of entities. */
class EntitiesLeakTest {
  private static final Duration IDLE = Duration.ofMinutes(8);
  private static final int MANY = Soak.ON ? 1_000_000 : 25_000;

  private final ManualScheduler clock = new ManualScheduler();
  private final ActorScope scope = ActorSystem.openScope("leak", o -> o.withScheduler(clock));
  private final ActorBuilder<Object> how = scope.anonymous();

  @AfterEach
  void close() {
    scope.close();
  }

  private static Entities<Integer, String> entities(ActorBuilder<Object> how, Duration idle) {
    return Entities.open(how, idle, (one, key) -> one.newActor((String message) -> {}));
  }

  private WeakReference<Object> usedAndClosed() {
    var entities = entities(how, IDLE);
    entities.actor(1).sendMessage("a");
    entities.actor(2).sendMessageLater("later", IDLE);
    entities.actor(2).sendMessageEvery("key", "again", IDLE);
    entities.close();
    return new WeakReference<>(entities);
  }

  @Test
  void closedEntitiesAreForgottenByClockAndScope() {
    assertTrue(LeakProbe.collected(usedAndClosed()));
  }

  /** The root does not keep them. */
  private static WeakReference<Object> usedInTheRoot() {
    var entities = entities(ActorSystem.anonymous(), Duration.ofMillis(1));
    entities.actor(1).sendMessage("a");
    Patience.eventually(() -> entities.size() == 0);
    return new WeakReference<>(entities);
  }

  @Test
  void unknownEntitiesAreGarbageOnceNoActorIsAlive() {
    assertTrue(LeakProbe.collected(usedInTheRoot()));
  }

  private Entities<Integer, String> lively;

  @Test
  void actorsThatWereIdleAreForgotten() {
    var births = new ArrayList<WeakReference<Object>>();
    lively = Entities.open(how, IDLE, (one, key) -> {
      Actor<String> actor = one.newActor(message -> {});
      births.add(new WeakReference<>(actor));
      return actor;
    });
    for (int i = 0; i < 100; i++) lively.actor(i).sendMessage("a");
    clock.advance(IDLE.multipliedBy(2));
    Patience.eventually(() -> lively.size() == 0);

    assertTrue(LeakProbe.collected(births));
    assertEquals(100, births.size());
    lively.close();
  }

  /** On CALLER, so that no thread counts. */
  @Test
  void aLivingKeyCostsAtMost150BytesBesideItsActor() {
    var keys = IntStream.range(0, MANY).boxed().toList();
    var handled = new AtomicInteger();
    var births = (Function<Integer, Actor<String>>) key -> ActorSystem.anonymous().strategy(Strategy.CALLER)
        .newActor(message -> handled.incrementAndGet());
    long before = LeakProbe.used();
    var alone = keys.stream().map(births).toArray();
    long actors = LeakProbe.used();
    Entities<Integer, String> entities = Entities.open(how, IDLE, (one, key) -> births.apply(key));
    for (var key : keys) entities.actor(key).sendMessage("a");
    long all = LeakProbe.used();
    long each = ((all - actors) - (actors - before)) / MANY;
    System.out.println("a living key costs " + each + " B beside its actor, of " + (actors - before) / MANY + " B");

    assertEquals(MANY, alone.length);
    assertEquals(MANY, entities.size());
    assertEquals(MANY, handled.get());
    assertTrue(each <= 150, () -> each + " B");
    clock.advance(IDLE.multipliedBy(2));
    Patience.eventually(() -> entities.size() == 0);
    entities.close();
  }
}
