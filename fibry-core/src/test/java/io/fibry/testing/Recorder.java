package io.fibry.testing;

import io.fibry.engine.message.JfrEvents;
import java.io.IOException;
import java.nio.file.Files;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import jdk.jfr.FlightRecorder;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.Assumptions;

/** Records events of one kind in a flight recording. */
public final class Recorder implements AutoCloseable {
  private final Recording recording = new Recording();
  private final String event;

  /** Skips the test if this Java has no flight recorder. */
  public static void assumePresent() {
    Assumptions.assumeTrue(ModuleLayer.boot().findModule("jdk.jfr").isPresent(), "this Java has no flight recorder");
  }

  /** Starts to record events of any duration. */
  public static Recorder of(String event) {
    return of(event, Duration.ZERO);
  }

  public static Recorder of(String event, Duration threshold) {
    var recorder = new Recorder(event);
    recorder.recording.enable(event).withThreshold(threshold);
    recorder.recording.start();
    return recorder;
  }

  /**
   * Starts a recording with all events of the library disabled. Returns a recorder that finds such
   * events if they occur nevertheless.
   */
  public static Recorder disabled() {
    var recorder = new Recorder("fibry.");
    disableLibraryEvents(recorder.recording);
    recorder.recording.start();
    return recorder;
  }

  /** Disables all events of the library, which are enabled by default. */
  public static void disableLibraryEvents(Recording recording) {
    JfrEvents.isRecordingMessages(); // this first use registers the event types
    for (var type : FlightRecorder.getFlightRecorder().getEventTypes())
      if (type.getName().startsWith("fibry.")) recording.disable(type.getName());
  }

  private Recorder(String event) {
    this.event = event;
  }

  /** Stops the recording and returns its events in the order of time. */
  public List<RecordedEvent> events() {
    try {
      recording.stop();
      var file = Files.createTempFile("fibry", ".jfr");
      try {
        recording.dump(file);
        return RecordingFile.readAllEvents(file).stream().filter(e -> e.getEventType().getName().startsWith(event))
            .sorted(Comparator.comparing(RecordedEvent::getStartTime)).toList();
      } finally {
        Files.delete(file);
      }
    } catch (IOException failure) {
      throw new AssertionError(failure);
    }
  }

  /**
   * Returns only the events of this actor, because the recording also contains events of other
   * tests.
   */
  public List<RecordedEvent> events(String actor) {
    return events().stream().filter(e -> e.getString("actor").equals(actor)).toList();
  }

  @Override
  public void close() {
    recording.close();
  }
}
