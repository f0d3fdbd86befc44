package io.fibry.engine.message;

import io.fibry.DeadLetter.Reason;
import io.fibry.text.Lines;
import java.util.Locale;
import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import jdk.jfr.Threshold;
import jdk.jfr.Timespan;

/**
 * What a flight recording sees of actors. It costs nothing until the recorder starts and rewrites
 * the nested classes. Without the module of the recorder the prototypes are null, and no nested
 * class is loaded. No method here may use a nested class as its superclass, or the verifier would
 * load it.
 *
 * <p>The prototypes are made with the first actor: a class whose initialisation fails at the edge
 * of a stack could never be used again.
 */
public final class JfrEvents {
  /** An unknown time. */
  public static final long UNKNOWN = Long.MIN_VALUE;

  private static final boolean PRESENT = present();
  private static final MessageEvent MESSAGE = PRESENT ? new MessageEvent() : null;
  private static final AskWaitEvent ASK_WAIT = PRESENT ? new AskWaitEvent() : null;
  private static final PressureEvent PRESSURE = PRESENT ? new PressureEvent() : null;
  private static final FailureEvent FAILURE = PRESENT ? new FailureEvent() : null;
  private static final RestartEvent RESTART = PRESENT ? new RestartEvent() : null;
  private static final DeadLetterEvent LETTER = PRESENT ? new DeadLetterEvent() : null;
  private static final StuckEvent STUCK = PRESENT ? new StuckEvent() : null;

  private JfrEvents() {}

  private static boolean present() {
    try {
      Class.forName("jdk.jfr.Event", false, JfrEvents.class.getClassLoader());
      return true;
    } catch (ClassNotFoundException | LinkageError absent) {
      return false;
    }
  }

  /** Whether each message carries the time when it was sent. */
  public static boolean isRecordingMessages() {
    return MESSAGE != null && MESSAGE.isEnabled();
  }

  /** Returns null if messages are not recorded. */
  public static Object begin(long waited) {
    if (!isRecordingMessages()) return null;
    var event = new MessageEvent();
    event.wait = waited;
    event.begin();
    return event;
  }

  public static void end(Object begun, Wait.WaitTarget actor, Object message) {
    var event = (MessageEvent) begun;
    event.end();
    if (!event.shouldCommit()) return;
    event.actor = actor.name();
    event.messageType = type(message);
    event.commit();
  }

  /** Returns null if waits are not recorded. */
  public static Object beginAsk() {
    if (ASK_WAIT == null || !ASK_WAIT.isEnabled()) return null;
    var event = new AskWaitEvent();
    event.begin();
    return event;
  }

  /** A null {@code failure}: it was answered. */
  public static void endAsk(Object begun, Wait.WaitTarget actor, Object message, Throwable failure) {
    var event = (AskWaitEvent) begun;
    event.end();
    if (!event.shouldCommit()) return;
    event.ended = failure == null ? "answered" : failure.getClass().getName();
    event.actor = actor.name();
    event.messageType = type(message);
    event.commit();
  }

  /** A sender waits for room. */
  public static Object beginWait() {
    if (PRESSURE == null || !PRESSURE.isEnabled()) return null;
    var event = new PressureEvent();
    event.begin();
    return event;
  }

  /** A null {@code refusal}: there was room. */
  public static void endWait(Object begun, Wait.WaitTarget actor, int capacity, Reason refusal) {
    if (begun == null) return;
    var event = (PressureEvent) begun;
    event.end();
    event.happened = refusal == null ? "waited" : "waited in vain";
    write(event, actor, capacity);
  }

  /**
   * Records that a mailbox dropped a message, or refused a message that would have waited
   * {@code foreseen} ns.
   */
  public static void recordPressure(Wait.WaitTarget actor, int capacity, Reason reason, long foreseen) {
    if (PRESSURE == null || !PRESSURE.isEnabled()) return;
    var event = new PressureEvent();
    event.happened = reason.name().toLowerCase(Locale.ROOT);
    event.foreseen = foreseen;
    write(event, actor, capacity);
  }

