package io.fibry.store.folder;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingStream;

/** A flight recording of one kind of event, without a threshold. */
final class Recorded implements AutoCloseable {
  private final RecordingStream stream = new RecordingStream();
  private final List<RecordedEvent> events = new CopyOnWriteArrayList<>();

  Recorded(String event) {
    stream.setReuse(false);
    stream.enable(event).withThreshold(Duration.ZERO);
    stream.onEvent(event, events::add);
    stream.startAsync();
  }

  /** Stops the recording, and returns the events of this store. */
  List<RecordedEvent> of(Object store) {
    stream.stop();
    return events.stream().filter(event -> event.getString("store").equals(store.toString())).toList();
  }

  /** Stops the recording, and returns all events. */
  List<RecordedEvent> all() {
    stream.stop();
    return events;
  }

  @Override
  public void close() {
    stream.close();
  }
}
