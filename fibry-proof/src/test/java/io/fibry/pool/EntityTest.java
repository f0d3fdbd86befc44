package io.fibry.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Schedules;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Two users of an entity race with a sweep or a retirement. {@link UseAgainstPassivation} tests one
 * user under a weaker memory.
 */
@Tag("lincheck")
class EntityTest {
  private static final int SCHEDULES = 700;

  /** Plain fields, which the entity must protect. */
  private static final class Race {
    final Entity<String, String> entity = new Entity<>("key", 0);
    private final int[] handed = new int[2];
    private boolean late;
    private boolean pill;
    private int seen;

    Race() {
      entity.leave(0);
    }

    boolean use(int who, long tick) {
      if (!entity.enter()) return false;
      if (pill) late = true;
      handed[who] = 1;
      entity.leave(tick);
      return true;
    }

    /** Sweeps like the wheel, at a tick when a user that left at 0 is idle. */
    boolean sweep() {
      long word = entity.useState();
      if (Entity.isGone(word) || Entity.isUsed(word) || Entity.tick(word) > 0 || !entity.passivate(word)) return false;
      pill = true;
      seen = handed[0] + handed[1];
      return true;
    }
  }

  @Test
  void userThatEnteredHandsOverBeforePill() {
    Schedules.modelCheck(SCHEDULES, () -> {
      var race = new Race();
      var came = new boolean[3];

      var one = Schedules.start(() -> came[0] = race.use(0, 0));
      var other = Schedules.start(() -> came[1] = race.use(1, 0));
      came[2] = race.sweep();
      Schedules.join(one, other);

      assertFalse(race.late, "handed over after the pill");
      assertTrue(came[2] || came[0] && came[1], "refused without a pill");
      if (came[2]) assertEquals(race.handed[0] + race.handed[1], race.seen, "unseen by who sent the pill");
      if (!came[2]) assertFalse(Entity.isUsed(race.entity.useState()), "somebody is still inside");
    });
  }

  @Test
  void entityUsedSinceSweepIsNotPassivated() {
    Schedules.modelCheck(SCHEDULES, () -> {
      var race = new Race();
      var came = new boolean[2];

      var user = Schedules.start(() -> came[0] = race.use(0, 5));
      came[1] = race.sweep();
      Schedules.join(user);

      assertTrue(came[0] ^ came[1], "used and passivated, or neither");
      if (came[0]) assertEquals(5, Entity.tick(race.entity.useState()));
    });
  }

  @Test
  void retiredEntityStaysGone() {
    Schedules.modelCheck(SCHEDULES, () -> {
      var race = new Race();

      var user = Schedules.start(() -> race.use(0, 5));
      var sweeper = Schedules.start(race::sweep);
      race.entity.markGone();
      Schedules.join(user, sweeper);

      assertTrue(Entity.isGone(race.entity.useState()));
      assertFalse(race.entity.enter());
    });
  }

  @Test
  void theLatestUseCounts() {
    Schedules.modelCheck(SCHEDULES, () -> {
      var race = new Race();

      var user = Schedules.start(() -> race.use(0, 5));
      race.use(1, 7);
      Schedules.join(user);

      assertEquals(7, Entity.tick(race.entity.useState()));
      assertFalse(Entity.isUsed(race.entity.useState()));
    });
  }
}
