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
  private static final int MOST_BYTES = 1 << 20; // of answers
  private static final int FIXED = 64; // bytes of a note, about, without its texts

  private final int mostAnswers;
  private final Duration time;
  private final Predicate<String> isAside;
  private final LinkedHashMap<String, Note.Answered> answers = new LinkedHashMap<>(); // oldest first
  // by message id; the message with the latest step is the last
  private final LinkedHashMap<String, List<Note.Step>> steps = new LinkedHashMap<>();
  private final Map<String, Note.PutAside> aside = new HashMap<>(); // Once messages with steps, by message id
  private final Map<String, Note.Begun> begun = new HashMap<>();
  private long ofAnswers; // their bytes

  /** @param isAside whether a message is parked; gets the id that it had before */
  ActorNotes(int mostAnswers, Duration time, Predicate<String> isAside) {
    this.mostAnswers = mostAnswers;
    this.time = time;
    this.isAside = isAside;
  }

  void add(Note note) {
    switch (note) {
      case Note.Answered answered -> {
        forget(answered.message());
        answers.put(answered.message(), answered);
        ofAnswers += size(answered);
        trim(answered.at());
      }
      case Note.Step step -> {
        var all = steps.getOrDefault(step.message(), new ArrayList<>());
        all.add(step);
        steps.putLast(step.message(), all);
        if (steps.size() > mostAnswers) forgetSteps();
      }
      case Note.PutAside one -> aside.put(one.message(), one);
      case Note.Begun one -> {
        if (one.times() > 0) begun.put(one.message(), one);
        else begun.remove(one.message());
      }
      case Note.Over over -> {
        steps.remove(over.message());
        aside.remove(over.message());
        begun.remove(over.message());
      }
    }
  }

  private void trim(Instant now) {
    var oldest = answers.values().iterator();
    while (oldest.hasNext()) {
      var one = oldest.next();
      if (answers.size() <= mostAnswers && ofAnswers <= MOST_BYTES && !isForgotten(one, now)) return;
      oldest.remove();
      ofAnswers -= size(one);
    }
  }

  /**
   * Forgets the steps of the message whose last step is the oldest, among Once messages that are
   * not parked: a client may send those again, or never.
   */
  private void forgetSteps() {
    aside.values().removeIf(one -> !isAside.test(one.waiting()));
    var clients = steps.keySet().stream().filter(one -> StoredNames.isOnce(one) && !aside.containsKey(one)).toList();
    if (clients.size() > mostAnswers) steps.remove(clients.getFirst());
  }

  /** {@return the notes to store when a message is parked} */
  List<Note> putAside(Optional<String> message, String waiting) {
    var notes = new ArrayList<Note>(0);
    if (begun(waiting) > 0) notes.add(new Note.Begun(waiting, 0));
    message.filter(one -> StoredNames.isOnce(one) && steps.containsKey(one))
        .ifPresent(one -> notes.add(new Note.PutAside(one, waiting)));
    return notes;
  }

  private boolean isForgotten(Note.Answered one, Instant now) {
    return Duration.between(one.at(), now).compareTo(time) > 0; // no sum: `time` may be for ever
  }

  private void forget(String message) {
    var before = answers.remove(message);
    if (before != null) ofAnswers -= size(before);
  }

  private static int size(Note.Answered one) {
    return FIXED + one.message().length() + one.answer().map(bytes -> bytes.length).orElse(0);
  }

  private static int size(Note.Step step) {
    return FIXED + step.name().length() + step.failure().length() + step.result().map(bytes -> bytes.length).orElse(0);
  }

  Optional<Note.Answered> answer(String message, Instant now) {
    return Optional.ofNullable(answers.get(message)).filter(one -> !isForgotten(one, now));
  }

  List<Note.Step> steps(String message) {
    return steps.getOrDefault(message, List.of());
  }

  int begun(String message) {
    var one = begun.get(message);
    return one == null ? 0 : one.times();
  }

  /** There is something to forget of some message. */
  boolean knowsAny() {
    return !steps.isEmpty() || !begun.isEmpty();
  }

  /** There is something to forget when it does not come again. */
  boolean knows(String message) {
    return steps.containsKey(message) || begun.containsKey(message);
  }

  /** The messages of which something is known. */
  List<String> known(String beginning) {
    return Stream.concat(steps.keySet().stream(), begun.keySet().stream()).filter(one -> one.startsWith(beginning))
        .distinct().toList();
  }

  List<Note> all() {
    var all = new ArrayList<Note>(answers.values());
    steps.values().forEach(all::addAll);
    all.addAll(aside.values());
    all.addAll(begun.values());
    return all;
  }

  /** In bytes, about. */
  long size() {
    if (!knowsAny()) return ofAnswers;
    long ofSteps = steps.values().stream().flatMap(List::stream).mapToLong(ActorNotes::size).sum();
    return ofAnswers + ofSteps + (long) FIXED * (begun.size() + 2 * aside.size());
  }
}
