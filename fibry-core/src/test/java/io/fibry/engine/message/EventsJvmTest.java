package io.fibry.engine.message;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorSystem;
import io.fibry.FailurePolicy;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.support.Child;
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
 * Tests a JVM that starts a flight recording with the program, and a JVM without Flight Recorder.
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
}
