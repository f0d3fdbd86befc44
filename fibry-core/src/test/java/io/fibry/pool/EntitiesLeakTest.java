package io.fibry.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Actor;
import io.fibry.ActorBuilder;
import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.Strategy;
import io.fibry.support.Patience;
import io.fibry.support.Soak;
import io.fibry.testing.LeakProbe;
import io.fibry.time.ManualScheduler;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests how much memory entities need, and that they release it. */
class EntitiesLeakTest {
  private static final Duration IDLE = Duration.ofMinutes(8);
  private static final int KEYS = Soak.ON ? 1_000_000 : 25_000;

  private final ManualScheduler clock = new ManualScheduler();
  private final ActorScope scope = ActorSystem.openScope("leak", o -> o.withScheduler(clock));
  private final ActorBuilder<Object> builder = scope.anonymous();

  @AfterEach
  void close() {
    scope.close();
  }

  private static Entities<Integer, String> entities(ActorBuilder<Object> builder, Duration idle) {
    return Entities.open(builder, idle, (entityBuilder, key) -> entityBuilder.newActor((String message) -> {}));
  }

  private WeakReference<Object> usedAndClosed() {
    var entities = entities(builder, IDLE);
    entities.actor(1).sendMessage("a");
    entities.actor(2).sendMessageLater("later", IDLE);
    entities.actor(2).sendMessageEvery("key", "again", IDLE);
    entities.close();
    return new WeakReference<>(entities);
  }

  @Test
  void closedEntitiesAreGarbageWhileClockAndScopeLive() {
    assertTrue(LeakProbe.collected(usedAndClosed()));
  }

  /** Returns a weak reference to entities of the root scope that were used and passivated. */
  private static WeakReference<Object> usedInRoot() {
    var entities = entities(ActorSystem.anonymous(), Duration.ofMillis(1));
    entities.actor(1).sendMessage("a");
    Patience.eventually(() -> entities.size() == 0);
    return new WeakReference<>(entities);
  }

  @Test
  void unreferencedEntitiesAreGarbageOnceNoActorIsAlive() {
    assertTrue(LeakProbe.collected(usedInRoot()));
  }

  private Entities<Integer, String> usedEntities;

  @Test
  void passivatedActorsAreGarbage() {
    var births = new ArrayList<WeakReference<Object>>();
    usedEntities = Entities.open(builder, IDLE, (entityBuilder, key) -> {
      Actor<String> actor = entityBuilder.newActor(message -> {});
      births.add(new WeakReference<>(actor));
      return actor;
    });
    for (int i = 0; i < 100; i++) usedEntities.actor(i).sendMessage("a");
    clock.advance(IDLE.multipliedBy(2));
    Patience.eventually(() -> usedEntities.size() == 0);

    assertTrue(LeakProbe.collected(births));
    assertEquals(100, births.size());
    usedEntities.close();
  }

  /** Uses CALLER, because actors then have no threads, which would need memory. */
  @Test
  void livingKeyNeedsAtMost150BytesBesidesItsActor() {
    var keys = IntStream.range(0, KEYS).boxed().toList();
    var handled = new AtomicInteger();
    var births = (Function<Integer, Actor<String>>) key -> ActorSystem.anonymous().strategy(Strategy.CALLER)
        .newActor(message -> handled.incrementAndGet());
    long usedBefore = LeakProbe.used();
    var actorsAlone = keys.stream().map(births).toArray();
    long usedWithActors = LeakProbe.used();
    Entities<Integer, String> entities = Entities.open(builder, IDLE, (entityBuilder, key) -> births.apply(key));
    for (var key : keys) entities.actor(key).sendMessage("a");
    long usedWithEntities = LeakProbe.used();
    long bytesPerKey = ((usedWithEntities - usedWithActors) - (usedWithActors - usedBefore)) / KEYS;
    System.out.println("a living key costs " + bytesPerKey + " B beside its actor, of "
        + (usedWithActors - usedBefore) / KEYS + " B");

    assertEquals(KEYS, actorsAlone.length);
    assertEquals(KEYS, entities.size());
    assertEquals(KEYS, handled.get());
    assertTrue(bytesPerKey <= 150, () -> bytesPerKey + " B");
    clock.advance(IDLE.multipliedBy(2));
    Patience.eventually(() -> entities.size() == 0);
    entities.close();
  }
}
