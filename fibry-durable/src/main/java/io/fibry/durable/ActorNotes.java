package io.fibry.durable;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.stream.Stream;

/** All notes of an actor that still mean something. Used by the actor's thread. */
final class ActorNotes {
  private static final int MAX_BYTES = 1 << 20; // of answers
  private static final int NOTE_OVERHEAD = 64; // bytes of a note, about, without its texts

  private final int maxAnswers;
  private final Duration answerTime;
  private final Predicate<String> isParked;
  private final LinkedHashMap<String, Note.Answered> answers = new LinkedHashMap<>(); // oldest first
  // by message id; the message with the latest step is the last
  private final LinkedHashMap<String, List<Note.Step>> steps = new LinkedHashMap<>();
  private final Map<String, Note.PutAside> parked = new HashMap<>(); // Once messages with steps, by message id
  private final Map<String, Note.Begun> attempts = new HashMap<>();
  private long answerBytes; // their bytes

  /** @param isParked whether a message is parked; gets the id that it had before */
  ActorNotes(int maxAnswers, Duration answerTime, Predicate<String> isParked) {
    this.maxAnswers = maxAnswers;
    this.answerTime = answerTime;
    this.isParked = isParked;
  }

  void add(Note note) {
    switch (note) {
      case Note.Answered answered -> {
        removeMessage(answered.message());
        answers.put(answered.message(), answered);
        answerBytes += size(answered);
        removeExpired(answered.at());
      }
      case Note.Step step -> {
        var all = steps.getOrDefault(step.message(), new ArrayList<>());
        all.add(step);
        steps.putLast(step.message(), all);
        if (steps.size() > maxAnswers) removeOldestSteps();
      }
      case Note.PutAside one -> parked.put(one.message(), one);
      case Note.Begun one -> {
        if (one.times() > 0) attempts.put(one.message(), one);
        else attempts.remove(one.message());
      }
      case Note.Over over -> {
        steps.remove(over.message());
        parked.remove(over.message());
        attempts.remove(over.message());
      }
    }
  }

  private void removeExpired(Instant now) {
    var oldest = answers.values().iterator();
    while (oldest.hasNext()) {
      var one = oldest.next();
      if (answers.size() <= maxAnswers && answerBytes <= MAX_BYTES && !isExpired(one, now)) return;
      oldest.remove();
      answerBytes -= size(one);
    }
  }

  /**
   * Forgets the steps of the message whose last step is the oldest, among Once messages that are
   * not parked: a client may send those again, or never.
   */
  private void removeOldestSteps() {
    parked.values().removeIf(one -> !isParked.test(one.waiting()));
    var clients =
        steps.keySet().stream().filter(one -> StoredNames.isIdempotent(one) && !parked.containsKey(one)).toList();
    if (clients.size() > maxAnswers) steps.remove(clients.getFirst());
  }

  /** {@return the notes to store when a message is parked} */
  List<Note> park(Optional<String> message, String waiting) {
    var notes = new ArrayList<Note>(0);
    if (attempts(waiting) > 0) notes.add(new Note.Begun(waiting, 0));
    message.filter(one -> StoredNames.isIdempotent(one) && steps.containsKey(one))
        .ifPresent(one -> notes.add(new Note.PutAside(one, waiting)));
    return notes;
  }

  private boolean isExpired(Note.Answered one, Instant now) {
    return Duration.between(one.at(), now).compareTo(answerTime) > 0; // no sum: `time` may be for ever
  }

  private void removeMessage(String message) {
    var before = answers.remove(message);
    if (before != null) answerBytes -= size(before);
  }

  private static int size(Note.Answered one) {
    return NOTE_OVERHEAD + one.message().length() + one.answer().map(bytes -> bytes.length).orElse(0);
  }

  private static int size(Note.Step step) {
    return NOTE_OVERHEAD + step.name().length() + step.failure().length()
        + step.result().map(bytes -> bytes.length).orElse(0);
  }

  Optional<Note.Answered> answer(String message, Instant now) {
    return Optional.ofNullable(answers.get(message)).filter(one -> !isExpired(one, now));
  }

  List<Note.Step> steps(String message) {
    return steps.getOrDefault(message, List.of());
  }

  int attempts(String message) {
    var one = attempts.get(message);
    return one == null ? 0 : one.times();
  }

  /** There is something to forget of some message. */
  boolean hasMessageNotes() {
    return !steps.isEmpty() || !attempts.isEmpty();
  }

  /** There is something to forget when it does not come again. */
  boolean hasNotesOf(String message) {
    return steps.containsKey(message) || attempts.containsKey(message);
  }

  /** The messages of which something is known. */
  List<String> messagesWithPrefix(String beginning) {
    return Stream.concat(steps.keySet().stream(), attempts.keySet().stream()).filter(one -> one.startsWith(beginning))
        .distinct().toList();
  }

  List<Note> allNotes() {
    var all = new ArrayList<Note>(answers.values());
    steps.values().forEach(all::addAll);
    all.addAll(parked.values());
    all.addAll(attempts.values());
    return all;
  }

  /** In bytes, about. */
  long size() {
    if (!hasMessageNotes()) return answerBytes;
    long ofSteps = steps.values().stream().flatMap(List::stream).mapToLong(ActorNotes::size).sum();
    return answerBytes + ofSteps + (long) NOTE_OVERHEAD * (attempts.size() + 2 * parked.size());
  }
}
