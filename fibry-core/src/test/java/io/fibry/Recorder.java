package io.fibry;

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

/** A flight recording of one kind of event. */
public final class Recorder implements AutoCloseable {
  private final Recording recording = new Recording();
  private final String event;

  /** Skips the test if this Java has no flight recorder. */
  public static void assumePresent() {
    Assumptions.assumeTrue(ModuleLayer.boot().findModule("jdk.jfr").isPresent(), "this Java has no flight recorder");
  }

  /** Starts at once, without a threshold. */
  public static Recorder of(String event) {
    return of(event, Duration.ZERO);
  }

  public static Recorder of(String event, Duration threshold) {
    var recorder = new Recorder(event);
    recorder.recording.enable(event).withThreshold(threshold);
    recorder.recording.start();
    return recorder;
  }

  /** All events of the library are disabled; any that is recorded all the same is found. */
  public static Recorder off() {
    var recorder = new Recorder("fibry.");
    silence(recorder.recording);
    recorder.recording.start();
    return recorder;
  }

  /** Disables the library's events, which are on by default. */
  public static void silence(Recording recording) {
    JfrEvents.isRecordingMessages(); // the recorder learns of the types at first use
    for (var type : FlightRecorder.getFlightRecorder().getEventTypes())
      if (type.getName().startsWith("fibry.")) recording.disable(type.getName());
  }

  private Recorder(String event) {
    this.event = event;
  }

  /** Stops; returns the events, the first one first. */
  public List<RecordedEvent> events() {
    try {
      recording.stop();
      var file = Files.createTempFile("fibry", ".jfr");
      try {
        recording.dump(file);
        return RecordingFile.readAllEvents(file).stream().filter(one -> one.getEventType().getName().startsWith(event))
            .sorted(Comparator.comparing(RecordedEvent::getStartTime)).toList();
      } finally {
        Files.delete(file);
      }
    } catch (IOException failure) {
      throw new AssertionError(failure);
    }
  }

  /** The events of this actor: others may still be busy. */
  public List<RecordedEvent> events(String actor) {
    return events().stream().filter(one -> one.getString("actor").equals(actor)).toList();
  }

  @Override
  public void close() {
    recording.close();
  }
}
