package io.fibry.durable.turn;

import io.fibry.ContextPropagator.StepObservation;
import io.fibry.codec.Codec;
import io.fibry.codec.CodecException;
import io.fibry.durable.StepFailedException;
import io.fibry.durable.StepMismatchException;
import io.fibry.durable.delivery.PendingDelivery;
import io.fibry.durable.storage.Mail;
import io.fibry.durable.storage.Note;
import io.fibry.durable.storage.StoredNameChecks;
import io.fibry.text.Durations;
import io.fibry.text.Lines;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The steps of a turn: steps that were stored when the message was handled before, and new steps.
 * Used by the handler's thread.
 */
final class TurnSteps {
  private static final ClassValue<Codec<Object>> CODECS = new ClassValue<>() {
    @Override
    @SuppressWarnings("unchecked") // the codec encodes only values of this class
    protected Codec<Object> computeValue(Class<?> type) {
      return (Codec<Object>) Codec.of(type);
    }
  };

  private static final Codec<Instant> INSTANT_CODEC = Codec.of(Instant.class);

  private final DurableRuntime<?, ?, ?> runtime;
  private final String idempotencyId; // idempotency key or id in the store; null if the message has neither
  private final String idInStore; // null if the message is not stored
  private final StepNames names = new StepNames(); // the names that the turn has used
  private List<Note> failedSteps = List.of(); // stored with the next step that succeeds; immutable while it is empty
  private int nextIndex; // index of the next step in the turn
  private Throwable unrecorded; // a step's failure that is neither stored nor in `failedSteps`; null: none
  private StepObservation storingStep; // of a step that was given to the store, until `awaitStored`; else null
  private String runningStep = ""; // name of the step whose effect runs; empty if none

  /**
   * @param idempotencyId null if the message is neither idempotent nor stored
   * @param idInStore null if the message is not stored
   */
  TurnSteps(DurableRuntime<?, ?, ?> runtime, String idempotencyId, String idInStore) {
    this.runtime = runtime;
    this.idempotencyId = idempotencyId;
    this.idInStore = idInStore;
  }

  /** Returns the idempotency key of a step: its parts are escaped, and separated by slashes. */
  String key(String name) {
    checkName(name);
    return Stream.of(runtime.id().kind(), runtime.id().key(), requireIdempotencyId(), name)
        .map(part -> part.replace("%", "%25").replace("/", "%2F")).collect(Collectors.joining("/"));
  }

  private String checkName(String name) {
    return StoredNameChecks.checkText(() -> "the name of a step of " + runtime.id(),
        Objects.requireNonNull(name, "name"));
  }

  private String requireIdempotencyId() {
    if (idempotencyId != null) return idempotencyId;
    throw new IllegalStateException(runtime.id()
        + " refuses a step: after a crash its message would not be delivered again, because it is neither Idempotent "
        + "nor stored; let the kind store messages");
  }

  /** Begins a step whose result has the default codec of its type. */
  <R> R begin(String name, Class<R> type, Callable<? extends R> effect) throws Exception {
    return begin(name, codecOf(name, type), effect);
  }

  /**
   * Runs a step and gives its result to the store, or returns the result that was stored when the
   * message was handled before. The caller must then call {@link #awaitStored}.
   */
  <R> R begin(String name, Codec<R> codec, Callable<? extends R> effect) throws Exception {
    String id = checkedId(name, effect);
    int uses = names.countUse(name);
    String uniqueName = uses == 1 ? name : name + "#" + uses;
    var storedSteps = runtime.steps(id);
    int index = nextIndex++;
    if (index < storedSteps.size()) return replay(storedSteps.get(index), index, uniqueName, codec);
    int recordedFailures = failedSteps.size();
    try {
      return runAndAppend(id, uniqueName, codec,
          () -> Objects.requireNonNull(effect.call(), () -> describe(name) + " returned null"));
    } catch (Throwable failure) {
      if (failedSteps.size() == recordedFailures) unrecorded = failure;
      throw failure;
    }
  }

  /**
   * Checks that a step may begin, and returns the id of its message. In a method of its own, which
   * makes the frame of the caller small: an effect that blocks keeps that frame in memory.
   */
  private String checkedId(String name, Callable<?> effect) throws Exception {
    checkName(name);
    Objects.requireNonNull(effect, "effect");
    String id = requireIdempotencyId();
    if (!runningStep.isEmpty()) throw new IllegalStateException(describe(name) + " is in another step");
    if (unrecorded instanceof Error error) throw error;
    if (unrecorded != null) throw (Exception) unrecorded;
    return id;
  }

  /** Throws if the effect of a step is running. */
  void checkNoStepRuns() {
    if (!runningStep.isEmpty()) throw new IllegalStateException("the code of " + describe(runningStep)
        + " adds to the turn: it replies, persists, sends or erases; if the message is delivered again, this code does "
        + "not run again, and the addition would be missing; do this after the step");
  }

  private String describe(String name) {
    return "step '" + Lines.line(name) + "' of " + runtime.id();
  }

