package io.fibry.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Actor;
import io.fibry.ActorSystem;
import io.fibry.LeakProbe;
import io.fibry.Patience;
import io.fibry.Strategy;
import io.fibry.time.ManualClock;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The memory of entities. */
@Timeout(120)
class EntitiesLeakTest {
  private static final Duration IDLE = Duration.ofMinutes(8);
  private static final int MANY = Boolean.getBoolean("fibry.soak") ? 1_000_000 : 100_000;

  private final ManualClock clock = new ManualClock();

  private Entities<Integer, String> entities() {
    return Entities.of(IDLE, clock, key -> ActorSystem.anonymous().newActor((String message) -> {}));
  }

  private WeakReference<Object> used(boolean closed) {
    var entities = entities();
    entities.actor(1).sendMessage("a");
    if (closed) {
      entities.actor(2).sendMessageLater("later", IDLE);
      entities.actor(2).sendMessageEvery("key", "again", IDLE);
      entities.close();
    } else {
      clock.advance(IDLE.multipliedBy(2));
      Patience.eventually(() -> entities.size() == 0);
    }
    return new WeakReference<>(entities);
  }

  @Test
  void closedOnesAreForgottenByTheClock() {
    assertTrue(LeakProbe.collected(used(true)));
  }

  @Test
  void onesThatNobodyKnowsAreGarbageOnceNoneIsAlive() {
    assertTrue(LeakProbe.collected(used(false)));
  }

  private Entities<Integer, String> lively;

  @Test
  void actorsThatWereIdleAreForgotten() {
    var births = new ArrayList<WeakReference<Object>>();
    lively = Entities.of(IDLE, clock, key -> {
      Actor<String> actor = ActorSystem.anonymous().newActor(message -> {});
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
    var entities = Entities.of(IDLE, clock, births);
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
