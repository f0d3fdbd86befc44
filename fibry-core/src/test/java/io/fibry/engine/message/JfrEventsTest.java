package io.fibry.engine.message;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Actor;
import io.fibry.ActorBuilder;
import io.fibry.ActorScope;
import io.fibry.AskTimeoutException;
import io.fibry.CountingPropagator;
import io.fibry.DeadLetter;
import io.fibry.FailurePolicy;
import io.fibry.Gate;
import io.fibry.Promise;
import io.fibry.Recorder;
import io.fibry.Strategy;
import io.fibry.Variants;
import io.fibry.engine.cell.Cell;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.support.Patience;
import io.fibry.time.ManualScheduler;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import jdk.jfr.FlightRecorder;
import jdk.jfr.consumer.RecordedEvent;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Events of a flight recording: each once, with its facts. */
class JfrEventsTest {
  private static final Duration MOMENT = Duration.ofMillis(30);

  private final long begun = System.nanoTime();

  private final ActorScope scope = Variants.scope(o -> o);

  @BeforeAll
  static void thereIsARecorder() {
    Recorder.assumePresent();
  }

  @AfterEach
  void cleanUp() {
    Gate.openAll();
  }

  /** Takes a moment of a handler's time. */
  private static void dawdle() {
    long end = System.nanoTime() + MOMENT.toNanos();
    for (long left = MOMENT.toNanos(); left > 0; left = end - System.nanoTime()) LockSupport.parkNanos(left);
  }

  private static RecordedEvent only(List<RecordedEvent> events) {
    assertEquals(1, events.size(), events::toString);
    return events.getFirst();
  }

  private static RecordedEvent only(List<RecordedEvent> events, Class<?> message) {
    return only(events.stream().filter(event -> type(event).equals(message.getName())).toList());
  }

  private static String type(RecordedEvent event) {
    return event.getClass("messageType").getName();
  }

  /** And not longer than this test, as a wrong unit would make it. */
  private void takesAMoment(Duration time) {
    var test = Duration.ofNanos(System.nanoTime() - begun);
    assertTrue(time.compareTo(MOMENT.dividedBy(2)) > 0 && time.compareTo(test) <= 0, () -> time + " of " + test);
  }

  /** Passes gates, and takes a moment for other messages. */
  private Actor<Object> slow(ActorBuilder<Object> builder) {
    return builder.newActor((Object message) -> {
      if (message instanceof Gate gate) gate.pass();
      else dawdle();
    });
  }

  // ---- messages

  @Promise("15.1")
  @Test
  void aMessageHasActorTypeWaitAndHandling() throws Exception {
    var actor = slow(scope.named("slow"));
    try (var recorder = Recorder.of("fibry.Message")) {
      var gate = Gate.occupy(actor);
      actor.sendMessage("message");
      dawdle();
      gate.open();
      actor.close();

      var event = only(recorder.events("slow"), String.class);
      takesAMoment(event.getDuration("wait"));
      takesAMoment(event.getDuration());
    }
  }

  @Promise("15.1")
  @Test
  void aMessageBelowTheThresholdIsNotRecorded() {
    var actor = slow(scope.named("quick"));
    try (var recorder = Recorder.of("fibry.Message", Duration.ofHours(1))) {
      actor.sendMessage("message");
      actor.close();

      assertEquals(List.of(), recorder.events("quick"));
    }
  }

  @Promise("15.1")
  @Test
  void theThresholdsOfMessagesAndAsksAre20Milliseconds() {
    JfrEvents.isRecordingMessages(); // the recorder learns of the types at first use
    var thresholds = FlightRecorder.getFlightRecorder().getEventTypes().stream()
        .filter(type -> Set.of("fibry.Message", "fibry.AskWait").contains(type.getName()))
        .flatMap(type -> type.getSettingDescriptors().stream().filter(setting -> setting.getName().equals("threshold"))
            .map(setting -> type.getName() + " " + setting.getDefaultValue()))
        .collect(Collectors.toSet());

    assertEquals(Set.of("fibry.Message 20 ms", "fibry.AskWait 20 ms"), thresholds);
  }

  private record Task() implements Runnable {
    @Override
    public void run() {}
  }

