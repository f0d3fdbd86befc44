package io.fibry.engine.message;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorSystem;
import io.fibry.FailurePolicy;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.support.Child;
import io.fibry.support.DiagnosticCommand;
import io.fibry.support.Patience;
import io.fibry.testing.Gate;
import io.fibry.testing.Promise;
import io.fibry.testing.Recorder;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests JVMs that start a flight recording with the program, later, or not at all, and a JVM
 * without Flight Recorder.
 */
class EventsJvmTest {

  /** Causes the events Failure, DeadLetter and MailboxPressure. */
  static final class Program {
    public static void main(String[] args) {
      var actor = ActorSystem.named("program").onFailure(FailurePolicy.resume().withoutLog())
          .mailbox(Mailbox.bounded(1, Overflow.DROP_OLDEST)).newActorWithReturn((Object message) -> {
            if (message instanceof Gate gate) gate.pass();
            return 1 / (int) message;
          });
      System.out.println(actor.ask(1, Patience.LONG));
      var gate = Gate.occupy(actor);
      actor.sendMessageReturn("dropped");
      actor.sendMessage("dropped too");
      actor.sendMessage(0);
      gate.open();
      actor.close();
      System.out.println(ModuleLayer.boot().findModule("jdk.jfr").isPresent());
    }
  }

  /** Starts a recording as {@code jcmd} does, after its actor has handled a message. */
  static final class LateRecording {
    public static void main(String[] args) {
      var actor = ActorSystem.named("late").newActorWithReturn((Integer message) -> message);
      actor.ask(1, Patience.LONG);
      DiagnosticCommand.run("jfrStart", "name=late", "settings=none", "+fibry.Message#enabled=true",
          "+fibry.Message#threshold=0ms");
      actor.ask(2, Patience.LONG);
      actor.close();
      DiagnosticCommand.run("jfrDump", "name=late", "filename=" + args[0]);
    }
  }

  @Promise("15.8")
  @Test
  void actorAnswersInJvmWithoutFlightRecorder() throws Exception {
    try (var child = Child.java(List.of("--limit-modules", "java.base"), Program.class)) {
      assertEquals("1\nfalse", child.awaitExit(0));
    }
  }

  @Promise("15.8")
  @Test
  void recordingStartedWithJvmHasEvents(@TempDir Path directory) throws Exception {
    Recorder.assumePresent();
    var file = directory.resolve("program.jfr");

    try (var child = Child.java(List.of("-XX:StartFlightRecording:filename=" + file), Program.class)) {
      assertTrue(child.awaitExit(0).contains("1\ntrue"));
    }

    var names = RecordingFile.readAllEvents(file).stream().map(event -> event.getEventType().getName())
        .filter(name -> name.startsWith("fibry.")).collect(Collectors.toSet());
    assertTrue(names.containsAll(Set.of("fibry.Failure", "fibry.DeadLetter", "fibry.MailboxPressure")),
        names::toString);
  }

  @Promise("15.8")
  @Test
  void recordingStartedByJcmdRecordsActorsMadeBefore(@TempDir Path directory) throws Exception {
    Recorder.assumePresent();
    var file = directory.resolve("late.jfr");

    try (var child = Child.java(List.of(), LateRecording.class, file.toString())) {
      child.awaitExit(0);
    }

    var actors = RecordingFile.readAllEvents(file).stream()
        .filter(event -> event.getEventType().getName().equals("fibry.Message"))
        .map(event -> event.getString("actor")).toList();
    assertEquals(List.of("late"), actors);
  }

  /** The JVM rewrites each event class that it loads, which takes longer than the first actor. */
  @Promise("15.7")
  @Test
  void actorsLoadNoEventClassWithoutRecording() {
    try (var child = Child.java(List.of("-Xlog:class+load"), Program.class)) {
      String log = child.awaitExit(0);

      assertTrue(log.contains(JfrEvents.class.getName() + " "), log);
      assertFalse(log.contains(JfrEvents.class.getName() + "$MessageEvent"), log);
      assertFalse(log.contains("jdk.jfr.internal.MetadataRepository"), log);
    }
  }
}
