package io.fibry.durable;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.durable.Desk.Add;
import io.fibry.durable.Desk.End;
import io.fibry.durable.Desk.Forget;
import io.fibry.durable.Desk.HoldInStep;
import io.fibry.durable.Desk.Items;
import io.fibry.durable.Desk.Message;
import io.fibry.durable.Desk.Remind;
import io.fibry.durable.Desk.RemindAndFail;
import io.fibry.durable.Desk.Repair;
import io.fibry.durable.Desk.Sleep;
import io.fibry.durable.Desk.Tick;
import io.fibry.durable.Desk.Work;
import io.fibry.store.Store;
import io.fibry.support.Patience;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

/** Tests the promises about reminders and steps with every store. */
abstract class RemindersAndStepsContract extends DeskFixture {
  RemindersAndStepsContract(TestStores.Maker maker) {
    super(maker);
  }

  // ---- reminders

  @Test
  void reminderArrivesAtItsTime() throws IOException {
    var firstActor = ada();
    firstActor.sendMessage(new Remind("r", "a", HOUR, false));
    crashAndReopenAfter(firstActor);
    var reloadedActor = ada();

    clock.advance(HOUR.minusSeconds(1));
    assertEquals("", reloadedActor.ask(new Items()));
    clock.advance(Duration.ofMinutes(1));

    eventually(() -> has(reloadedActor, "a"));
  }

  @Test
  void overdueReminderArrivesAfterRestart() throws IOException {
    var firstActor = ada();
    firstActor.sendMessage(new Remind("r", "a", HOUR, false));
    crashAndReopenAfter(firstActor);
    clock.advance(HOUR.multipliedBy(5));

    var reloadedActor = ada();

    eventually(() -> has(reloadedActor, "a"));
    clock.advance(HOUR.multipliedBy(5));
    assertEquals("a", reloadedActor.ask(new Items()));
  }

  @Test
  void repeatingReminderArrivesOnceForAllMissedPeriods() throws IOException {
    var firstActor = ada();
    firstActor.sendMessage(new Remind("r", "a", HOUR, true));
    crashAndReopenAfter(firstActor);
    clock.advance(Duration.ofMinutes(330));
    var reloadedActor = ada();
    eventually(() -> has(reloadedActor, "a"));

    clock.advance(Duration.ofMinutes(29));
    assertEquals("a", reloadedActor.ask(new Items()));
    clock.advance(Duration.ofMinutes(2));

    eventually(() -> has(reloadedActor, "a a"));
  }

  @Test
  void replacedOrCancelledReminderDoesNotArrive() {
    var ada = ada();
    ada.sendMessage(new Remind("r", "a", HOUR, false));
    ada.sendMessage(new Remind("r", "b", HOUR.multipliedBy(2), false));
    ada.sendMessage(new Remind("s", "c", HOUR, false));
    ada.sendMessage(new Forget("s"));
    ada.sendMessage(new Forget("none"));
    ada.ask(new Items());

    clock.advance(HOUR.plusMinutes(2));
    assertEquals("", ada.ask(new Items()));
    clock.advance(HOUR);

    eventually(() -> has(ada, "b"));
  }

  @Test
  void failedTurnSetsNoReminder() {
    var ada = ada();
    ada.sendMessage(new RemindAndFail("r", "a", HOUR));
    ada.ask(new Items());

    clock.advance(HOUR.multipliedBy(2));

    assertEquals("", ada.ask(new Items()));
    assertTrue(store.load(new Store.ActorId("desk", "ada")).pendingIds().isEmpty());
  }

  @Test
  void eraseCancelsReminders() throws IOException {
    var ada = ada();
    ada.sendMessage(new Add("a"));
    ada.sendMessage(new Remind("r", "b", HOUR, true));
    ada.sendMessage(new End());
    assertEquals("", ada.ask(new Items()));

    assertTrue(store.load(new Store.ActorId("desk", "ada")).pendingIds().isEmpty());
  }

  @Test
  void dueReminderLoadsItsActor() {
    try (var desks = desks()) {
      desks.actor("ada").sendMessage(new Remind("r", "a", HOUR, false));
      desks.actor("ada").close();
      eventually(() -> desks.size() <= 1);

      clock.advance(HOUR.plusMinutes(1));

      eventually(() -> store.pending(new Store.ActorId("desk", "ada"), Instant.MAX, 9).isEmpty());
      assertEquals("a", desks.actor("ada").ask(new Items()));
    }
  }

  @Test
  void invalidReminderDelayOrNameIsRefused() {
    var ada = Durable.kind("strict", Message.class).state(Desk.EMPTY).handler((state, message, context) -> {
      assertThrows(IllegalArgumentException.class, () -> context.setReminder("r", new Add("a"), Duration.ZERO));
      assertThrows(IllegalArgumentException.class, () -> context.setReminder("", new Add("a"), HOUR));
      assertThrows(IllegalArgumentException.class, () -> context.setReminder("\ud800", new Add("a"), HOUR));
      var failure = assertThrows(IllegalArgumentException.class,
          () -> context.setRepeatingReminder("r", new Add("a"), Duration.ofDays(40_000)));
      context.reply((Items) message, failure.getMessage());
      return state;
    }).newActor(scope.named("ada"), store);

    assertEquals("reminder 'r' of strict 'ada' would come after 40000 d; give more than zero, and at most 100 years",
        ada.ask(new Items()));
  }

