package io.fibry.durable;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Actor;
import io.fibry.Request;
import io.fibry.durable.Desk.Ball;
import io.fibry.durable.Desk.Buy;
import io.fibry.durable.Desk.Checkout;
import io.fibry.durable.Desk.Items;
import io.fibry.durable.Desk.Message;
import io.fibry.durable.Desk.Note;
import io.fibry.durable.Desk.Pass;
import io.fibry.durable.Desk.PassAndFail;
import io.fibry.durable.Desk.Work;
import io.fibry.support.Soak;
import java.io.IOException;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Tests the promises about messages of turns and idempotent messages, with every store. */
abstract class OutboxAndOnceContract extends DeskFixture {
  private static final int MANY = Soak.ON ? 300 : 100;

  OutboxAndOnceContract(TestStores.Maker maker) {
    super(maker);
  }

  // ---- messages of turns

  @Test
  void messageSentByTurnIsHandledOnce() throws IOException {
    try (var desks = desks()) {
      for (int i = 0; i < MANY; i++) desks.actor("ada").sendMessage(new Pass("grace", "i" + i));
      String expectedItems = IntStream.range(0, MANY).mapToObj(i -> "i" + i).collect(Collectors.joining(" "));

      eventually(() -> has(desks.actor("grace"), expectedItems));
    }
    store = crash(store);
    try (var desks = desks()) {
      assertEquals(MANY, desks.actor("grace").ask(new Items()).split(" ").length);
    }
  }

  /** The clock does not advance, so a ball that waited for a timer would never arrive. */
  @Test
  void messagesSentByTurnsAreDeliveredWithoutTimer() {
    try (var desks = desks()) {
      for (int i = 0; i < 3; i++) desks.actor("ada").sendMessage(new Ball("grace", Soak.ON ? 600 : 60));

      eventually(() -> has(desks.actor("ada"), "end end end"));
    }
  }

  @Test
  void failedTurnSendsNoMessage() {
    try (var desks = desks()) {
      desks.actor("ada").sendMessage(new PassAndFail("grace", "never"));
      desks.actor("ada").sendMessage(new Pass("grace", "later"));

      eventually(() -> has(desks.actor("grace"), "later"));
    }
  }

  @Test
  void messageSentByTurnWaitsUntilReceiverIsLoaded() throws IOException {
    try (var desks = desks()) {
      desk.others = desk.kind("elsewhere");
      desks.actor("ada").sendMessage(new Pass("grace", "a"));
      desks.actor("ada").ask(new Items()); // waits until the turn is stored
    }
    store = crash(store);

    var grace = desk.kind("elsewhere").newActor(scope.named("grace"), store);

    eventually(() -> has(grace, "a"));
  }

  @Test
  void actorMaySendToItselfDuringItsTurn() {
    var ada = ada();

    ada.sendMessage(new Pass("ada", "a"));

    eventually(() -> has(ada, "a"));
  }

  record Started(Thread by) {}

  @Test
  void unencodableMessageOrEmptyKeyIsRefusedAtSend() {
    var unencodable = Durable.kind("formless", Started.class).state(0L).handler((n, started) -> n);
    var actor = Durable.kind("failing", Message.class).state(Desk.EMPTY).handler((state, message, context) -> {
      var codecFailure = assertThrows(IllegalArgumentException.class,
          () -> context.sendMessage(unencodable, "ada", new Started(Thread.currentThread())));
      var keyFailure = assertThrows(IllegalArgumentException.class, () -> context.sendMessage(unencodable, "", null));
      context.reply((Items) message, codecFailure.getMessage() + "\n" + keyFailure.getMessage());
      return state;
    }).newActor(scope.named("ada"), store);

    var texts = actor.ask(new Items()).split("\n");

    assertTrue(
        texts[0].startsWith("messages of " + Started.class.getName() + " cannot be encoded, so they cannot be "
            + "stored: "),
        texts[0]);
    assertEquals("an actor of kind 'formless' cannot be made: its key takes 0 bytes; 1 to 512 are possible",
        texts[1]);
  }

  // ---- idempotent messages

