package io.fibry.durable.turn;

import io.fibry.durable.kind.DefaultDurableBuilder;
import io.fibry.durable.storage.Note;
import io.fibry.durable.storage.StoredNameChecks;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The notes of an actor, without obsolete notes. A message id is the idempotency key of a message;
 * if a stored message has no such key, it is the unique id of the message. Used by the actor's
 * thread.
 */
final class ActorNotes {
  private static final int MAX_ANSWER_BYTES = 1 << 20;
  private static final int NOTE_OVERHEAD = 64; // approximate bytes of a note, without its texts

  private final DefaultDurableBuilder<?> kind; // has the limits of all actors, which keep no copies of them
  private final TurnPipeline turns;
  // Most actors have few notes, so a map is `Map.of()` until it gets its first note.
  private Map<String, Note.Answered> answers = Map.of(); // by message id, oldest first
  // By message id; the message with the latest step comes last. Immutable while there is at most
  // one message, because most actors have steps of one message only. A list of at most two steps is
  // immutable, too.
  private Map<String, List<Note.Step>> steps = Map.of();
  private Map<String, Note.PutAside> parked = Map.of(); // of idempotent messages with steps, by message id
  private Map<String, Note.Begun> attempts = Map.of(); // by unique id of the message
  private long answerBytes; // approximate bytes of all answers

  ActorNotes(DefaultDurableBuilder<?> kind, TurnPipeline turns) {
    this.kind = kind;
    this.turns = turns;
  }

  /**
   * Returns how many idempotent messages may have steps; parked messages do not count. Messages
   * that wait at the store may be handled again.
   */
  private int maxMessagesWithSteps() {
    return (int) Math.min(Integer.MAX_VALUE, (long) kind.maxRememberedAnswers() + kind.maxStoredMessages());
  }

  /**
   * Adds the notes of a turn. Steps are removed only after all notes were added, because a full
   * state has the steps of a parked message before the note that it is parked.
   */
  void addAll(List<Note> notes) {
    notes.forEach(this::add);
    if (steps.size() > maxMessagesWithSteps()) removeOldestSteps();
  }

  private void add(Note note) {
    switch (note) {
      case Note.Answered answered -> {
        removeAnswer(answered.message());
        if (answers.isEmpty()) answers = new LinkedHashMap<>(2);
        answers.put(answered.message(), answered);
        answerBytes += size(answered);
        trimAnswers(answered.at());
      }
      case Note.Step step -> add(step);
      case Note.PutAside putAside -> {
        if (parked.isEmpty()) parked = new HashMap<>(2);
        parked.put(putAside.message(), putAside);
      }
      case Note.Begun begun -> {
        if (begun.times() <= 0) removeAttempts(begun.message());
        else {
          if (attempts.isEmpty()) attempts = new HashMap<>(2);
          attempts.put(begun.message(), begun);
        }
      }
      case Note.Over over -> {
        removeSteps(over.message());
        remove(parked, over.message());
        removeAttempts(over.message());
      }
    }
  }

  private void add(Note.Step step) {
    var stepsOfMessage = steps.get(step.message());
    if (stepsOfMessage == null) stepsOfMessage = List.of(step);
    else if (stepsOfMessage.size() == 1) stepsOfMessage = List.of(stepsOfMessage.getFirst(), step);
    else {
      if (stepsOfMessage.size() == 2) stepsOfMessage = new ArrayList<>(stepsOfMessage);
      stepsOfMessage.add(step);
    }
    removeSteps(step.message()); // so that the message becomes the last of the map
    if (steps.isEmpty()) steps = Map.of(step.message(), stepsOfMessage);
    else {
      if (steps.size() == 1) steps = new LinkedHashMap<>(steps);
      steps.put(step.message(), stepsOfMessage);
    }
  }

  private void removeSteps(String messageId) {
    if (!steps.containsKey(messageId)) return;
    if (steps.size() == 1) {
      steps = Map.of();
      return;
    }
    steps.remove(messageId);
    if (steps.size() == 1) steps = Map.copyOf(steps);
  }

  private void removeAttempts(String uniqueId) {
    remove(attempts, uniqueId);
    if (attempts.isEmpty()) attempts = Map.of();
  }

