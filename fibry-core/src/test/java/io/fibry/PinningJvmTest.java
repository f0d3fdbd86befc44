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
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Whatever a virtual thread does in the library, it lets its carrier go. */
@Timeout(120)
class PinningJvmTest {

  @Test
  void noFrameOfTheLibraryPinsACarrier(@TempDir Path directory) throws Exception {
    Recorder.assumePresent();
    try (var harness = new StressHarness(StressHarness.seed())) {
      harness.play(1); // or the first use of classes is seen

      var pinned = pinned(directory, harness);

      assertEquals(List.of(), pinned);
    }
  }

  private static List<String> pinned(Path directory, StressHarness harness) throws IOException, InterruptedException {
    try (var recording = new Recording()) {
      recording.enable("jdk.VirtualThreadPinned").withThreshold(Duration.ZERO).withStackTrace();
      // the recorder has monitors of its own, which our events would meet
      Recorder.silence(recording);
      recording.start();
      harness.play(StressHarness.millis(1_500));
      recording.stop();
      var file = directory.resolve("pinned.jfr");
      recording.dump(file);
      return RecordingFile.readAllEvents(file).stream().filter(PinningJvmTest::ours).map(RecordedEvent::toString)
          .toList();
    }
  }

  /**
   * Whether there is a frame of ours; unless it is a monitor that the JDK enters inside its own
   * code, as it does where an interrupt of a virtual thread meets the clearing of it, or a class of
   * its own that another thread initialises at this moment, as its tracer of exceptions does when
   * the first one is made while a recording is on.
   */
  private static boolean ours(RecordedEvent event) {
    if (event.getStackTrace() == null) return true;
    var frames =
        event.getStackTrace().getFrames().stream().map(frame -> frame.getMethod().getType().getName()).toList();
    boolean monitor =
        event.hasField("blockingOperation") && "Contended monitor enter".equals(event.getString("blockingOperation"));
    var reason = event.hasField("pinnedReason") ? String.valueOf(event.getString("pinnedReason")) : "";
    if (reason.startsWith("Waited for initialization of jdk.")) return false;
    return !(monitor && frames.getFirst().startsWith("java."))
        && frames.stream().anyMatch(name -> name.startsWith("io.fibry.") && !name.contains("Stress"));
  }
}