  private static void write(PressureEvent event, Wait.WaitTarget actor, int capacity) {
    event.actor = actor.name();
    event.capacity = capacity;
    event.commit();
  }

  public static void recordFailure(Wait.WaitTarget actor, Object message, Throwable thrown) {
    if (FAILURE == null || !FAILURE.isEnabled()) return;
    var event = new FailureEvent();
    event.actor = actor.name();
    event.messageType = type(message);
    event.thrown = thrown.getClass();
    event.text = text(thrown);
    event.commit();
  }

  /** A null {@code cause}: another actor failed. */
  public static void recordRestart(Wait.WaitTarget actor, Throwable cause, long backoff) {
    if (RESTART == null || !RESTART.isEnabled()) return;
    var event = new RestartEvent();
    event.actor = actor.name();
    event.cause = cause == null ? null : cause.getClass();
    event.text = cause == null ? null : text(cause);
    event.backoff = backoff;
    event.commit();
  }

  public static void recordDeadLetter(Wait.WaitTarget actor, Object message, Reason reason) {
    if (LETTER == null || !LETTER.isEnabled()) return;
    var event = new DeadLetterEvent();
    event.actor = actor.name();
    event.messageType = type(message);
    event.reason = reason.name();
    event.commit();
  }

  public static void recordStuck(Wait.WaitTarget actor, Object message, long handling) {
    if (STUCK == null || !STUCK.isEnabled()) return;
    var event = new StuckEvent();
    event.actor = actor.name();
    event.messageType = type(message);
    event.handling = handling;
    event.commit();
  }

  private static Class<?> type(Object message) {
    return EngineMessage.unwrap(message).getClass();
  }

  private static String text(Throwable thrown) {
    return Lines.line(Lines.message(thrown));
  }

  @Category("Fibry")
  @StackTrace(false)
  private abstract static class ActorEvent extends Event {
    @Label("Actor")
    String actor;
  }

  @Name("fibry.Message")
  @Label("Message")
  @Description("A message that was handled; the duration is the handling alone")
  @Threshold("20 ms")
  private static final class MessageEvent extends ActorEvent {
    @Label("Message Type")
    @Description("For a task or a sink's code, its class")
    Class<?> messageType;
    @Label("Wait")
    @Description("From sending to handling; unknown where the message was sent before the recording")
    @Timespan
    long wait;
  }

  @Name("fibry.AskWait")
  @Label("Ask Wait")
  @Description("A thread that waited for an actor's answer, and before that perhaps for room in its mailbox")
  @Category("Fibry")
  @Threshold("20 ms")
  private static final class AskWaitEvent extends Event {
    @Label("Actor")
    @Description("The actor that was asked")
    String actor;
    @Label("Request Type")
    Class<?> messageType;
    @Label("Ended")
    @Description("Answered, or the class of what was thrown")
    String ended;
  }

  @Name("fibry.MailboxPressure")
  @Label("Mailbox Pressure")
  @Description("A full mailbox refused or dropped a message, or made its sender wait")
  private static final class PressureEvent extends ActorEvent {
    @Label("Capacity")
    int capacity;
    @Label("Happened")
    @Description("Rejected, dropped, waited, or waited in vain")
    String happened;
    @Label("Foreseen")
    @Description("How long the message would have waited, where it was refused for that; else 0")
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
    @Description("None where another actor's failure was the cause")
    Class<?> cause;
    @Label("Text")
    String text;
    @Label("Back-off")
    @Description("How long its messages wait before")
    @Timespan
    long backoff;
  }

  @Name("fibry.DeadLetter")
  @Label("Dead Letter")
  @Description("A message that no handler finished and nobody waits for")
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
    @Description("At least")
    @Timespan
    long handling;
  }
}
