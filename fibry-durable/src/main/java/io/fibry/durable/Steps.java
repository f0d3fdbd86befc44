package io.fibry.durable;

import io.fibry.codec.Codec;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The steps of a turn: those that were done when the message came before, and new ones. Of the
 * handler's thread.
 */
final class Steps {
  private static final ClassValue<Codec<Object>> CODECS = new ClassValue<>() {
    @Override
    @SuppressWarnings("unchecked") // values of this class only
    protected Codec<Object> computeValue(Class<?> type) {
      return (Codec<Object>) Codec.of(type);
    }
  };

  private final Live<?, ?, ?> live;
  private final Optional<String> message; // empty: it will not come again
  private final Optional<String> kept; // as which it waits at the store
  private final Map<String, Integer> names = new HashMap<>(0); // how often each was used
  private final List<Note> failed = new ArrayList<>(0); // steps that threw, stored with the next one that does not
  private int done;
  private boolean running;

  Steps(Live<?, ?, ?> live, Optional<String> message, Optional<String> kept) {
    this.live = live;
    this.message = message;
    this.kept = kept;
  }

  /** The parts are apart, whatever they have in them. */
  String key(String name) {
    return Stream.of(live.id().kind(), live.id().key(), known(), name)
        .map(part -> part.replace("%", "%25").replace("/", "%2F")).collect(Collectors.joining("/"));
  }

  private String known() {
    return message.orElseThrow(() -> new IllegalStateException("a step of " + live.id()
        + " could not be done again: its message is neither Once nor kept; let the kind keep messages"));
  }

  <R> R step(String name, Class<R> type, Callable<? extends R> effect) throws Exception {
    String id = known();
    var codec = CODECS.get(type);
    if (running) throw new IllegalStateException("step '" + name + "' of " + live.id() + " is in another step");
    int times = names.merge(Objects.requireNonNull(name, "name"), 1, Integer::sum);
    String unique = times == 1 ? name : name + "#" + times;
    var before = live.steps(id);
    int place = done++;
    if (place < before.size()) return type.cast(again(before.get(place), place, unique, codec));
    live.awaitLast();
    R result = run(id, unique, effect);
    var notes = new ArrayList<>(failed);
    notes.add(new Note.Step(id, unique, Optional.of(codec.encode(result)), ""));
    failed.clear();
    notes.addAll(alive());
    live.store(notes);
    return result;
  }

  private Object again(Note.Step stored, int place, String name, Codec<Object> codec) {
    if (!stored.name().equals(name))
      throw new StepMismatchException(live.id().toString(), place + 1, stored.name(), name);
    return codec.decode(stored.result().orElseThrow(() -> new StepFailedException(stored.failure(), null)));
  }

  private <R> R run(String id, String name, Callable<? extends R> effect) throws Exception {
    running = true;
    try {
      return Objects.requireNonNull(effect.call(), () -> "step '" + name + "' of " + live.id() + " answered null");
    } catch (Throwable failure) {
      if (!live.isOfTheMessage(failure)) throw failure;
      String text = Mail.brief("step '" + name + "' of " + live.id() + " failed: " + failure);
      failed.add(new Note.Step(id, name, Optional.empty(), text));
      throw new StepFailedException(text, failure);
    } finally {
      running = false;
    }
  }

  void sleep(String name, Duration time, Delivery delivery) throws Exception {
    if (time.isNegative())
      throw new IllegalArgumentException(
          "sleep '" + name + "' of " + live.id() + " for " + time + "; give zero or more");
    var until = step(name, Instant.class, () -> delivery.now().plus(time));
    var alive = alive();
    if (!alive.isEmpty()) live.store(alive);
    delivery.sleepUntil(until);
  }

  /** It has come so far: if the process ends later, that is not counted with the times before. */
  private List<Note> alive() {
    return kept.filter(live::isBegun).stream().<Note>map(id -> new Note.Begun(id, 0)).toList();
  }
}
