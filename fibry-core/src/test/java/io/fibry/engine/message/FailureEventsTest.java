package io.fibry.engine.message;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Actor;
import io.fibry.ActorScope;
import io.fibry.DeadLetter;
import io.fibry.FailurePolicy;
import io.fibry.engine.actor.Cells;
import io.fibry.engine.scope.Scopes;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.support.Patience;
import io.fibry.testing.Gate;
import io.fibry.testing.Promise;
import io.fibry.testing.Recorder;
import io.fibry.testing.Variants;
import io.fibry.time.ManualScheduler;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import jdk.jfr.consumer.RecordedClass;
import jdk.jfr.consumer.RecordedEvent;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

class FailureEventsTest {
  private final ActorScope scope = Variants.scope(o -> o);

  @BeforeAll
  static void assumeRecorderIsPresent() {
    Recorder.assumePresent();
  }

  @AfterEach
  void cleanUp() {
    Gate.openAll();
  }

  private Actor<Object> failingActor(String name, RuntimeException failure) {
    return scope.named(name).onFailure(FailurePolicy.resume().withoutLog()).newActor((Object message) -> {
      if (message instanceof Gate gate) gate.pass();
      throw failure;
    });
  }

  /** Returns the values of the event's fields, in order. */
  private static List<String> fieldValues(RecordedEvent event, String... fields) {
    return List.of(fields).stream().map(field -> event.getValue(field) instanceof RecordedClass type ? type.getName()
        : String.valueOf(event.<Object>getValue(field))).toList();
  }

  private static RecordedEvent onlyEvent(List<RecordedEvent> events) {
    assertEquals(1, events.size(), events::toString);
    return events.getFirst();
  }

  @Promise("15.4")
  @Test
  void failureEventHasActorMessageTypeExceptionAndText() {
    var actor = failingActor("failing", new IllegalStateException("on purpose"));
    try (var recorder = Recorder.of("fibry.Failure")) {
      actor.sendMessage("message");
      actor.close();

      assertEquals(List.of("java.lang.String", "java.lang.IllegalStateException", "on purpose"),
          fieldValues(onlyEvent(recorder.events("failing")), "messageType", "thrown", "text"));
    }
  }

  @Promise("15.4")
  @Test
  void failedRequestIsFailureEvent() {
    var actor = scope.named("asked").onFailure(FailurePolicy.resume().withoutLog())
        .newActorWithReturn((String message) -> Integer.parseInt(message));
    try (var recorder = Recorder.of("fibry.Failure")) {
      Patience.failure(actor.sendMessageReturn("four"));
      actor.close();

      assertEquals(List.of("java.lang.NumberFormatException"),
          fieldValues(onlyEvent(recorder.events("asked")), "thrown"));
    }
  }

  @Promise("15.4")
  @Test
  void exceptionWithThrowingGetMessageIsRecordedAsFailureEvent() {
    var actor = failingActor("unprintable", new Unprintable());
    try (var recorder = Recorder.of("fibry.Failure")) {
      actor.sendMessage(1);
      actor.sendMessage(2);
      actor.close();

      assertEquals(2, recorder.events("unprintable").size());
      assertEquals(2, scope.report().unhandled().get(DeadLetter.Reason.FAILED));
    }
  }

  private static final class Unprintable extends RuntimeException {
    private static final long serialVersionUID = 1;

    @Override
    public String getMessage() {
      throw new StackOverflowError("on purpose");
    }
  }

  @Promise("15.4")
  @Test
  void interruptedExceptionOfKilledActorIsNoFailureEvent() {
    var actor = scope.named("killed").newActor((Object message) -> ((Gate) message).pass());
    try (var recorder = Recorder.of("fibry.Failure")) {
      Gate.occupy(actor);
      actor.kill();
      Patience.awaitEnd(actor::waitForExit);

      assertEquals(List.of(), recorder.events("killed"));
    }
  }

  @Promise("15.5")
  @Test
  void deadLetterEventHasActorMessageTypeAndReason() {
    var actor = failingActor("dead", new IllegalStateException());
    try (var recorder = Recorder.of("fibry.DeadLetter")) {
      actor.sendMessage("failed");
      actor.close();
      actor.sendMessage(1);

      assertEquals(List.of(List.of("java.lang.String", "FAILED"), List.of("java.lang.Integer", "UNDELIVERED")),
          recorder.events("dead").stream().map(event -> fieldValues(event, "messageType", "reason")).toList());
    }
  }

