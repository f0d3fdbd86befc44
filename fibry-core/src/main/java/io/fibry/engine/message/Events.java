package io.fibry.engine.message;

import io.fibry.DeadLetter.Reason;
import io.fibry.RequestException;
import io.fibry.engine.actor.ActorCell;
import io.fibry.engine.cell.Activation;
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
 * What a flight recording sees of actors. While nobody records it costs nothing: the recorder's
 * methods are empty until it starts, and rewrites these classes. A Java without the recorder's
 * module has no prototypes, and loads none of the classes below.
 *
 * <p>The prototypes are made with this class, and this one with the first actor: a class whose
 * initialisation meets the edge of a stack could never be used again.
 */
public final class Events {
  /** A time that is not known, as the recorder has it. */
  public static final long UNKNOWN = Long.MIN_VALUE;

  private static final boolean PRESENT = present();
  private static final Message MESSAGE = PRESENT ? new Message() : null;
  private static final AskWait ASK_WAIT = PRESENT ? new AskWait() : null;
  private static final Pressure PRESSURE = PRESENT ? new Pressure() : null;
  private static final Failure FAILURE = PRESENT ? new Failure() : null;
  private static final Restart RESTART = PRESENT ? new Restart() : null;
  private static final Letter LETTER = PRESENT ? new Letter() : null;
  private static final Stuck STUCK = PRESENT ? new Stuck() : null;

  private Events() {}

  private static boolean present() {
    try {
      Class.forName("jdk.jfr.Event", false, Events.class.getClassLoader());
      return true;
    } catch (ClassNotFoundException | LinkageError absent) {
      return false;
    }
  }

  // ---- messages

  /** Whether somebody records messages: then they are stamped when they are sent. */
  public static boolean messages() {
    return MESSAGE != null && MESSAGE.isEnabled();
  }

  /** The handling of a message begins, which waited so long. Null: nobody records. */
  public static Object begin(long waited) {
    if (!messages()) return null;
    var event = new Message();
    event.wait = waited;
    event.begin();
    return event;
  }

  /** The handling that began with this has ended. */
  public static void end(Object begun, ActorCell cell, Object message) {
    var event = (Message) begun;
    event.end();
    if (!event.shouldCommit()) return;
    event.actor = cell.name();
    event.messageType = type(message);
    event.commit();
  }

  // ---- waits

  public static boolean asks() {
    return ASK_WAIT != null && ASK_WAIT.isEnabled();
  }

  /** Asks under the eye of the recorder. */
  public static Object ask(ActorCell cell, Object message, Deadline limit, Activation asker) {
    var event = new AskWait();
    event.begin();
    try {
      Object answer = cell.request(message, limit).await(message, limit, asker);
      event.ended = "answered";
      return answer;
    } catch (Throwable failure) {
      event.ended = failure.getClass().getName();
      throw failure;
    } finally {
      event.end();
      if (event.shouldCommit()) {
        event.actor = cell.name();
        event.messageType = type(message);
        event.commit();
      }
    }
  }

  /** A sender begins to wait for room. Null: nobody records. */
  public static Object beginWait() {
    if (PRESSURE == null || !PRESSURE.isEnabled()) return null;
    var event = new Pressure();
    event.begin();
    return event;
  }

  /** The wait that began with this has ended. */
  public static void endWait(Object begun, ActorCell cell, Reason refusal) {
    if (begun == null) return;
    var event = (Pressure) begun;
    event.end();
    event.happened = refusal == null ? "waited" : "waited in vain";
    write(event, cell);
  }

  /** A full mailbox refused a message, which would have waited so long, or dropped one. */
  public static void pressure(ActorCell cell, Reason reason, long foreseen) {
    if (PRESSURE == null || !PRESSURE.isEnabled()) return;
    var event = new Pressure();
    event.happened = reason.name().toLowerCase(Locale.ROOT);
    event.foreseen = foreseen;
    write(event, cell);
  }

  private static void write(Pressure event, ActorCell cell) {
    event.actor = cell.name();
    event.capacity = cell.capacity();
    event.commit();
  }

  // ---- what went wrong

  public static void failure(ActorCell cell, Object message, Throwable thrown) {
    if (FAILURE == null || !FAILURE.isEnabled()) return;
    var event = new Failure();
    event.actor = cell.name();
    event.messageType = type(message);
    event.thrown = thrown.getClass();
    event.text = text(thrown);
    event.commit();
  }

