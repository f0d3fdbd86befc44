package io.fibry.stress;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.fibry.testing.Recorder;
import io.fibry.testing.StressRuns;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests that no code of the library pins a virtual thread to its carrier. */
class PinningJvmTest {

  @Test
  void noFrameOfLibraryPinsCarrier(@TempDir Path directory) throws Exception {
    Recorder.assumePresent();
    try (var harness = new StressHarness(StressRuns.seed())) {
      harness.play(1); // initializes classes now, because their initialization would be recorded

      var events = pinnedEvents(directory, harness);

      assertEquals(List.of(), events);
    }
  }

  private static List<String> pinnedEvents(Path directory, StressHarness harness)
      throws IOException, InterruptedException {
    try (var recording = new Recording()) {
      recording.enable("jdk.VirtualThreadPinned").withThreshold(Duration.ZERO).withStackTrace();
      // events of the library would contend for the monitors of the recorder
      Recorder.disableLibraryEvents(recording);
      recording.start();
      harness.play(StressRuns.millis(500));
      recording.stop();
      var file = directory.resolve("pinned.jfr");
      recording.dump(file);
      return RecordingFile.readAllEvents(file).stream().filter(PinningJvmTest::isCausedByLibrary)
          .map(RecordedEvent::toString).toList();
    }
  }

  /**
   * Returns whether the library pinned the carrier. Ignores waits for monitors inside JDK code, for
   * example if one thread sets an interrupt flag while another thread clears the flag. Ignores
   * waits for a class initializer, too: these occur once, and {@code InitializerRulesTest} checks
   * the initializers.
   */
  private static boolean isCausedByLibrary(RecordedEvent event) {
    if (event.getStackTrace() == null) return true;
    var frames =
        event.getStackTrace().getFrames().stream().map(frame -> frame.getMethod().getType().getName()).toList();
    boolean isMonitorEnter =
        event.hasField("blockingOperation") && "Contended monitor enter".equals(event.getString("blockingOperation"));
    var reason = event.hasField("pinnedReason") ? String.valueOf(event.getString("pinnedReason")) : "";
    if (reason.startsWith("Waited for initialization of ")) return false;
    return !(isMonitorEnter && frames.getFirst().matches("(?:java|jdk)\\..*"))
        && frames.stream().anyMatch(name -> name.startsWith("io.fibry.") && !name.contains("Stress"));
  }
}