  /** Removes a note from a map, which is immutable while it is empty. */
  private static <N> N remove(Map<String, N> notes, String messageId) {
    return notes.isEmpty() ? null : notes.remove(messageId);
  }

  /** Removes the oldest answers until the remaining answers are within all limits. */
  private void trimAnswers(Instant now) {
    var iterator = answers.values().iterator();
    while (iterator.hasNext()) {
      var oldest = iterator.next();
      if (answers.size() <= kind.maxRememberedAnswers() && answerBytes <= MAX_ANSWER_BYTES && !isExpired(oldest, now))
        return;
      iterator.remove();
      answerBytes -= size(oldest);
    }
  }

  /**
   * If too many idempotent messages have steps, removes the steps of the messages whose last steps
   * are the oldest. Parked messages do not count. The number needs a limit because a client may
   * never send a failed message again.
   */
  private void removeOldestSteps() {
    if (!parked.isEmpty()) parked.values().removeIf(note -> !turns.isParked(note.waiting()));
    var idempotentIds =
        steps.keySet().stream().filter(id -> StoredNameChecks.isIdempotent(id) && !parked.containsKey(id)).toList();
    int excess = Math.max(0, idempotentIds.size() - maxMessagesWithSteps());
    idempotentIds.subList(0, excess).forEach(this::removeSteps);
  }

  /** {@return the notes to store when a message is parked} */
  List<Note> parkingNotes(Optional<String> messageId, String uniqueId) {
    var notes = new ArrayList<Note>(0);
    if (attempts(uniqueId) > 0) notes.add(new Note.Begun(uniqueId, 0));
    messageId.filter(id -> StoredNameChecks.isIdempotent(id) && steps.containsKey(id))
        .ifPresent(id -> notes.add(new Note.PutAside(id, uniqueId)));
    return notes;
  }

  private boolean isExpired(Note.Answered answer, Instant now) {
    var age = Duration.between(answer.at(), now); // not `at` plus the limit, which could overflow
    return age.compareTo(kind.rememberedTime()) > 0;
  }

  private void removeAnswer(String messageId) {
    var answer = remove(answers, messageId);
    if (answer != null) answerBytes -= size(answer);
  }

  private static int size(Note.Answered answered) {
    return NOTE_OVERHEAD + answered.message().length() + answered.answer().map(bytes -> bytes.length).orElse(0);
  }

  private static int size(Note.Step step) {
    return NOTE_OVERHEAD + step.name().length() + step.failure().length()
        + step.result().map(bytes -> bytes.length).orElse(0);
  }

  Optional<Note.Answered> knownAnswer(String messageId, Instant now) {
    return Optional.ofNullable(answers.get(messageId)).filter(answer -> !isExpired(answer, now));
  }

  List<Note.Step> steps(String messageId) {
    return steps.getOrDefault(messageId, List.of());
  }

  int attempts(String uniqueId) {
    var begun = attempts.get(uniqueId);
    return begun == null ? 0 : begun.times();
  }

  /** Returns whether any message has steps or attempts. */
  boolean hasMessageNotes() {
    return !steps.isEmpty() || !attempts.isEmpty();
  }

  /** Returns whether the message has steps or attempts. */
  boolean hasNotesOf(String messageId) {
    return steps.containsKey(messageId) || attempts.containsKey(messageId);
  }

  /** Returns the ids with this prefix whose messages have steps or attempts. */
  List<String> messageIdsWithPrefix(String prefix) {
    return Stream.concat(steps.keySet().stream(), attempts.keySet().stream()).filter(id -> id.startsWith(prefix))
        .distinct().toList();
  }

  List<Note> allNotes() {
    var notes = new ArrayList<Note>(answers.values());
    steps.values().forEach(notes::addAll);
    notes.addAll(parked.values());
    notes.addAll(attempts.values());
    return notes;
  }

  /** Returns the approximate size of all notes, in bytes. */
  long size() {
    if (!hasMessageNotes()) return answerBytes;
    long stepBytes = steps.values().stream().flatMap(List::stream).mapToLong(ActorNotes::size).sum();
    return answerBytes + stepBytes + (long) NOTE_OVERHEAD * (attempts.size() + 2 * parked.size());
  }
}
