package io.fibry.durable;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrowsExactly;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Request;
import io.fibry.codec.Codec;
import io.fibry.store.Store;
import io.fibry.store.folder.FolderStore;
import io.fibry.text.Durations;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests that invalid steps, reminders and messages of a turn are refused, with the expected
 * exception texts.
 */
class BadStepTest extends TurnFixture {
  private static final Duration FOR_EVER = Duration.ofSeconds(Long.MAX_VALUE);
  private static final Durable<Ask> OTHER_KIND = KIND.state(0L).handler((n, ask) -> n);

  private static void assertStarts(String start, String text) {
    assertTrue(text.startsWith(start), text);
  }

  // ---- names

  static Stream<Arguments> names() {
    return Stream.of(Arguments.of("", "takes 0 bytes; 1 to 512 are possible"),
        Arguments.of("ä".repeat(257), "takes 514 bytes; 1 to 512 are possible"),
        Arguments.of("x\ud800", "has half of a surrogate pair"));
  }

  @ParameterizedTest
  @MethodSource("names")
  void invalidStepNameIsRefused(String name, String fact) {
    String text = "the name of a step of notes 'ada' " + fact;

    assertEquals(text, refused(context -> context.step(name, String.class, () -> "x")));
    assertEquals(text, refused(context -> context.idempotencyKey(name)));
    assertEquals(text, refused(context -> none(() -> context.sleep(name, Duration.ZERO))));
  }

  @ParameterizedTest
  @MethodSource("names")
  void invalidReminderNameIsRefused(String name, String fact) {
    String text = "the name of a reminder of notes 'ada' " + fact;

    assertEquals(text, refused(context -> none(() -> context.setReminder(name, new Ask("x"), HOUR))));
    assertEquals(text, refused(context -> none(() -> context.setRepeatingReminder(name, new Ask("x"), HOUR))));
    assertEquals(text, refused(context -> none(() -> context.cancelReminder(name))));
  }

  @ParameterizedTest
  @MethodSource("names")
  void messageToInvalidKeyIsRefused(String key, String fact) {
    assertEquals("an actor of kind 'notes' cannot be made: its key " + fact,
        refused(context -> none(() -> context.sendMessage(OTHER_KIND, key, new Ask("x")))));
  }

  @Test
  void exceptionNamesNullArgument() {
    var ask = new Ask("x");

    assertEquals("name", missing(context -> context.step(null, String.class, () -> "x")));
    assertEquals("type", missing(context -> context.step("s", (Class<String>) null, () -> "x")));
    assertEquals("codec", missing(context -> context.step("s", (Codec<String>) null, () -> "x")));
    assertEquals("effect", missing(context -> context.step("s", String.class, null)));
    assertEquals("name", missing(context -> context.idempotencyKey(null)));
    assertEquals("name", missing(context -> none(() -> context.sleep(null, HOUR))));
    assertEquals("time", missing(context -> none(() -> context.sleep("s", null))));
    assertEquals("name", missing(context -> none(() -> context.setReminder(null, ask, HOUR))));
    assertEquals("message", missing(context -> none(() -> context.setReminder("r", null, HOUR))));
    assertEquals("delay", missing(context -> none(() -> context.setReminder("r", ask, null))));
    assertEquals("period", missing(context -> none(() -> context.setRepeatingReminder("r", ask, null))));
    assertEquals("name", missing(context -> none(() -> context.cancelReminder(null))));
    assertEquals("task", missing(context -> none(() -> context.afterCommit(null))));
    assertEquals("to", missing(context -> none(() -> context.sendMessage(null, "grace", ask))));
    assertEquals("key", missing(context -> none(() -> context.sendMessage(OTHER_KIND, null, ask))));
    assertEquals("the message to notes 'grace' is null",
        missing(context -> none(() -> context.sendMessage(OTHER_KIND, "grace", null))));
  }

  // ---- times

  @Test
  void reminderDelayOutOfRangeIsRefused() {
    for (var delay : List.of(Duration.ZERO, Duration.ofNanos(-1), Duration.ofDays(36_525).plusNanos(1), FOR_EVER)) {
      String text = "reminder 'a\\nb' of notes 'ada' would come after " + Durations.text(delay)
          + "; give more than zero, and at most 100 years";

      assertEquals(text, refused(context -> none(() -> context.setReminder("a\nb", new Ask("x"), delay))));
      assertEquals(text, refused(context -> none(() -> context.setRepeatingReminder("a\nb", new Ask("x"), delay))));
    }
  }

  @Test
  void sleepDurationOutOfRangeIsRefused() {
    for (var time : List.of(Duration.ofNanos(-1), Duration.ofDays(36_526), FOR_EVER))
      assertEquals(
          "sleep 's' of notes 'ada' for " + Durations.text(time) + "; give zero or more, and at most 100 years",
          refused(context -> none(() -> context.sleep("s", time))));
  }

  // ---- steps