  // ---- steps

  @Test
  void storedStepIsNotRunAgainAfterCrash() throws IOException {
    var firstAda = ada();
    assertThrows(IllegalStateException.class, () -> firstAda.ask(new Work("w", List.of("charge", "ship", "ship"), 2)));
    crashAndReopen(firstAda);

    String results = ada().ask(new Work("w", List.of("charge", "ship", "ship"), 0));

    assertEquals("result-1 result-2 result-3", results);
    assertEquals(List.of("desk/ada/once:w/charge", "desk/ada/once:w/ship", "desk/ada/once:w/ship"), desk.effects);
  }

  @Test
  void stepRepeatedAfterCrashHasSameIdempotencyKey() throws IOException {
    desk.gates.put("closed", new CountDownLatch(1));
    desk.gates.put("open", new CountDownLatch(0));
    var firstActor = ada();
    firstActor.sendMessageReturn(new HoldInStep("h", "closed"));
    Patience.acquire(desk.begun);
    crashAndReopen(firstActor);

    String result = ada().ask(new HoldInStep("h", "open"));

    assertEquals("result-2", result);
    assertEquals(List.of("desk/ada/once:h/charge", "desk/ada/once:h/charge"), desk.effects);
  }

  @Test
  void failureOfStepIsRememberedAcrossCrash() throws IOException {
    var firstActor = ada();
    assertThrows(IllegalStateException.class, () -> firstActor.ask(new Repair("r", true)));
    crashAndReopen(firstActor);

    String results = ada().ask(new Repair("r", false));

    assertEquals("step 'charge' of desk 'ada' failed: java.io.IOException: made up, for a test result-2", results);
    assertEquals(List.of("charge", "refund"), desk.effects);
  }

  @Test
  void stepsAfterCancelledStepFailUntilMessageIsRetried() {
    var ada = Durable.kind("payer", Message.class).state(Desk.EMPTY).handler((state, message, context) -> {
      String outcome;
      try {
        outcome = context.step("charge", String.class, () -> {
          desk.effects.add("charge");
          if (desk.effects.size() == 1) throw new CancellationException("made up, for a test");
          return "charged";
        });
      } catch (CancellationException failure) {
        outcome = context.step("refund", String.class, () -> "refunded");
      }
      context.reply((Work) message, outcome);
      return state;
    }).newActor(scope.named("ada"), store);
    var request = new Work("w", List.of(), 0);

    assertThrows(CancellationException.class, () -> ada.ask(request));
    assertEquals("charged", ada.ask(request));

    assertEquals(List.of("charge", "charge"), desk.effects);
  }

  @Test
  void eachReminderOccurrenceRunsItsOwnSteps() {
    var ada = ada();
    ada.sendMessage(new Tick(HOUR));
    ada.ask(new Items());

    clock.advance(HOUR);
    eventually(() -> has(ada, "result-1"));
    clock.advance(HOUR);

    eventually(() -> has(ada, "result-1 result-2"));
    assertEquals(2, Set.copyOf(desk.effects).size(), desk.effects.toString());
  }

  @Test
  void turnFailsWhenRepeatedMessageRunsOtherSteps() {
    var ada = ada();
    assertThrows(IllegalStateException.class, () -> ada.ask(new Work("w", List.of("charge", "ship"), 2)));

    var failure =
        assertThrows(StepMismatchException.class, () -> ada.ask(new Work("w", List.of("charge", "mail"), 0)));

    assertEquals("desk 'ada' did step 'ship' as number 2 when this message came before, and now it does 'mail'; keep "
        + "the names and the order of the steps in a changed handler, or handle a new type of message",
        failure.getMessage());
  }

  @Test
  void sleepFailsTurnUnlessMessageIsStoredOrIdempotent() {
    var ada = ada();
    ada.sendMessage(new Sleep("a", HOUR));

    assertEquals("", ada.ask(new Items()));
  }

  @Test
  void sleepContinuesAfterCrash() throws IOException {
    var firstActor = keeping().newActor(scope.named("ada"), store);
    firstActor.sendMessage(new Sleep("a", HOUR.multipliedBy(2)));
    awaitSleep();
    clock.advance(HOUR);
    crashAndReopen(firstActor);
    desk.sleeper = null;
    var reloadedActor = keeping().newActor(scope.named("ada"), store);
    awaitSleep();

    clock.advance(HOUR.minusSeconds(1));
    awaitSleep();
    assertEquals(1, store.pending(new Store.ActorId("keeping", "ada"), instants().instant(), 9).size());
    eventually(() -> {
      clock.advance(Duration.ofSeconds(1));
      return store.pending(new Store.ActorId("keeping", "ada"), instants().instant(), 9).isEmpty();
    });

    assertEquals("a", reloadedActor.ask(new Items()));
  }

  private void awaitSleep() {
    eventually(() -> desk.sleeper != null && clock.isAsleep(desk.sleeper));
  }
}