  @Test
  void repeatedRequestGetsFirstAnswer() throws IOException {
    var firstActor = ada();
    assertEquals(1, firstActor.ask(new Buy("x", "a")));
    assertEquals(2, firstActor.ask(new Buy("y", "b")));
    assertEquals(1, firstActor.ask(new Buy("x", "a")));
    assertEquals(1, firstActor.ask(new Buy("x", "another item")), "only the keys are compared");
    firstActor.sendMessage(new Note("z", "c"));
    crashAndReopenAfter(firstActor);

    var reloadedActor = ada();

    assertEquals(1, reloadedActor.ask(new Buy("x", "a")));
    reloadedActor.sendMessage(new Note("z", "c"));
    assertEquals("a b c", reloadedActor.ask(new Items()));
  }

  /** The answer is stored without its type, so only an answer that cannot be decoded is noticed. */
  @Test
  void requestOfOtherTypeWithKnownKeyFails() throws IOException {
    var firstActor = ada();
    assertEquals(1, firstActor.ask(new Buy("x", "a")));
    assertKeyIsRefused(firstActor);
    assertEquals(1, firstActor.ask(new Checkout("x")), "both answers are numbers");
    crashAndReopenAfter(firstActor);

    var reloadedActor = ada();

    assertKeyIsRefused(reloadedActor);
    assertEquals(1, reloadedActor.ask(new Buy("x", "a")));
    assertEquals("a", reloadedActor.ask(new Items()));
    assertEquals(List.of(), desk.effects);
  }

  private static void assertKeyIsRefused(Actor<Message> actor) {
    var failure =
        assertThrows(IllegalArgumentException.class, () -> actor.ask(new Work("x", List.of("charge"), 0)));
    assertTrue(failure.getMessage().startsWith("the idempotency key \"x\" of Work to "), failure.getMessage());
    assertTrue(failure.getMessage().contains("the remembered answer cannot be an answer to Work: "),
        failure.getMessage());
  }

  @Test
  void eraseRetainsRememberedAnswers() throws IOException {
    var firstActor = ada();
    firstActor.ask(new Buy("x", "a"));
    assertEquals(1, firstActor.ask(new Checkout("y")));
    assertEquals(1, firstActor.ask(new Checkout("y")));
    assertEquals("", firstActor.ask(new Items()));
    crashAndReopenAfter(firstActor);

    var reloadedActor = ada();

    assertEquals(1, reloadedActor.ask(new Checkout("y")));
    assertEquals(1, reloadedActor.ask(new Buy("x", "a")));
    assertEquals("", reloadedActor.ask(new Items()));
    assertEquals(1, reloadedActor.ask(new Buy("z", "b")));
  }

  @Test
  void eraseRetainsStepResultsForRepeatedRequest() throws IOException {
    var firstActor = ada();
    assertThrows(IllegalStateException.class, () -> firstActor.ask(new Work("x", List.of("charge", "ship"), 1)));
    firstActor.sendMessage(new Desk.End());
    crashAndReopenAfter(firstActor);

    var reloadedActor = ada();

    assertEquals("result-1 result-2", reloadedActor.ask(new Work("x", List.of("charge", "ship"), 0)));
    assertEquals(2, desk.effects.size());
  }

  @Test
  void repeatedRequestIsHandledAfterItsAnswerIsForgotten() {
    var actor = Durable.kind("few", Message.class).deduplicate(2, HOUR).state(Desk.EMPTY).handler(desk::handle)
        .newActor(scope.named("ada"), store);
    for (var id : List.of("x", "y", "z")) actor.ask(new Buy(id, id));

    assertEquals(4, actor.ask(new Buy("x", "again")));
    assertEquals(4, actor.ask(new Buy("x", "again")));
    clock.advance(HOUR.plusSeconds(1));
    assertEquals(5, actor.ask(new Buy("x", "after an hour")));
  }

  @Test
  void rememberedAnswersOfManyTurnsAreReloaded() throws IOException {
    var firstActor = ada();
    for (int i = 0; i < MANY; i++) assertEquals(i + 1, firstActor.ask(new Buy("o" + i, "i")));
    crashAndReopen(firstActor);

    var reloadedActor = ada();

    for (int i = 0; i < MANY; i++) assertEquals(i + 1, reloadedActor.ask(new Buy("o" + i, "i")));
  }

  record Odd(String idempotencyKey) implements Idempotent, Request<Odd, Thread> {}

  @Test
  void unencodableAnswerIsRefusedWhenKindIsDefined() {
    var failure = assertThrows(IllegalArgumentException.class,
        () -> Durable.kind("odd", Odd.class).state(0L).handler((state, message) -> state));

    assertTrue(failure.getMessage().startsWith(Odd.class.getName()
        + " is Idempotent, and its answer cannot be remembered: answers to "), failure.getMessage());
  }
}
