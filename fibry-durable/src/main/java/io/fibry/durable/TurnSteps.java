package io.fibry.durable;

import io.fibry.codec.Codec;
import io.fibry.codec.CodecException;
import io.fibry.text.Lines;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The steps of a turn: those that were done when the message came before, and new steps. Used by
 * the handler's thread.
 */
final class TurnSteps {
  private static final ClassValue<Codec<Object>> CODECS = new ClassValue<>() {
    @Override
    @SuppressWarnings("unchecked") // values of this class only
    protected Codec<Object> computeValue(Class<?> type) {
      return (Codec<Object>) Codec.of(type);
    }
  };

  private final DurableRuntime<?, ?, ?> runtime;
  private final Optional<String> message; // empty: it will not come again
  private final Optional<String> storedId; // as which it waits at the store
  private final Map<String, Integer> names = new HashMap<>(0); // how often each was used
  private final List<Note> failed = new ArrayList<>(0); // steps that threw, stored with the next step that succeeds
  private int replayedCount;
  private String running = ""; // the step of which the effect runs

  TurnSteps(DurableRuntime<?, ?, ?> runtime, Optional<String> message, Optional<String> storedId) {
    this.runtime = runtime;
    this.message = message;
    this.storedId = storedId;
  }

  /** The parts are separated, whatever characters they contain. */
  String key(String name) {
    check(name);
    return Stream.of(runtime.id().kind(), runtime.id().key(), storedStepNames(), name)
        .map(part -> part.replace("%", "%25").replace("/", "%2F")).collect(Collectors.joining("/"));
  }

  private String check(String name) {
    return StoredNames.checkText("the name of a step of " + runtime.id(), Objects.requireNonNull(name, "name"));
  }

  private String storedStepNames() {
    return message.orElseThrow(() -> new IllegalStateException("a step of " + runtime.id()
        + " could not be done again: its message is neither Once nor kept; let the kind keep messages"));
  }

  @SuppressWarnings("unchecked") // values of the type, which may be that of a primitive
  <R> R step(String name, Class<R> type, Callable<? extends R> effect) throws Exception {
    return step(name, (Codec<R>) codec(text(check(name)), Objects.requireNonNull(type, "type")), effect);
  }

  <R> R step(String name, Codec<R> codec, Callable<? extends R> effect) throws Exception {
    String step = text(check(name));
    Objects.requireNonNull(effect, "effect");
    String id = storedStepNames();
    if (!running.isEmpty()) throw new IllegalStateException(step + " is in another step");
    int times = names.merge(name, 1, Integer::sum);
    String unique = times == 1 ? name : name + "#" + times;
    var before = runtime.steps(id);
    int place = replayedCount++;
    if (place < before.size()) return replay(before.get(place), place, unique, codec);
    runtime.awaitLast();
    var result = new AtomicReference<R>();
    var note = run(id, unique, () -> {
      result.set(Objects.requireNonNull(effect.call(), () -> step + " answered null"));
      return codec.encode(result.get());
    });
    store(note);
    return result.get();
  }

  /** Throws if an effect runs. */
  void checkOutside() {
    if (!running.isEmpty()) throw new IllegalStateException(text(running)
        + " is not run again when its message comes again, and what it adds to the turn would be missing; add it "
        + "behind the step");
  }

  private String text(String name) {
    return "step '" + Lines.line(name) + "' of " + runtime.id();
  }

  private static Codec<Object> codec(String step, Class<?> type) {
    try {
      return CODECS.get(type);
    } catch (IllegalArgumentException none) {
      throw new IllegalArgumentException("what " + step + " answers cannot be stored: " + Lines.message(none), none);
    }
  }

  private <R> R replay(Note.Step stored, int place, String name, Codec<R> codec) {
    if (!stored.name().equals(name))
      throw new StepMismatchException(runtime.id().toString(), place + 1, stored.name(), name);
    byte[] result = stored.result().orElseThrow(() -> new StepFailedException(stored.failure(), null));
    try {
      return codec.decode(result);
    } catch (CodecException unknown) {
      throw new CodecException("what " + text(name) + " answered cannot be read: " + Lines.message(unknown)
          + "; give step(..) a codec that reads the old form, by evolution.readOld(..)", unknown);
    }
  }

  private Note.Step run(String id, String name, Callable<byte[]> effect) throws Exception {
    running = name;
    try {
      return new Note.Step(id, name, Optional.of(effect.call()), "");
    } catch (Throwable failure) {
      if (!FailureClassifier.isMessageFault(failure)) throw failure;
      throw failed(id, name, failure);
    } finally {
      running = "";
    }
  }

  /** If the handler continues, the step fails again when the message comes again. */
  private StepFailedException failed(String id, String name, Throwable failure) {
    String text = Mail.brief(text(name) + " failed: " + Lines.thrown(failure));
    failed.add(new Note.Step(id, name, Optional.empty(), text));
    return new StepFailedException(text, failure);
  }

  private void store(Note.Step step) throws InterruptedException {
    var notes = new ArrayList<Note>(failed);
    notes.add(step);
    notes.addAll(attemptsReset());
    try {
      runtime.store(notes);
      failed.clear();
    } catch (IllegalArgumentException | CodecException tooLarge) {
      throw failed(step.message(), step.name(), tooLarge);
    }
  }

  void sleep(String name, Duration time, PendingDelivery delivery) throws Exception {
    if (Objects.requireNonNull(time, "time").isNegative() || time.compareTo(TurnOutbox.MAX_DELAY) > 0)
      throw new IllegalArgumentException("sleep '" + Lines.line(check(name)) + "' of " + runtime.id() + " for " + time
          + "; give zero or more, and at most 100 years");
    var until = step(name, Instant.class, () -> delivery.now().plus(time));
    var alive = attemptsReset();
    if (!alive.isEmpty()) runtime.store(alive);
    delivery.sleepUntil(until);
  }

  /** It has come so far: if the process ends later, that is not counted with the times before. */
  private List<Note> attemptsReset() {
    return storedId.filter(runtime::hasAttempts).stream().<Note>map(id -> new Note.Begun(id, 0)).toList();
  }
}
