package io.fibry.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Schedules;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Tests one or two users of an entity while another thread passivates it or marks it as gone.
 * {@link UseAgainstPassivation} tests one user under a weaker memory model.
 */
@Tag("lincheck")
class EntityTest {
  private static final int SCHEDULES = 700;

  /** An entity, and plain fields that it must protect. */
  private static final class Race {
    final Entity<String, String> entity = new Entity<>("key", 0);
    private final int[] sentMessages = new int[2];
    private boolean sentAfterPill;
    private boolean isPillSent;
    private int seenMessages;

    Race() {
      entity.leave(0);
    }

    boolean use(int user, long tick) {
      if (!entity.enter()) return false;
      if (isPillSent) sentAfterPill = true;
      sentMessages[user] = 1;
      entity.leave(tick);
      return true;
    }

    /**
     * Passivates the entity as {@link IdleWheel} does, unless it is in use, or was used after
     * tick 0.
     */
    boolean sweep() {
      long useState = entity.useState();
      if (Entity.isGone(useState) || Entity.isUsed(useState) || Entity.tick(useState) > 0
          || !entity.passivate(useState))
        return false;
      isPillSent = true;
      seenMessages = sentMessages[0] + sentMessages[1];
      return true;
    }
  }

  @Test
  void userOfEntityIsRefusedOrSendsBeforePoisonPill() {
    Schedules.modelCheck(SCHEDULES, () -> {
      var race = new Race();
      var succeeded = new boolean[3];

      var firstUser = Schedules.start(() -> succeeded[0] = race.use(0, 0));
      var secondUser = Schedules.start(() -> succeeded[1] = race.use(1, 0));
      succeeded[2] = race.sweep();
      Schedules.join(firstUser, secondUser);

      assertFalse(race.sentAfterPill, "a message was sent after the pill");
      assertTrue(succeeded[2] || succeeded[0] && succeeded[1], "a user was refused without a pill");
      if (succeeded[2]) assertEquals(race.sentMessages[0] + race.sentMessages[1], race.seenMessages,
          "the sweeper did not see all messages");
      if (!succeeded[2]) assertFalse(Entity.isUsed(race.entity.useState()), "a user has not left");
    });
  }

  @Test
  void entityIsEitherUsedOrPassivatedWhenUseRacesWithSweep() {
    Schedules.modelCheck(SCHEDULES, () -> {
      var race = new Race();
      var succeeded = new boolean[2];

      var user = Schedules.start(() -> succeeded[0] = race.use(0, 5));
      succeeded[1] = race.sweep();
      Schedules.join(user);

      assertTrue(succeeded[0] ^ succeeded[1], "used and passivated, or neither");
      if (succeeded[0]) assertEquals(5, Entity.tick(race.entity.useState()));
    });
  }

  @Test
  void entityMarkedAsGoneRefusesUsers() {
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
  void timeOfLaterConcurrentUseIsRecorded() {
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