  /** Returns the default codec of a type. Throws if a step cannot have the name. */
  @SuppressWarnings("unchecked") // the codec returns an R, even if `type` is primitive
  private <R> Codec<R> codecOf(String name, Class<R> type) {
    checkName(name);
    try {
      return (Codec<R>) CODECS.get(Objects.requireNonNull(type, "type"));
    } catch (IllegalArgumentException noCodec) {
      throw new IllegalArgumentException(
          "the result of " + describe(name) + " cannot be stored: " + Lines.message(noCodec), noCodec);
    }
  }

  private <R> R replay(Note.Step step, int index, String name, Codec<R> codec) {
    if (!step.name().equals(name))
      throw new StepMismatchException(runtime.id().toString(), index + 1, step.name(), name);
    byte[] result = step.result().orElseThrow(() -> new StepFailedException(step.failure(), null));
    try {
      return codec.decode(result);
    } catch (CodecException unreadable) {
      throw new CodecException("the stored result of " + describe(name) + " cannot be read: "
          + Lines.message(unreadable)
          + "; give step(..) a codec that reads the old form, by evolution.readOld(..)", unreadable);
    }
  }

  private <R> R runAndAppend(String id, String name, Codec<R> codec, Callable<? extends R> effect) throws Exception {
    runtime.turns().awaitLast();
    var result = new AtomicReference<R>();
    var observation = DurableStep.begin(runtime.delivery().blockBuilder, name, runtime.id());
    try {
      var note = run(id, name, () -> {
        result.set(effect.call());
        return codec.encode(result.get());
      });
      append(note);
      storingStep = observation;
      return result.get();
    } catch (Throwable failure) {
      boolean isWrapped = failure instanceof StepFailedException && failure.getCause() != null;
      try (observation) {
        observation.ended("failed", Optional.of(isWrapped ? failure.getCause() : failure));
      }
      throw failure;
    }
  }

  /** Returns whether the last step was given to the store, so that its caller must wait. */
  boolean isStoring() {
    return storingStep != null;
  }

  /** Waits until the last step is stored, and ends its observation. */
  void awaitStored() throws InterruptedException {
    if (storingStep == null) return; // the step was stored earlier
    try (var observation = storingStep) {
      storingStep = null;
      try {
        runtime.turns().awaitLast();
        failedSteps = List.of();
        observation.ended("stored", Optional.empty());
      } catch (Throwable failure) {
        unrecorded = failure;
        observation.ended("failed", Optional.of(failure));
        throw failure;
      }
    }
  }

  private Note.Step run(String id, String name, Callable<byte[]> effect) throws Exception {
    runningStep = name;
    try {
      return new Note.Step(id, name, Optional.of(effect.call()), "");
    } catch (Throwable failure) {
      if (!FailureClassifier.isMessageFault(failure)) throw failure;
      throw recordFailure(id, name, failure);
    } finally {
      runningStep = "";
    }
  }

  /** Records a failed step. It is stored if the handler completes another step after it. */
  private StepFailedException recordFailure(String id, String name, Throwable failure) {
    String text = Mail.brief(describe(name) + " failed: " + Lines.thrown(failure));
    if (failedSteps.isEmpty()) failedSteps = new ArrayList<>(1);
    failedSteps.add(new Note.Step(id, name, Optional.empty(), text));
    return new StepFailedException(text, failure);
  }

  /** Gives the store the note of a step, with the notes of the failed steps before it. */
  private void append(Note.Step note) {
    var notes = new ArrayList<Note>(failedSteps);
    notes.add(note);
    notes.addAll(attemptsReset());
    try {
      runtime.append(notes);
    } catch (IllegalArgumentException | CodecException tooLarge) {
      throw recordFailure(note.message(), note.name(), tooLarge);
    }
  }

  /**
   * Gives the store the time when a sleep ends, and returns this time. The caller must then call
   * {@link #awaitStored}, and wait until the last turn is stored: it may be the reset of attempts.
   */
  Instant beginSleep(String name, Duration time, PendingDelivery delivery) throws Exception {
    if (Objects.requireNonNull(time, "time").isNegative() || time.compareTo(TurnOutbox.MAX_DELAY) > 0)
      throw new IllegalArgumentException("sleep '" + Lines.line(checkName(name)) + "' of " + runtime.id() + " for "
          + Durations.text(time) + "; give zero or more, and at most 100 years");
    var wakeTime = begin(name, INSTANT_CODEC, () -> delivery.now().plus(time));
    if (isStoring()) return wakeTime; // the turn of the step resets the attempts, too
    var reset = attemptsReset();
    if (!reset.isEmpty()) runtime.append(reset);
    return wakeTime;
  }

  /**
   * Returns a note that sets the attempts at the message to 0, because the message has made
   * progress. Returns an empty list if there were no attempts.
   */
  private List<Note> attemptsReset() {
    return idInStore != null && runtime.hasAttempts(idInStore) ? List.of(new Note.Begun(idInStore, 0)) : List.of();
  }
}