  /** It begins again after so many nanoseconds. No cause: another's failure. */
  public static void restart(ActorCell cell, Throwable cause, long backOff) {
    if (RESTART == null || !RESTART.isEnabled()) return;
    var event = new Restart();
    event.actor = cell.name();
    event.cause = cause == null ? null : cause.getClass();
    event.text = cause == null ? null : text(cause);
    event.backOff = backOff;
    event.commit();
  }

  public static void deadLetter(ActorCell cell, Object message, Reason reason) {
    if (LETTER == null || !LETTER.isEnabled()) return;
    var event = new Letter();
    event.actor = cell.name();
    event.messageType = type(message);
    event.reason = reason.name();
    event.commit();
  }

  /** It has been handling one message for so many nanoseconds at least. */
  public static void stuck(ActorCell cell, Object message, long handling) {
    if (STUCK == null || !STUCK.isEnabled()) return;
    var event = new Stuck();
    event.actor = cell.name();
    event.messageType = type(message);
    event.handling = handling;
    event.commit();
  }

  private static Class<?> type(Object message) {
    return Envelope.given(message).getClass();
  }

  /** What an exception says is code of the user too. */
  private static String text(Throwable thrown) {
    try {
      String text = thrown.getMessage();
      return text == null ? null : RequestException.shown(text);
    } catch (Throwable unprintable) {
      return "(its getMessage threw " + unprintable.getClass().getName() + ")";
    }
  }

  // ---- as the recorder knows them

  @Name("fibry.Message")
  @Label("Message")
  @Description("A message that was handled; the duration is the handling alone")
  @Category("Fibry")
  @StackTrace(false)
  @Threshold("20 ms")
  private static final class Message extends Event {
    @Label("Actor")
    public String actor;
    @Label("Message Type")
    @Description("For a task or a sink's code, its class")
    public Class<?> messageType;
    @Label("Wait")
    @Description("From the sending to the handling; unknown where it was sent before the recording")
    @Timespan
    public long wait;
  }

  @Name("fibry.AskWait")
  @Label("Ask Wait")
  @Description("A thread that waited for the answer of an actor, for room in its mailbox first")
  @Category("Fibry")
  @Threshold("20 ms")
  private static final class AskWait extends Event {
    @Label("Actor")
    @Description("Who was asked")
    public String actor;
    @Label("Request Type")
    public Class<?> messageType;
    @Label("Ended")
    @Description("Answered, or the class of what was thrown")
    public String ended;
  }

  @Name("fibry.MailboxPressure")
  @Label("Mailbox Pressure")
  @Description("A full mailbox refused or dropped a message, or made its sender wait")
  @Category("Fibry")
  @StackTrace(false)
  private static final class Pressure extends Event {
    @Label("Actor")
    public String actor;
    @Label("Capacity")
    public int capacity;
    @Label("Happened")
    @Description("Rejected, dropped, waited, or waited in vain")
    public String happened;
    @Label("Foreseen")
    @Description("How long it would have waited, where it was refused for that; else 0")
    @Timespan
    public long foreseen;
  }

  @Name("fibry.Failure")
  @Label("Failure")
  @Description("A handler that threw")
  @Category("Fibry")
  @StackTrace(false)
  private static final class Failure extends Event {
    @Label("Actor")
    public String actor;
    @Label("Message Type")
    public Class<?> messageType;
    @Label("Thrown")
    public Class<?> thrown;
    @Label("Text")
    public String text;
  }

  @Name("fibry.Restart")
  @Label("Restart")
  @Description("An actor that begins again with a fresh state")
  @Category("Fibry")
  @StackTrace(false)
  private static final class Restart extends Event {
    @Label("Actor")
    public String actor;
    @Label("Cause")
    @Description("None where another actor's failure was the cause")
    public Class<?> cause;
    @Label("Text")
    public String text;
    @Label("Back-off")
    @Description("How long its messages wait before")
    @Timespan
    public long backOff;
  }

  @Name("fibry.DeadLetter")
  @Label("Dead Letter")
  @Description("A message that no handler finished and nobody waits for")
  @Category("Fibry")
  @StackTrace(false)
  private static final class Letter extends Event {
    @Label("Actor")
    @Description("Whom it was sent to")
    public String actor;
    @Label("Message Type")
    public Class<?> messageType;
    @Label("Reason")
    public String reason;
  }

  @Name("fibry.StuckActor")
  @Label("Stuck Actor")
  @Description("An actor that handles one message for longer than its scope allows")
  @Category("Fibry")
  @StackTrace(false)
  private static final class Stuck extends Event {
    @Label("Actor")
    public String actor;
    @Label("Message Type")
    public Class<?> messageType;
    @Label("Handling")
    @Description("For so long at least")
    @Timespan
    public long handling;
  }
}