  @Promise("15.5")
  @Test
  void requestToEndedActorIsNoDeadLetterEvent() {
    var actor = failingActor("asked", new IllegalStateException());
    actor.close();
    try (var recorder = Recorder.of("fibry.DeadLetter")) {
      Patience.failure(Cells.sendRequest(actor, "request"));

      assertEquals(List.of(), recorder.events("asked"));
    }
  }

  private record Task() implements Runnable {
    @Override
    public void run() {}
  }

  @Promise("15.5")
  @Test
  void refusedTaskIsDeadLetterEventWithTypeOfTask() {
    var actor = scope.named("full").mailbox(Mailbox.bounded(1, Overflow.DROP_NEWEST))
        .newActor((Object message) -> ((Gate) message).pass());
    try (var recorder = Recorder.of("fibry.DeadLetter")) {
      var gate = Gate.occupy(actor);
      actor.sendMessage(gate);
      assertThrows(RejectedExecutionException.class, () -> actor.execute(new Task()));

      assertEquals(List.of(Task.class.getName(), "DROPPED"),
          fieldValues(onlyEvent(recorder.events("full")), "messageType", "reason"));
    }
  }

  @Promise("15.6")
  @Test
  void restartEventHasActorCauseAndBackoff() {
    var backoff = Duration.ofMillis(1);
    var actor = scope.named("restarted").onFailure(FailurePolicy.restart().withBackoff(backoff, backoff).withoutLog())
        .newActor((Object message) -> {
          throw new IllegalStateException("on purpose");
        });
    try (var recorder = Recorder.of("fibry.Restart")) {
      actor.sendMessage("message");
      actor.close();

      var event = onlyEvent(recorder.events("restarted"));
      assertEquals(List.of("java.lang.IllegalStateException", "on purpose"), fieldValues(event, "cause", "text"));
      assertTrue(event.getDuration("backoff").isPositive()
          && event.getDuration("backoff").compareTo(backoff.multipliedBy(2)) < 0, event::toString);
    }
  }

  @Promise("15.6")
  @Test
  void restartEventForFailureOfSiblingHasNoCause() {
    Scopes.configure(scope, o -> o.withFailurePolicy(FailurePolicy.restartAll()));
    var sibling = scope.named("sibling").newActor((Object message) -> {});
    var culprit = scope.named("failed").onFailure(FailurePolicy.escalate().withoutLog()).newActor((Object message) -> {
      throw new IllegalStateException("on purpose");
    });
    try (var recorder = Recorder.of("fibry.Restart")) {
      culprit.sendMessage("message");
      culprit.close();
      sibling.close();

      assertEquals(List.of("null", "null"), fieldValues(onlyEvent(recorder.events("sibling")), "cause", "text"));
    }
  }

  @Promise("15.6")
  @Test
  void stuckActorEventHasMessageAndDuration() {
    var clock = new ManualScheduler();
    Scopes.configure(scope, o -> o.withScheduler(clock).withWatchdog(Duration.ofSeconds(4), 100));
    var actor = scope.named("stuck").newActor((Object message) -> ((Gate) message).pass());
    try (var recorder = Recorder.of("fibry.StuckActor")) {
      var gate = Gate.occupy(actor);
      for (int i = 0; i < 12; i++) clock.advance(Duration.ofSeconds(1));
      gate.open();
      actor.close();

      var event = onlyEvent(recorder.events("stuck"));
      assertEquals(List.of("io.fibry.testing.Gate"), fieldValues(event, "messageType"));
      assertTrue(event.getDuration("handling").compareTo(Duration.ofSeconds(4)) >= 0, event::toString);
    }
  }

  @Promise("15.7")
  @Test
  void disabledEventsAreNotRecorded() {
    var actor = failingActor("quiet", new IllegalStateException());
    try (var recorder = Recorder.disabled()) {
      actor.sendMessage("failed");
      actor.close();
      actor.sendMessage("undelivered");

      assertTrue(recorder.events("quiet").isEmpty());
    }
  }
}