  @Promise("15.1")
  @Test
  void requestsTasksAndBlocksAreMessages() {
    var actor = scope.named("several").newActorWithReturn((Object message) -> message);
    try (var recorder = Recorder.of("fibry.Message")) {
      actor.ask("request");
      actor.execute(new Task());
      actor.sendMessages(List.of(1, 2L));
      actor.close();

      assertEquals(List.of(String.class.getName(), Task.class.getName(), Integer.class.getName(), Long.class.getName()),
          recorder.events("several").stream().map(JfrEventsTest::type).toList());
    }
  }

  @Promise("15.1")
  @Test
  void aRequestHandledOnItsAskersThreadDidNotWait() {
    var actor = scope.named("inline").inlineRequests().newActorWithReturn((String message) -> message);
    try (var recorder = Recorder.of("fibry.Message")) {
      Patience.joined(Patience.startFiber(() -> actor.ask("request")));

      assertEquals(0, only(recorder.events("inline")).getLong("wait"));
    }
  }

  @Promise("15.1")
  @Test
  void theWaitOfATimersMessageBeginsWhenItIsDue() throws Exception {
    var clock = new ManualScheduler();
    var actor = Variants.scope(o -> o.withScheduler(clock)).named("timed").strategy(Strategy.CALLER)
        .newActor((String message) -> {});
    try (var recorder = Recorder.of("fibry.Message")) {
      long started = System.nanoTime();
      actor.sendMessageLater("message", Duration.ofMinutes(1));
      dawdle();
      long before = System.nanoTime() - started;
      clock.advance(Duration.ofMinutes(1));
      long all = System.nanoTime() - started;

      long wait = only(recorder.events("timed")).getLong("wait");
      assertTrue(wait >= 0 && wait <= all - before, wait + " of " + all);
    }
  }

  @Promise("15.1")
  @Test
  void aMessageSentBeforeTheRecordingHasAnUnknownWait() {
    var actor = slow(scope.named("early"));
    var gate = Gate.occupy(actor);
    actor.sendMessage("message");
    try (var recorder = Recorder.of("fibry.Message")) {
      gate.open();
      actor.close();

      assertEquals(Long.MIN_VALUE, only(recorder.events("early"), String.class).getLong("wait"));
    }
  }

  @Promise("15.7")
  @Test
  void messagesAreStampedOnlyWhileTheyAreRecorded() {
    var cell = (Cell) scope.anonymous().newActor((Object message) -> {});

    assertNull(cell.baggage("message"));
    try (var recorder = Recorder.of("fibry.Message")) {
      assertNotNull(cell.baggage("message"));
      recorder.events();
    }
    assertNull(cell.baggage("message"));
  }

  @Promise("15.7")
  @Test
  void messageEventLeavesBaggageOfCarriers() {
    var user = new CountingPropagator("user");
    var actor =
        Variants.scope(o -> o.withContextPropagator(user)).named("carrying")
            .newActorWithReturn((String message) -> user.get());
    try (var recorder = Recorder.of("fibry.Message")) {
      user.with("alice", () -> assertEquals("alice", actor.ask("who?")));
      actor.close();

      assertTrue(only(recorder.events("carrying")).getLong("wait") >= 0);
    }
  }

  @Promise("15.7")
  @Test
  void recordingsThatComeAndGoHarmNoMessage() {
    int rounds = 4;
    var actor = scope.anonymous().newActorWithReturn((Integer message) -> message);
    var ended = new CountDownLatch(1);
    var sender = Thread.ofVirtual().start(() -> {
      for (int i = 0; ended.getCount() > 0; i++) {
        actor.sendMessage(i);
        assertEquals(i, actor.ask(i));
      }
      actor.close();
    });
    long before = 0;

    for (int round = 0; round < rounds; round++) {
      try (var recorder = Recorder.of("fibry.Message", Duration.ofHours(1))) {
        before = handledMore(before);
        recorder.events();
      }
      before = handledMore(before);
    }
    ended.countDown();

    Patience.joined(sender);
    assertEquals(0, scope.report().unhandled().get(DeadLetter.Reason.FAILED));
  }

  private long handledMore(long before) {
    Patience.eventually(() -> scope.report().handled() > before + 100);
    return scope.report().handled();
  }

  // ---- waits

