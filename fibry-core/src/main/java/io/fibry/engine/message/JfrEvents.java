package io.fibry.engine.message;

import io.fibry.DeadLetter.Reason;
import io.fibry.text.Lines;
import java.util.Locale;
import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.FlightRecorder;
import jdk.jfr.FlightRecorderListener;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import jdk.jfr.Threshold;
import jdk.jfr.Timespan;

/**
 * The events of actors in a flight recording. Their classes are loaded when the recorder starts,
 * because the JVM rewrites them while it loads them, which takes longer than the start of all other
 * classes of the engine. Until then, an event costs one read of a field. Without the module
 * {@code jdk.jfr} no nested class is loaded. No method of this class may pass an object of a nested
 * class as its superclass or interface, because then the verifier would load both classes.
 *
 * <p>The event classes are initialized by the thread that starts the recorder, and not by the
 * thread of a first event. If the initialization failed there for lack of stack, the class could
 * never be used again.
 */
public final class JfrEvents {
  /** An unknown time. */
  public static final long UNKNOWN = Long.MIN_VALUE;

  /**
   * One object of each event class; null until the recorder starts. Written by the thread that
   * starts it, before a recording begins, and read by all threads. A thread that still reads null
   * records no event: it handles a message that was in flight when the recorder started. The fields
   * of the object are final, so each thread that reads the object sees the prototypes.
   */
  private static Prototypes prototypes;

  static {
    if (isPresent()) RecorderStart.await();
  }

  private JfrEvents() {}

  private static boolean isPresent() {
    try {
      Class.forName("jdk.jfr.Event", false, JfrEvents.class.getClassLoader());
      return true;
    } catch (ClassNotFoundException | LinkageError noRecorder) {
      return false;
    }
  }

  /**
   * Returns whether messages are recorded. If so, each message must carry the time of its sending.
   */
  public static boolean isRecordingMessages() {
    var known = prototypes;
    return known != null && known.message.isEnabled();
  }

  /**
   * Begins the event of a message that waited {@code waitNanos} ns. Returns null if messages are
   * not recorded.
   */
  public static Object begin(long waitNanos) {
    if (!isRecordingMessages()) return null;
    var event = new MessageEvent();
    event.wait = waitNanos;
    event.begin();
    return event;
  }

  public static void end(Object begunEvent, Wait.WaitTarget actor, Object message) {
    var event = (MessageEvent) begunEvent;
    event.end();
    if (!event.shouldCommit()) return;
    event.actor = actor.name();
    event.messageType = type(message);
    event.commit();
  }

  /** Begins the event of an asker that waits. Returns null if waits of askers are not recorded. */
  public static Object beginAsk() {
    var known = prototypes;
    if (known == null || !known.askWait.isEnabled()) return null;
    var event = new AskWaitEvent();
    event.begin();
    return event;
  }

  /** Ends the event of an asker. {@code failure} is null if the request was answered. */
  public static void endAsk(Object begunEvent, Wait.WaitTarget actor, Object message, Throwable failure) {
    var event = (AskWaitEvent) begunEvent;
    event.end();
    if (!event.shouldCommit()) return;
    event.outcome = failure == null ? "answered" : failure.getClass().getName();
    event.actor = actor.name();
    event.messageType = type(message);
    event.commit();
  }

  /**
   * Begins the event of a sender that waits for space in a mailbox. Returns null if such waits are
   * not recorded.
   */
  public static Object beginWait() {
    var known = prototypes;
    if (known == null || !known.pressure.isEnabled()) return null;
    var event = new PressureEvent();
    event.begin();
    return event;
  }

  /**
   * Ends the event of a sender; does nothing if the event is null. {@code refusal} is null if the
   * mailbox took the message.
   */
  public static void endWait(Object begunEvent, Wait.WaitTarget actor, int capacity, Reason refusal) {
    if (begunEvent == null) return;
    var event = (PressureEvent) begunEvent;
    event.end();
    event.outcome = refusal == null ? "waited" : "waited without success";
    write(event, actor, capacity);
  }

  /**
   * Records that a mailbox dropped a message or refused one. {@code expectedWaitNanos} is the wait
   * that was too long, or 0 if there was another reason.
   */
  public static void recordPressure(Wait.WaitTarget actor, int capacity, Reason reason, long expectedWaitNanos) {
    var known = prototypes;
    if (known == null || !known.pressure.isEnabled()) return;
    var event = new PressureEvent();
    event.outcome = reason.name().toLowerCase(Locale.ROOT);
    event.foreseen = expectedWaitNanos;
    write(event, actor, capacity);
  }

  private static void write(PressureEvent event, Wait.WaitTarget actor, int capacity) {
    event.actor = actor.name();
    event.capacity = capacity;
    event.commit();
  }

  public static void recordFailure(Wait.WaitTarget actor, Object message, Throwable failure) {
    var known = prototypes;
    if (known == null || !known.failure.isEnabled()) return;
    var event = new FailureEvent();
    event.actor = actor.name();
    event.messageType = type(message);
    event.thrown = failure.getClass();
    event.text = text(failure);
    event.commit();
  }

