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
import io.fibry.DeadLetter;
import io.fibry.FailurePolicy;
import io.fibry.Strategy;
import io.fibry.engine.cell.Cell;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.spi.MultiStepMessage;
import io.fibry.support.Patience;
import io.fibry.testing.Gate;
import io.fibry.testing.Promise;
import io.fibry.testing.Recorder;
import io.fibry.testing.RecordingPropagator;
import io.fibry.testing.Variants;
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

/** Tests that each event is recorded once in a flight recording, with the right fields. */
class JfrEventsTest {
  private static final Duration MOMENT = Duration.ofMillis(30);

  private final long testStart = System.nanoTime();

  private final ActorScope scope = Variants.scope(o -> o);

  @BeforeAll
  static void assumeRecorderIsPresent() {
    Recorder.assumePresent();
  }

  @AfterEach
  void cleanUp() {
    Gate.openAll();
  }

  /** Pauses for {@link #MOMENT}. */
  private static void pauseForMoment() {
    long end = System.nanoTime() + MOMENT.toNanos();
    for (long left = MOMENT.toNanos(); left > 0; left = end - System.nanoTime()) LockSupport.parkNanos(left);
  }

  private static RecordedEvent onlyEvent(List<RecordedEvent> events) {
    assertEquals(1, events.size(), events::toString);
    return events.getFirst();
  }

  private static RecordedEvent onlyEvent(List<RecordedEvent> events, Class<?> message) {
    return onlyEvent(events.stream().filter(event -> type(event).equals(message.getName())).toList());
  }

  private static String type(RecordedEvent event) {
    return event.getClass("messageType").getName();
  }

  /**
   * Checks that the time is at least half of {@link #MOMENT} and at most as long as this test. A
   * time in a wrong unit would be outside of this range.
   */
  private void assertTakesMoment(Duration time) {
    var sinceTestStart = Duration.ofNanos(System.nanoTime() - testStart);
    assertTrue(time.compareTo(MOMENT.dividedBy(2)) > 0 && time.compareTo(sinceTestStart) <= 0,
        () -> time + " of " + sinceTestStart);
  }

  /** Creates an actor that passes gates, and pauses for a moment at other messages. */
  private Actor<Object> newSlowActor(ActorBuilder<Object> builder) {
    return builder.newActor((Object message) -> {
      if (message instanceof Gate gate) gate.pass();
      else pauseForMoment();
    });
  }

  // ---- messages

  @Promise("15.1")
  @Test
  void messageEventRecordsActorTypeWaitAndHandlingTime() throws Exception {
    var actor = newSlowActor(scope.named("slow"));
    try (var recorder = Recorder.of("fibry.Message")) {
      var gate = Gate.occupy(actor);
      actor.sendMessage("message");
      pauseForMoment();
      gate.open();
      actor.close();

      var event = onlyEvent(recorder.events("slow"), String.class);
      assertTakesMoment(event.getDuration("wait"));
      assertTakesMoment(event.getDuration());
    }
  }

  @Promise("15.1")
  @Test
  void messageHandledWithinThresholdIsNotRecorded() {
    var actor = newSlowActor(scope.named("quick"));
    try (var recorder = Recorder.of("fibry.Message", Duration.ofHours(1))) {
      actor.sendMessage("message");
      actor.close();

      assertEquals(List.of(), recorder.events("quick"));
    }
  }

