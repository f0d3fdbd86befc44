package io.fibry;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** No code of the library pins a virtual thread to its carrier. */
class PinningJvmTest {

  @Test
  void noFrameOfTheLibraryPinsACarrier(@TempDir Path directory) throws Exception {
    Recorder.assumePresent();
    try (var harness = new StressHarness(StressHarness.seed())) {
      harness.play(1); // initializes classes, which would be recorded

      var pinned = pinned(directory, harness);

      assertEquals(List.of(), pinned);
    }
  }

  private static List<String> pinned(Path directory, StressHarness harness) throws IOException, InterruptedException {
    try (var recording = new Recording()) {
      recording.enable("jdk.VirtualThreadPinned").withThreshold(Duration.ZERO).withStackTrace();
      // our own events would meet the monitors of the recorder
      Recorder.silence(recording);
      recording.start();
      harness.play(StressHarness.millis(500));
      recording.stop();
      var file = directory.resolve("pinned.jfr");
      recording.dump(file);
      return RecordingFile.readAllEvents(file).stream().filter(PinningJvmTest::ours).map(RecordedEvent::toString)
          .toList();
    }
  }

  /**
   * Whether the library pinned the carrier. Ignores monitors inside JDK code, as when an interrupt
   * meets its clearing. Ignores classes that another thread initializes at this moment, too: that
   * happens once, and {@link InitializerRulesTest} checks the initializers of the library.
   */
  private static boolean ours(RecordedEvent event) {
    if (event.getStackTrace() == null) return true;
    var frames =
        event.getStackTrace().getFrames().stream().map(frame -> frame.getMethod().getType().getName()).toList();
    boolean monitor =
        event.hasField("blockingOperation") && "Contended monitor enter".equals(event.getString("blockingOperation"));
    var reason = event.hasField("pinnedReason") ? String.valueOf(event.getString("pinnedReason")) : "";
    if (reason.startsWith("Waited for initialization of ")) return false;
    return !(monitor && frames.getFirst().matches("(?:java|jdk)\\..*"))
        && frames.stream().anyMatch(name -> name.startsWith("io.fibry.") && !name.contains("Stress"));
  }
}