  @Promise("15.2")
  @Test
  void anAskHasActorTypeAndEndOnTheAskersThread() {
    var actor = scope.named("asked").newActorWithReturn((Object message) -> {
      dawdle();
      return message;
    });
    try (var recorder = Recorder.of("fibry.AskWait")) {
      actor.ask("request");

      var event = only(recorder.events("asked"));
      assertEquals("java.lang.String answered", type(event) + " " + event.getString("ended"));
      assertEquals(Thread.currentThread().threadId(), event.getThread().getJavaThreadId());
      takesAMoment(event.getDuration());
    }
  }

  @Promise("15.2")
  @Test
  void anAskThatFailedSaysWhatWasThrown() {
    var actor =
        scope.named("failing").onFailure(FailurePolicy.resume().withoutLog()).newActorWithReturn((Object message) -> {
          if (message instanceof Gate gate) gate.pass();
          throw new IOException("on purpose");
        });
    try (var recorder = Recorder.of("fibry.AskWait")) {
      assertThrows(IOException.class, () -> actor.ask("request"));
      assertThrows(AskTimeoutException.class, () -> actor.ask(new Gate(), Duration.ofMillis(1)));

      assertEquals(List.of(IOException.class.getName(), AskTimeoutException.class.getName()),
          recorder.events("failing").stream().map(event -> event.getString("ended")).toList());
    }
  }

  @Promise("15.2")
  @Test
  void anAskBelowTheThresholdIsNotRecorded() {
    var actor = scope.named("prompt").newActorWithReturn((Object message) -> message);
    try (var recorder = Recorder.of("fibry.AskWait", Duration.ofHours(1))) {
      actor.ask("request");

      assertEquals(List.of(), recorder.events("prompt"));
    }
  }

  @Promise("15.3")
  @ParameterizedTest
  @EnumSource(names = {"REJECT", "DROP_NEWEST", "DROP_OLDEST"})
  void fullMailboxEventNamesOverflowAction(Overflow overflow) {
    var actor = slow(scope.named("full").mailbox(Mailbox.bounded(2, overflow)));
    var gate = Gate.occupy(actor);
    try (var recorder = Recorder.of("fibry.MailboxPressure")) {
      for (int i = 0; i < 3; i++) actor.sendMessage(i);
      gate.open();
      actor.close();

      var event = only(recorder.events("full"));
      assertEquals(overflow == Overflow.REJECT ? "rejected" : "dropped", event.getString("happened"));
      assertEquals(2, event.getInt("capacity"));
    }
  }

  @Test
  void slowMailboxEventNamesForeseenWait() throws Exception {
    var actor = slow(scope.named("slow").mailbox(Mailbox.bounded(9, Overflow.REJECT).withMaxWait(Duration.ofNanos(1))));
    Gate.occupy(actor);
    actor.sendMessage(1);
    try (var recorder = Recorder.of("fibry.MailboxPressure")) {
      dawdle();
      actor.sendMessage(2);

      var event = only(recorder.events("slow"));
      assertEquals("rejected", event.getString("happened"));
      takesAMoment(event.getDuration("foreseen"));
    }
  }

  @Promise("15.3")
  @Test
  void senderThatWaitedForRoomRecordsWait() throws Exception {
    var actor = slow(scope.named("crowded").mailbox(Mailbox.bounded(1, Overflow.BLOCK)));
    var gate = Gate.occupy(actor);
    actor.sendMessage(1);
    try (var recorder = Recorder.of("fibry.MailboxPressure")) {
      var sender = Patience.startFiber(() -> actor.sendMessage(2));
      Patience.parked(sender);
      dawdle();
      gate.open();
      Patience.joined(sender);

      var event = only(recorder.events("crowded"));
      assertEquals("waited", event.getString("happened"));
      takesAMoment(event.getDuration());
    }
  }

  @Promise("15.3")
  @Test
  void senderThatWaitedInVainRecordsRejection() {
    var actor = slow(scope.named("crowded").mailbox(Mailbox.bounded(1, Overflow.BLOCK)));
    Gate.occupy(actor);
    actor.sendMessage(1);
    try (var recorder = Recorder.of("fibry.MailboxPressure")) {
      var sender = Patience.startFiber(() -> actor.sendMessage(2));
      Patience.parked(sender);
      actor.askExit();
      Patience.joined(sender);

      assertEquals("waited in vain", only(recorder.events("crowded")).getString("happened"));
    }
  }
}