  @Promise("15.1")
  @Test
  void defaultThresholdOfMessageAndAskEventsIs20Milliseconds() {
    JfrEvents.isRecordingMessages(); // registers the event types
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
  void requestsTasksAndMessageListsHaveMessageEvents() {
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

  private record Connection() implements MultiStepMessage {
    @Override
    public Object currentStep() {
      return null;
    }

    @Override
    public long completedSteps() {
      return 2;
    }
  }

  @Promise("15.1")
  @Test
  void messageOfManyStepsIsNotRecorded() {
    var actor = scope.named("server").newActor((Object message) -> {});
    try (var recorder = Recorder.of("fibry.Message")) {
      actor.sendMessage(new Connection());
      actor.sendMessage("message");
      actor.close();

      assertEquals(String.class.getName(), type(onlyEvent(recorder.events("server"))));
      assertEquals(3, scope.report().handled());
    }
  }

  @Promise("15.1")
  @Test
  void eventOfInlineRequestHasWaitOfZero() {
    var actor = scope.named("inline").inlineRequests().newActorWithReturn((String message) -> message);
    try (var recorder = Recorder.of("fibry.Message")) {
      Patience.awaitEnd(Patience.startFiber(() -> actor.ask("request")));

      assertEquals(0, onlyEvent(recorder.events("inline")).getLong("wait"));
    }
  }

  @Promise("15.1")
  @Test
  void waitOfTimerMessageBeginsWhenItIsDue() throws Exception {
    var clock = new ManualScheduler();
    var actor = Variants.scope(o -> o.withScheduler(clock)).named("timed").strategy(Strategy.CALLER)
        .newActor((String message) -> {});
    try (var recorder = Recorder.of("fibry.Message")) {
      long start = System.nanoTime();
      actor.sendMessageLater("message", Duration.ofMinutes(1));
      pauseForMoment();
      long beforeDue = System.nanoTime() - start;
      clock.advance(Duration.ofMinutes(1));
      long totalNanos = System.nanoTime() - start;

      long wait = onlyEvent(recorder.events("timed")).getLong("wait");
      assertTrue(wait >= 0 && wait <= totalNanos - beforeDue, wait + " of " + totalNanos);
    }
  }

  @Promise("15.1")
  @Test
  void messageSentBeforeRecordingHasUnknownWait() {
    var actor = newSlowActor(scope.named("early"));
    var gate = Gate.occupy(actor);
    actor.sendMessage("message");
    try (var recorder = Recorder.of("fibry.Message")) {
      gate.open();
      actor.close();

      assertEquals(Long.MIN_VALUE, onlyEvent(recorder.events("early"), String.class).getLong("wait"));
    }
  }

  @Promise("15.7")
  @Test
  void messagesHaveTimestampsOnlyDuringRecording() {
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
  void handlerSeesContextOfSenderWhileMessagesAreRecorded() {
    var user = new RecordingPropagator("user");
    var actor =
        Variants.scope(o -> o.withContextPropagator(user)).named("carrying")
            .newActorWithReturn((String message) -> user.get());
    try (var recorder = Recorder.of("fibry.Message")) {
      user.runWith("alice", () -> assertEquals("alice", actor.ask("who?")));
      actor.close();

      assertTrue(onlyEvent(recorder.events("carrying")).getLong("wait") >= 0);
    }
  }

  @Promise("15.7")
  @Test
  void recordingsThatStartAndStopLoseNoMessage() {
    int rounds = 4;
    var actor = scope.anonymous().newActorWithReturn((Integer message) -> message);
    var roundsEnded = new CountDownLatch(1);
    var sender = Patience.startFiber(() -> {
      for (int i = 0; roundsEnded.getCount() > 0; i++) {
        actor.sendMessage(i);
        assertEquals(i, actor.ask(i));
      }
      actor.close();
    });
    long handledBefore = 0;

    try {
      for (int round = 0; round < rounds; round++) {
        try (var recorder = Recorder.of("fibry.Message", Duration.ofHours(1))) {
          handledBefore = awaitMoreHandled(handledBefore);
          recorder.events();
        }
        handledBefore = awaitMoreHandled(handledBefore);
      }
    } finally { // otherwise the sender would continue
      roundsEnded.countDown();
    }

    Patience.awaitEnd(sender);
    assertEquals(0, scope.report().unhandled().get(DeadLetter.Reason.FAILED));
  }

  private long awaitMoreHandled(long handledBefore) {
    Patience.eventually(() -> scope.report().handled() > handledBefore + 100);
    return scope.report().handled();
  }

  // ---- waits

  @Promise("15.2")
  @Test
  void askEventHasActorTypeOutcomeAndAskersThread() {
    var actor = scope.named("asked").newActorWithReturn((Object message) -> {
      pauseForMoment();
      return message;
    });
    try (var recorder = Recorder.of("fibry.AskWait")) {
      actor.ask("request");

      var event = onlyEvent(recorder.events("asked"));
      assertEquals("java.lang.String answered", type(event) + " " + event.getString("outcome"));
      assertEquals(Thread.currentThread().threadId(), event.getThread().getJavaThreadId());
      assertTakesMoment(event.getDuration());
    }
  }

  @Promise("15.2")
  @Test
  void eventOfFailedAskNamesException() {
    var actor =
        scope.named("failing").onFailure(FailurePolicy.resume().withoutLog()).newActorWithReturn((Object message) -> {
          if (message instanceof Gate gate) gate.pass();
          throw new IOException("on purpose");
        });
    try (var recorder = Recorder.of("fibry.AskWait")) {
      assertThrows(IOException.class, () -> actor.ask("request"));
      assertThrows(AskTimeoutException.class, () -> actor.ask(new Gate(), Duration.ofMillis(1)));

      assertEquals(List.of(IOException.class.getName(), AskTimeoutException.class.getName()),
          recorder.events("failing").stream().map(event -> event.getString("outcome")).toList());
    }
  }

  @Promise("15.2")
  @Test
  void askShorterThanThresholdIsNotRecorded() {
    var actor = scope.named("prompt").newActorWithReturn((Object message) -> message);
    try (var recorder = Recorder.of("fibry.AskWait", Duration.ofHours(1))) {
      actor.ask("request");

      assertEquals(List.of(), recorder.events("prompt"));
    }
  }

  @Promise("15.3")
  @ParameterizedTest
  @EnumSource(names = {"REJECT", "DROP_NEWEST", "DROP_OLDEST"})
  void fullMailboxEventTellsWhetherMessageWasRejectedOrDropped(Overflow overflow) {
    var actor = newSlowActor(scope.named("full").mailbox(Mailbox.bounded(2, overflow)));
    var gate = Gate.occupy(actor);
    try (var recorder = Recorder.of("fibry.MailboxPressure")) {
      for (int i = 0; i < 3; i++) actor.sendMessage(i);
      gate.open();
      actor.close();

      var event = onlyEvent(recorder.events("full"));
      assertEquals(overflow == Overflow.REJECT ? "rejected" : "dropped", event.getString("outcome"));
      assertEquals(2, event.getInt("capacity"));
    }
  }

  @Test
  void eventOfMaxWaitRefusalHasPredictedWait() throws Exception {
    var actor =
        newSlowActor(scope.named("slow").mailbox(Mailbox.bounded(9, Overflow.REJECT).withMaxWait(Duration.ofNanos(1))));
    Gate.occupy(actor);
    actor.sendMessage(1);
    try (var recorder = Recorder.of("fibry.MailboxPressure")) {
      pauseForMoment();
      actor.sendMessage(2);

      var event = onlyEvent(recorder.events("slow"));
      assertEquals("rejected", event.getString("outcome"));
      assertTakesMoment(event.getDuration("foreseen"));
    }
  }

  @Promise("15.3")
  @Test
  void senderThatWaitedForCapacityRecordsWait() throws Exception {
    var actor = newSlowActor(scope.named("crowded").mailbox(Mailbox.bounded(1, Overflow.BLOCK)));
    var gate = Gate.occupy(actor);
    actor.sendMessage(1);
    try (var recorder = Recorder.of("fibry.MailboxPressure")) {
      var sender = Patience.startFiber(() -> actor.sendMessage(2));
      Patience.awaitParked(sender);
      pauseForMoment();
      gate.open();
      Patience.awaitEnd(sender);

      var event = onlyEvent(recorder.events("crowded"));
      assertEquals("waited", event.getString("outcome"));
      assertTakesMoment(event.getDuration());
    }
  }

  @Promise("15.3")
  @Test
  void waitOfSenderIsRecordedAsFailedIfActorEnds() {
    var actor = newSlowActor(scope.named("crowded").mailbox(Mailbox.bounded(1, Overflow.BLOCK)));
    Gate.occupy(actor);
    actor.sendMessage(1);
    try (var recorder = Recorder.of("fibry.MailboxPressure")) {
      var sender = Patience.startFiber(() -> actor.sendMessage(2));
      Patience.awaitParked(sender);
      actor.askExit();
      Patience.awaitEnd(sender);

      assertEquals("waited without success", onlyEvent(recorder.events("crowded")).getString("outcome"));
    }
  }
}