  @Test
  void stepIsRefusedUnlessMessageIsStoredOrIdempotent() {
    String text = "notes 'ada' refuses a step: after a crash its message would not be delivered again, because it is "
        + "neither Idempotent nor stored; let the kind store messages";

    assertEquals(text,
        refused(KIND, IllegalStateException.class, context -> context.step("s", String.class, () -> "")));
    assertEquals(text, refused(KIND, IllegalStateException.class, context -> context.idempotencyKey("s")));
    assertEquals(text, refused(KIND, IllegalStateException.class, context -> none(() -> context.sleep("s", HOUR))));
  }

  @Test
  void stepWithUnencodableTypeIsRefusedBeforeItRuns() {
    for (var type : List.of(Object.class, List.class, Thread.class))
      assertStarts("the result of step 's' of notes 'ada' cannot be stored: " + type.getName() + ": ",
          refused(context -> context.step("s", type, () -> {
            throw new AssertionError("the step was run");
          })));
  }

  @Test
  void nestedStepIsRefused() {
    assertEquals("step 'outer' of notes 'ada' failed: java.lang.IllegalStateException: step 'inner' of notes 'ada' is "
        + "in another step",
        refused(KIND.storeMessages(9), StepFailedException.class,
            context -> context.step("outer", String.class, () -> context.step("inner", String.class, () -> "x"))));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"persist", "sendMessage", "setReminder", "setRepeatingReminder", "cancelReminder", "afterCommit",
        "erase", "reply",
        "replyWhen", "replyFailure"})
  void stepFailsWhenItsCodeAddsEffectsToTurn(String call) {
    assertEquals("step 's' of notes 'ada' failed: java.lang.IllegalStateException: the code of step 's' of notes "
        + "'ada' adds to the turn: it replies, persists, sends or erases; if the message is delivered again, this code "
        + "does not run again, and the addition would be missing; do this after the step",
        refused(KIND.storeMessages(9), StepFailedException.class,
            context -> context.step("s", String.class, () -> "" + BadTurnTest.CALLS.get(call).run(context))));
  }

  @Test
  void stepMayReadKeyAndActorFromContext() {
    try (var ada = ada(KIND.storeMessages(9), context -> context.step("s", String.class,
        () -> context.key() + " " + context.self().name() + " " + context.isCancelled()))) {
      assertEquals("ada ada false", ada.ask(new Ask("?")));
    }
  }

  @Test
  void nullStepResultIsRefused() {
    assertEquals(
        "step 's' of notes 'ada' failed: java.lang.NullPointerException: step 's' of notes 'ada' returned null",
        refused(KIND.storeMessages(9), StepFailedException.class,
            context -> context.step("s", String.class, () -> null)));
  }

  @Test
  void stepFailureIsReportedInOneLine() {
    assertEquals("step 'a\\nb' of notes 'ada' failed: java.io.IOException: made up,\\nfor a test",
        refused(KIND.storeMessages(9), StepFailedException.class, context -> context.step("a\nb", String.class, () -> {
          throw new IOException("made up,\nfor a test");
        })));
  }

  @Test
  void stepMayReturnPrimitive() {
    try (var ada = ada(KIND.storeMessages(9), context -> context.step("s", int.class, () -> 7))) {
      assertEquals("7", ada.ask(new Ask("?")));
    }
  }

  record Order(String idempotencyKey, boolean fails) implements Idempotent, Request<Order, String> {}

  /**
   * Sends one order twice; the handler throws after the steps of the first message. The result of
   * the order's first step cannot be stored, so this step fails each time. Returns the second
   * answer, and the steps that were run.
   */
  private String handleTwice(Store targetStore, Callable<String> effect) {
    var effects = new ArrayList<String>();
    var orders = Durable.kind("orders", Order.class).state(0L).handler((n, order, context) -> {
      String firstResult;
      try {
        firstResult = context.step("first", String.class, () -> {
          effects.add("first");
          return effect.call();
        });
      } catch (StepFailedException failure) {
        firstResult = "failed";
      }
      String secondResult = context.step("second", String.class, () -> {
        effects.add("second");
        return "done";
      });
      if (order.fails()) throw new IllegalStateException("made up, for a test");
      context.reply(order, firstResult + " " + secondResult);
      return n;
    });
    try (var ada = orders.newActor(scope.named("ada"), targetStore)) {
      assertThrowsExactly(IllegalStateException.class, () -> ada.ask(new Order("x", true)));
      return ada.ask(new Order("x", false)) + " " + effects;
    }
  }

  @Test
  void failureOfStepWithUnencodableResultIsRemembered() {
    assertEquals("failed done [first, second]", handleTwice(store, () -> "\ud800"));
  }

  @Test
  @SuppressWarnings({"unchecked", "rawtypes"}) // a caller with a raw type could pass such a step
  void failureOfStepWithResultOfWrongTypeIsRemembered() {
    Callable effect = () -> 7;

    assertEquals("failed done [first, second]", handleTwice(store, effect));
  }

  @Test
  void failureOfStepWithTooLargeResultIsRemembered(@TempDir Path folder) {
    try (var smallStore = FolderStore.open(folder, options -> options.withSegmentBytes(1 << 14))) {
      assertEquals("failed done [first, second]", handleTwice(smallStore, () -> "x".repeat(1 << 15)));
    }
  }
}