  /**
   * Records that an actor restarts after {@code backoffNanos} ns. {@code cause} is null if the
   * restart was caused by the failure of another actor.
   */
  public static void recordRestart(Wait.WaitTarget actor, Throwable cause, long backoffNanos) {
    var known = prototypes;
    if (known == null || !known.restart.isEnabled()) return;
    var event = new RestartEvent();
    event.actor = actor.name();
    event.cause = cause == null ? null : cause.getClass();
    event.text = cause == null ? null : text(cause);
    event.backoff = backoffNanos;
    event.commit();
  }

  public static void recordDeadLetter(Wait.WaitTarget actor, Object message, Reason reason) {
    var known = prototypes;
    if (known == null || !known.deadLetter.isEnabled()) return;
    var event = new DeadLetterEvent();
    event.actor = actor.name();
    event.messageType = type(message);
    event.reason = reason.name();
    event.commit();
  }

  public static void recordStuck(Wait.WaitTarget actor, Object message, long handlingNanos) {
    var known = prototypes;
    if (known == null || !known.stuck.isEnabled()) return;
    var event = new StuckEvent();
    event.actor = actor.name();
    event.messageType = type(message);
    event.handling = handlingNanos;
    event.commit();
  }

  private static Class<?> type(Object message) {
    return EngineMessage.unwrap(message).getClass();
  }

  private static String text(Throwable failure) {
    return Lines.line(Lines.message(failure));
  }

  /** Makes the prototypes when the recorder starts, or at once if it has started. */
  private static final class RecorderStart implements FlightRecorderListener {
    static void await() {
      FlightRecorder.addListener(new RecorderStart());
    }

    @Override
    public void recorderInitialized(FlightRecorder recorder) {
      prototypes = new Prototypes();
    }
  }

  /** One object of each event class, which tells whether events of this class are recorded. */
  private static final class Prototypes {
    final MessageEvent message = new MessageEvent();
    final AskWaitEvent askWait = new AskWaitEvent();
    final PressureEvent pressure = new PressureEvent();
    final FailureEvent failure = new FailureEvent();
    final RestartEvent restart = new RestartEvent();
    final DeadLetterEvent deadLetter = new DeadLetterEvent();
    final StuckEvent stuck = new StuckEvent();
  }

  @Category("Fibry")
  @StackTrace(false)
  private abstract static class ActorEvent extends Event {
    @Label("Actor")
    String actor;
  }

  @Name("fibry.Message")
  @Label("Message")
  @Description("A message that was handled; the duration does not include the wait in the mailbox")
  @Threshold("20 ms")
  private static final class MessageEvent extends ActorEvent {
    @Label("Message Type")
    @Description("For a task or a sink's code, its class")
    Class<?> messageType;
    @Label("Wait")
    @Description("From sending to handling; unknown if the message was sent before the recording")
    @Timespan
    long wait;
  }

  @Name("fibry.AskWait")
  @Label("Ask Wait")
  @Description("A thread that waited for an actor's answer; includes a wait for space in the mailbox")
  @Category("Fibry")
  @Threshold("20 ms")
  private static final class AskWaitEvent extends Event {
    @Label("Actor")
    @Description("The actor that was asked")
    String actor;
    @Label("Request Type")
    Class<?> messageType;
    @Label("Outcome")
    @Description("Answered, or the class of the exception")
    String outcome;
  }

  @Name("fibry.MailboxPressure")
  @Label("Mailbox Pressure")
  @Description("A full mailbox refused or dropped a message, or made its sender wait")
  private static final class PressureEvent extends ActorEvent {
    @Label("Capacity")
    int capacity;
    @Label("Outcome")
    @Description("Rejected, dropped, waited, or waited without success")
    String outcome;
    @Label("Foreseen")
    @Description("The expected wait, if the message was refused because of this wait; otherwise 0")
    @Timespan
    long foreseen;
  }

  @Name("fibry.Failure")
  @Label("Failure")
  @Description("A handler that threw")
  private static final class FailureEvent extends ActorEvent {
    @Label("Message Type")
    Class<?> messageType;
    @Label("Thrown")
    Class<?> thrown;
    @Label("Text")
    String text;
  }

  @Name("fibry.Restart")
  @Label("Restart")
  @Description("An actor that begins again with a fresh state")
  private static final class RestartEvent extends ActorEvent {
    @Label("Cause")
    @Description("No class if another actor's failure was the cause")
    Class<?> cause;
    @Label("Text")
    String text;
    @Label("Backoff")
    @Description("How long its messages wait before the restart")
    @Timespan
    long backoff;
  }

  @Name("fibry.DeadLetter")
  @Label("Dead Letter")
  @Description("A message that no handler finished, and for whose answer no caller waits")
  @Category("Fibry")
  @StackTrace(false)
  private static final class DeadLetterEvent extends Event {
    @Label("Actor")
    @Description("The actor that it was sent to")
    String actor;
    @Label("Message Type")
    Class<?> messageType;
    @Label("Reason")
    String reason;
  }

  @Name("fibry.StuckActor")
  @Label("Stuck Actor")
  @Description("An actor that handles one message for longer than its scope allows")
  private static final class StuckEvent extends ActorEvent {
    @Label("Message Type")
    Class<?> messageType;
    @Label("Handling")
    @Description("How long, at least, the actor has been handling the message")
    @Timespan
    long handling;
  }
}
