package io.fibry;

import io.fibry.engine.message.Events;
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

/** A flight recording of one kind of event, without a threshold unless told. */
final class Recorder implements AutoCloseable {
  private final Recording recording = new Recording();
  private final String event;

  /** Skips a test where there is nothing to record with. */
  static void assumePresent() {
    Assumptions.assumeTrue(ModuleLayer.boot().findModule("jdk.jfr").isPresent(), "this Java has no flight recorder");
  }

  /** Begins at once. */
  static Recorder of(String event) {
    return of(event, Duration.ZERO);
  }

  static Recorder of(String event, Duration threshold) {
    var recorder = new Recorder(event);
    recorder.recording.enable(event).withThreshold(threshold);
    recorder.recording.start();
    return recorder;
  }

  /** With all events of the library disabled; what is recorded all the same is found. */
  static Recorder off() {
    var recorder = new Recorder("fibry.");
    silence(recorder.recording);
    recorder.recording.start();
    return recorder;
  }

  /** Without being told, a recording has all events of the library. */
  static void silence(Recording recording) {
    Events.messages(); // known to the recorder once they are used
    for (var type : FlightRecorder.getFlightRecorder().getEventTypes())
      if (type.getName().startsWith("fibry.")) recording.disable(type.getName());
  }

  private Recorder(String event) {
    this.event = event;
  }

  /** Ends it; the first event first. */
  List<RecordedEvent> events() {
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

  /** Those of this actor: others may still be at work. */
  List<RecordedEvent> events(String actor) {
    return events().stream().filter(one -> one.getString("actor").equals(actor)).toList();
  }

  @Override
  public void close() {
    recording.close();
  }
}
